"""Text files as Arrow: what the tasks of `frames.py` run. No Spark here."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

import pyarrow as pa

from nearcast.pipeline.files.columns import Row, row_of, schema_of
from nearcast.pipeline.files.csv_records import csv_header, csv_records
from nearcast.pipeline.files.feature_records import feature_records
from nearcast.pipeline.files.formats import DataFile, UnreadableFile
from nearcast.pipeline.files.json_records import json_parts, json_records
from nearcast.pipeline.files.records import Numbered, Part, RowProblem
from nearcast.pipeline.rows import MESSAGE_COLUMNS, PROBLEM, SUBSCRIPTION_COLUMNS

ROWS_TOGETHER = 10_000

_COLUMNS = {"subscription": SUBSCRIPTION_COLUMNS, "message": MESSAGE_COLUMNS}
_WORDS = {"subscription": ("keywords",), "message": ("text", "keywords")}


def parts_of(files: Iterable[DataFile], side: str) -> list[Part]:
    """The parts that tasks read: JSON Lines can be cut, the other formats cannot."""
    parts: list[Part] = []
    for file in files:
        if file.format == "jsonl":
            parts += json_parts(file)
        elif file.format == "csv":
            parts.append(Part(file.path, file.format, columns=_csv_columns(file, side)))
        else:
            parts.append(Part(file.path, file.format))
    return parts


def id_type_of(parts: Sequence[Part], side: str) -> pa.DataType:
    """The type of all ids is that of the first one: int64 or string.  O(rows before it).

    CSV has strings only: there 007 and 7 are two ids.
    """
    for numbered in chain.from_iterable(_records(part, side) for part in parts):
        record = numbered.record
        id = record.id if isinstance(record, RowProblem) else record.get("id")
        if isinstance(id, int) and not isinstance(id, bool):
            return pa.int64()
        if isinstance(id, str):
            break
    return pa.string()


def read_part(part: Part, side: str, id_type: pa.DataType) -> Iterator[pa.RecordBatch]:
    """The rows of a part, those that cannot be read with the reason in the column `_problem`."""
    schema = schema_of(side, id_type)
    rows = (_row(part, numbered, side, id_type) for numbered in _records(part, side))
    while chunk := list(islice(rows, ROWS_TOGETHER)):
        columns = {
            field.name: pa.array([row.get(field.name) for row in chunk], field.type)
            for field in schema
        }
        yield pa.RecordBatch.from_pydict(columns, schema)


def _records(part: Part, side: str) -> Iterator[Numbered]:
    file = DataFile(part.path, part.format)
    try:
        if part.format == "csv":
            yield from csv_records(file, part.columns)
        elif part.format == "jsonl":
            yield from json_records(part)
        else:
            yield from feature_records(file, side)
    except (EOFError, OSError, zlib.error) as error:
        raise UnreadableFile(f"{part.path} cannot be read: {error}") from None


def _csv_columns(file: DataFile, side: str) -> tuple[str, ...]:
    header = csv_header(file)
    found = [name for name in _COLUMNS[side] if name in header]
    words = [name for name in _WORDS[side] if name in found]
    if "id" not in found or not words:
        missing = "id" if "id" not in found else " or ".join(_WORDS[side])
        raise UnreadableFile(
            f"{file.path} has no column {missing}, only {', '.join(header)}; "
            f"a {side} needs it: name it in the first line"
        )
    if len(words) > 1:
        raise UnreadableFile(f"{file.path} has both columns {' and '.join(words)}; remove one")
    twice = sorted({name for name in found if header.count(name) > 1})
    if twice:
        raise UnreadableFile(f"{file.path} has the column {', '.join(twice)} twice; rename one")
    return tuple(found)


def _row(part: Part, numbered: Numbered, side: str, id_type: pa.DataType) -> Row:
    try:
        if isinstance(numbered.record, RowProblem):
            raise numbered.record
        return row_of(side, numbered.record, id_type)
    except RowProblem as problem:
        is_id = isinstance(problem.id, int if pa.types.is_integer(id_type) else str)
        return {
            "id": problem.id if is_id else None,
            PROBLEM: f"{part.place(numbered.number)}: {problem}",
        }
