"""Text files as Arrow: what the tasks of `frames.py` run. No Spark here."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

import pyarrow as pa

from nearcast.pipeline.files.columns import record_batch, row_or_problem, schema_of
from nearcast.pipeline.files.csv_records import csv_header, csv_records
from nearcast.pipeline.files.feature_records import feature_records
from nearcast.pipeline.files.formats import DataFile, UnreadableFile
from nearcast.pipeline.files.json_records import json_parts, json_records
from nearcast.pipeline.files.records import Numbered, Part, RowProblem
from nearcast.pipeline.rows import MESSAGE_COLUMNS, SUBSCRIPTION_COLUMNS

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
    rows = (
        row_or_problem(numbered.record, side, id_type, partial(part.place, numbered.number))
        for numbered in _records(part, side)
    )
    while chunk := list(islice(rows, ROWS_TOGETHER)):
        yield record_batch(chunk, schema)


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
