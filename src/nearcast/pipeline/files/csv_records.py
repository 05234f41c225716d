"""CSV as records: a header, commas, quotes around what needs them, UTF-8."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from nearcast.pipeline.files.formats import DataFile, UnreadableFile
from nearcast.pipeline.files.records import Numbered, Record, RowProblem

_NUMBERS = {"lon", "lat", "west", "south", "east", "north", "time", "expires"}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

# A region may be a polygon of any size, and the module's own limit is 131,072 characters.
csv.field_size_limit(2**31 - 1)


def csv_header(file: DataFile) -> list[str]:
    """The names in the first line; none in a file without lines."""
    with file.open_text() as text:
        return _header(_rows(file, text))


def csv_records(file: DataFile, columns: Sequence[str]) -> Iterator[Numbered]:
    """These columns of every row, by name. An empty cell is null; in `text` it is an empty text.

    CSV cannot tell a message without words from one whose text is missing, and only the first is
    common. The number of a record is the line on which it begins.
    """
    with file.open_text() as text:
        rows = _rows(file, text)
        header = _header(rows)
        wanted = [(header.index(name), name) for name in columns]
        for line, cells in rows:
            if not cells:  # an empty line
                continue
            try:
                yield Numbered(line, _record(cells, len(header), wanted))
            except RowProblem as problem:
                yield Numbered(line, problem)


def _header(rows: Iterator[tuple[int, list[str]]]) -> list[str]:
    _, names = next(rows, (1, []))
    return [name.strip() for name in names]


def _rows(file: DataFile, text: TextIO) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # After an error there is no telling where the next row begins.
            raise UnreadableFile(
                f"{file.path}, line {line}: {error}; double a quote inside quotes, and close them"
            ) from None
        except UnicodeDecodeError as error:
            raise UnreadableFile(
                f"{file.path} is not UTF-8: {error.reason} after line {reader.line_num}; "
                "save it as UTF-8"
            ) from None


def _record(cells: list[str], width: int, wanted: list[tuple[int, str]]) -> Record:
    if len(cells) != width:
        raise RowProblem(
            f"{len(cells)} cells, but the header has {width}; put quotes around a cell with a comma"
        )
    record: Record = {}
    problem = None
    for column, name in wanted:
        cell = cells[column]
        if name == "text":
            record[name] = cell
        elif not cell:
            record[name] = None
        elif name not in _NUMBERS:
            record[name] = cell
        else:
            try:
                record[name] = _number(name, cell)
            except RowProblem as bad:
                problem = problem or bad
    if problem:
        raise RowProblem(str(problem), record.get("id"))
    return record


def _number(name: str, cell: str) -> float:
    bare = cell.strip()
    if _NUMBER.fullmatch(bare) or bare.lower() in ("nan", "inf", "-inf"):  # refused later, by value
        return float(bare)
    raise RowProblem(f"{name} {cell!r} is not a number; write one such as 2.35")
