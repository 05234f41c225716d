"""Strings that are no UTF-8, which Spark takes from binary data as they are, and Arrow refuses."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def readable(table: pa.Table) -> tuple[pa.Table, dict[int, str]]:
    """The table with strings that can be read, and the rows that had others, with the reasons.

    What cannot be read becomes U+FFFD. Nearly always nothing has to be done.  O(bytes).

    >>> bad = pa.array([b"tea", b"t\\xffa"]).view(pa.string())
    >>> table, reasons = readable(pa.table({"text": bad}))
    >>> table["text"].to_pylist(), reasons
    (['tea', 't\\ufffda'], {1: 'text is not UTF-8; write it in that encoding'})
    """
    reasons: dict[int, str] = {}
    for place, name in enumerate(table.column_names):
        try:
            table[name].validate(full=True)
        except pa.ArrowInvalid:
            values = table[name].cast(_as_bytes(table[name].type)).to_pylist()
            read = [_read(value) for value in values]
            for row, (value, text) in enumerate(zip(values, read, strict=True)):
                if _written(text) != value:
                    reasons.setdefault(row, f"{name} is not UTF-8; write it in that encoding")
            table = table.set_column(place, name, pa.array(read, table[name].type))
    return table, reasons


def _as_bytes(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.list_(_as_bytes(kind.value_type))
    return pa.large_binary() if pa.types.is_large_string(kind) else pa.binary()


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(each) for each in value]
    return None if value is None else value.decode(errors="replace")


def _written(text: Any) -> Any:
    if isinstance(text, list):
        return [_written(each) for each in text]
    return None if text is None else text.encode()
