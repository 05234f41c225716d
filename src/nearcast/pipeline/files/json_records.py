"""JSON Lines as records: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator

from nearcast.pipeline.files.formats import DataFile
from nearcast.pipeline.files.records import Numbered, Part, Record, RowProblem

PART_BYTES = 32 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def json_parts(file: DataFile, part_bytes: int = PART_BYTES) -> Iterator[Part]:
    """Cut a file at line ends, so that several tasks read it.  O(its bytes), at the disk's speed.

    A compressed file is one part, because it can only be read from its beginning.
    """
    if file.path.suffix == ".gz":
        yield Part(file.path, file.format)
        return
    start, line = 0, 1
    with file.path.open("rb") as data:
        while chunk := data.read(part_bytes):
            chunk += data.readline()
            yield Part(file.path, file.format, start, start + len(chunk), line)
            start += len(chunk)
            line += chunk.count(b"\n")


def json_records(part: Part) -> Iterator[Numbered]:
    """The records of a part; a line that is no JSON object is a problem, an empty one nothing."""
    with DataFile(part.path, part.format).open() as data:
        data.seek(part.start)
        at = part.start
        for number, line in enumerate(data, part.first):
            if part.stop is not None and at >= part.stop:
                return
            at += len(line)
            line = line.strip()
            if number == 1:
                line = line.removeprefix(_BYTE_ORDER_MARK)
            if line:
                yield Numbered(number, json_record(line))


def json_record(line: bytes) -> Record | RowProblem:
    """The record that a JSON object is.

    >>> json_record(b'{"id": 7}'), json_record(b"[7]")
    ({'id': 7}, RowProblem("not a JSON object, but '[7]'; write one object a line"))
    """
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        return RowProblem(f"not JSON: {error}; this is {_shown(line)}")
    if not isinstance(value, dict):
        return RowProblem(f"not a JSON object, but {_shown(line)}; write one object a line")
    return value


def _shown(line: bytes) -> str:
    text = line.decode(errors="replace")
    return repr(text if len(text) <= 80 else text[:77] + "...")
