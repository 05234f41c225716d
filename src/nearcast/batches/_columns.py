"""Columns of a user's table: their names, their types, and their values as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.batches.rejects import Rejects

Columns = dict[str, pa.ChunkedArray]
Group = tuple[str, ...]

BOX: Group = ("west", "south", "east", "north")
LARGEST_ID = 2**63 - 1


def columns_of(table: object, kind: str, allowed: Sequence[str]) -> Columns:
    """The columns of a table by name; dictionary encoding is undone."""
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not isinstance(table, pa.Table):
        raise TypeError(f"{kind}s must be a pyarrow Table or RecordBatch, not {type(table)}")
    names = table.column_names
    rule = f"a table of {kind}s has the columns {', '.join(allowed)}"
    unknown = [name for name in names if name not in allowed]
    if unknown:
        raise ValueError(f"unknown column {_quoted(unknown)}; {rule}; rename or drop it")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"column {_quoted(twice)} is there more than once; drop one")
    # Arrow trusts its own arrays, but these come from outside: offsets, codes, UTF-8 are checked.
    table.validate(full=True)
    return {name: _decoded(table.column(name)) for name in names}


def need(columns: Columns, kind: str, *names: str) -> None:
    """Refuse a table without these columns."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"column {_quoted(missing)} is missing; every {kind} needs it, add it")


def one_of(columns: Columns, kind: str, first: Group, second: Group) -> Group:
    """Which of two groups of columns the table has; () when it has neither."""
    found = [group for group in (first, second) if any(name in columns for name in group)]
    if len(found) == 2:
        raise ValueError(
            f"{' or '.join(', '.join(group) for group in found)}: the table has columns of both; "
            f"a {kind} needs one or the other, drop the rest"
        )
    if not found:
        return ()
    need(columns, kind, *found[0])
    return found[0]


def is_text(column: pa.ChunkedArray) -> bool:
    """Does the column hold strings?"""
    kind = column.type
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_bytes(column: pa.ChunkedArray) -> bool:
    """Does the column hold bytes?"""
    kind = column.type
    return (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def is_list(column: pa.ChunkedArray) -> bool:
    """Does the column hold lists?"""
    kind = column.type
    return (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def is_empty(column: pa.ChunkedArray) -> bool:
    """Does the column hold nulls only, without a type of their own?"""
    return pa.types.is_null(column.type)


def wrong_type(name: str, column: pa.ChunkedArray, rule: str) -> TypeError:
    """The error of a column that has another type than the rule says."""
    return TypeError(f"column {name!r} has type {column.type}; it must be {rule}, cast it")


def text_column(name: str, column: pa.ChunkedArray) -> pa.LargeStringArray:
    """A column of strings as one array."""
    if not is_text(column) and not is_empty(column):
        raise wrong_type(name, column, "string")
    return column.cast(pa.large_string()).combine_chunks()


def list_column(
    name: str, column: pa.ChunkedArray
) -> tuple[npt.NDArray[np.int64], pa.LargeStringArray]:
    """A column of string lists: how long each is (0 when null), and their items in one array."""
    whole = column.combine_chunks()
    if not is_list(column) and not is_empty(column):
        raise wrong_type(name, column, "list<string>")
    if is_empty(column):
        whole = whole.cast(pa.list_(pa.large_string()))
    items = pa.chunked_array([_decoded(whole.flatten())])
    if not is_text(items) and not is_empty(items):
        raise wrong_type(name, column, "list<string>")
    length = pc.fill_null(pc.list_value_length(whole), 0)
    return np.array(length, np.int64), text_column(name, items)


def number_column(name: str, column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """A column of numbers as float64; null is NaN, so that its nulls have to be looked at first."""
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or is_empty(column)):
        raise wrong_type(name, column, "a number")
    # Not "safe": an integer beyond 2**53 is rounded here as float() rounds it.
    floats = column.cast(pa.float64(), safe=False).combine_chunks()
    return np.array(floats.fill_null(np.nan), np.float64)


def nulls(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Where the column is null."""
    return np.array(column.is_null(), bool)


def id_column(column: pa.ChunkedArray, rejects: Rejects) -> pa.Array:
    """The column `id` as int64 or large_string."""
    for row in np.flatnonzero(nulls(column)).tolist():
        rejects.add(row, "id is null; every row needs an id")
    if is_text(column):
        return text_column("id", column)
    if not pa.types.is_integer(column.type) and not is_empty(column):
        raise wrong_type("id", column, "integers or strings")
    if pa.types.is_uint64(column.type):
        too_large = pc.greater(column, pa.scalar(LARGEST_ID, pa.uint64())).fill_null(False)
        for row in np.flatnonzero(np.array(too_large, bool)).tolist():
            rejects.add(row, f"id {column[row]} is beyond {LARGEST_ID}, the largest; use strings")
        column = pc.if_else(too_large, None, column)
    return column.cast(pa.int64(), safe=False).combine_chunks()


def _decoded(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    is_encoded = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_encoded else column


def _quoted(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names)
