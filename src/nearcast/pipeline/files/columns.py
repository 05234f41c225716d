"""What a record becomes: one row with the contract's columns, or a reason why not.

Values of the right kind pass, whatever they say: the rules about them are those of the batches,
which the pipeline applies to rows of any source. What has no place in a column is refused here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from nearcast.model.ids import check_id
from nearcast.pipeline.files.records import Record, RowProblem
from nearcast.pipeline.rows import BOX, POINT, PROBLEM
from nearcast.text import Expression

Row = dict[str, Any]

_NUMBERS_OF_MESSAGES = (*POINT, *BOX, "expires")


def schema_of(side: str, id_type: pa.DataType) -> pa.Schema:
    """The columns that every text file of a side has."""
    if side == "subscription":
        own = [("keywords", pa.string()), ("region", pa.string())]
        own += [(name, pa.float64()) for name in BOX]
    else:
        own = [("text", pa.string())]
        own += [(name, pa.float64()) for name in (*POINT, *BOX, "time", "expires")]
    return pa.schema([("id", id_type), *own, (PROBLEM, pa.string())])


def row_of(side: str, record: Record, id_type: pa.DataType) -> Row:
    """The row that a record is; `RowProblem` tells why it is none."""
    id = _id(side, record.get("id"), id_type)
    try:
        row = _SIDES[side](record)
        _check_text(row)
    except RowProblem as problem:
        raise RowProblem(str(problem), id) from None
    row["id"] = id
    return row


def row_or_problem(
    record: Record | RowProblem, side: str, id_type: pa.DataType, place: Callable[[], str]
) -> Row:
    """The row that a record is; of one that is none the reason and its place, for people."""
    try:
        if isinstance(record, RowProblem):
            raise record
        return row_of(side, record, id_type)
    except RowProblem as problem:
        is_id = isinstance(problem.id, int if pa.types.is_integer(id_type) else str)
        return {"id": problem.id if is_id else None, PROBLEM: f"{place()}: {problem}"}


def record_batch(rows: Sequence[Row], schema: pa.Schema) -> pa.RecordBatch:
    """The rows as Arrow; what a row does not have is null."""
    columns = {
        field.name: pa.array([row.get(field.name) for row in rows], field.type) for field in schema
    }
    return pa.RecordBatch.from_pydict(columns, schema)


def _subscription(record: Record) -> Row:
    row: Row = {name: _number(record, name) for name in BOX if name in record}
    row["keywords"] = _expression(record.get("keywords"))
    region = record.get("region")
    row["region"] = json.dumps(region) if isinstance(region, dict) else region
    return row


def _message(record: Record) -> Row:
    row: Row = {name: _number(record, name) for name in _NUMBERS_OF_MESSAGES if name in record}
    row["text"] = _text(record.get("text"), record.get("keywords"))
    time = _number(record, "time")
    row["time"] = 0.0 if time is None else time
    return row


_SIDES: dict[str, Callable[[Record], Row]] = {"subscription": _subscription, "message": _message}


def _id(side: str, id: object, id_type: pa.DataType) -> object:
    if id is None:
        return None  # refused later, like the null of any other source
    try:
        checked = check_id(id, side)
    except (TypeError, ValueError) as error:
        raise RowProblem(str(error)) from None
    if isinstance(checked, int) != pa.types.is_integer(id_type):
        raise RowProblem(
            f"id {id!r} is not {'an integer' if pa.types.is_integer(id_type) else 'a string'} "
            "like the first one; use integers or strings as ids, not both"
        )
    return checked


def _expression(keywords: object) -> str | None:
    """An expression as it is; of a list, the expression that asks for all its words."""
    if not isinstance(keywords, list):
        return keywords if keywords is None else _string("keywords", keywords)
    try:
        return str(Expression.of_words(keywords))
    except (TypeError, ValueError) as error:
        raise RowProblem(str(error)) from None


def _text(text: object, keywords: object) -> str | None:
    """The words of a message in one text; those of a list stay apart, as space separates them."""
    if keywords is None:
        return text if text is None else _string("text", text)
    if text is not None:
        raise RowProblem("text and keywords are both given; a message has one of them")
    words = keywords if isinstance(keywords, list) else [keywords]
    return " ".join(_string("keyword", word) for word in words)


def _string(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise RowProblem(f"{name} {value!r} is not a string; put quotes around it")
    return value


def _number(record: Record, name: str) -> float | None:
    value = record.get(name)
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise RowProblem(f"{name} {value!r} is not a number; write one such as 2.35")
    try:
        return float(value)
    except OverflowError:
        raise RowProblem(f"{name} {value!r} is not finite; give a finite number") from None


def _check_text(row: Row) -> None:
    """Refuse half of a surrogate pair, which JSON can write but no column can hold."""
    for name in ("keywords", "region", "text"):
        value = row.get(name)
        if value is None or _string(name, value).isascii():
            continue
        try:
            value.encode()
        except UnicodeEncodeError:
            raise RowProblem(
                f"{name} {value!r} is not valid Unicode; remove the lone surrogate"
            ) from None
