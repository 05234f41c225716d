"""A user's table brought to the columns of a schema, or refused."""

from __future__ import annotations

import pyarrow as pa


def conformed(table: pa.Table | pa.RecordBatch, schema: pa.Schema, what: str) -> pa.Table:
    """The table with the columns of `schema`, missing ones null; `what` it is, for errors.

    Nothing is guessed: text stays text and a number stays the same number, or it is an error.

    >>> schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
    >>> conformed(pa.table({"id": [7]}), schema, "row").to_pylist()
    [{'id': 7, 'text': None}]
    >>> conformed(pa.table({"id": ["7"]}), schema, "row")
    Traceback (most recent call last):
    TypeError: column 'id' of the rows has type string; it must be int64, cast it
    """
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not isinstance(table, pa.Table):
        raise TypeError(f"{what}s must be a pyarrow Table or RecordBatch, not {type(table)}")
    names = table.column_names
    for name in names:
        if name not in schema.names:
            allowed = ", ".join(schema.names)
            raise ValueError(f"unknown column {name!r}; {what}s have {allowed}; rename or drop it")
        if names.count(name) > 1:
            raise ValueError(f"column {name!r} is there more than once; drop one")
    # Arrow trusts its own arrays, but these come from outside: offsets, codes, UTF-8 are checked.
    table.validate(full=True)
    columns = [
        _cast(table.column(field.name), field, what)
        if field.name in names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _cast(column: pa.ChunkedArray, field: pa.Field, what: str) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    given, types = column.type, pa.types
    if types.is_string(field.type):
        fits = types.is_string(given) or types.is_large_string(given) or types.is_string_view(given)
    else:
        is_number = types.is_floating(field.type) and types.is_floating(given)
        fits = types.is_integer(given) or is_number
    if not fits and not types.is_null(given):
        raise TypeError(
            f"column {field.name!r} of the {what}s has type {given}; "
            f"it must be {field.type}, cast it"
        )
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid as error:
        raise ValueError(
            f"column {field.name!r} of the {what}s does not fit {field.type}: {error}"
        ) from None
