"""Parquet files that appear whole or not at all, are on the disk when they do, and are checked.

Between the pages and the footer, where other readers do not look, there is a seal:

    8 bytes   b"NEARCAST"
    4 bytes   format version, little endian
    8 bytes   xxh3 of all the rest
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from nearcast.durable_files import whole_file
from nearcast.storage import BadFile

VERSION = 1
_FACTS = b"nearcast.facts"
_MAGIC = b"NEARCAST"
_SEAL = struct.Struct("<8sIQ")
_END = struct.Struct("<I4s")  # of any Parquet file: the length of the footer, and its magic


def write_parquet(path: Path, tables: Sequence[pa.Table], facts: dict[str, Any]) -> None:
    """Write the rows of all tables, and facts beside them."""
    schema = (tables[0].schema if tables else pa.schema([])).with_metadata(
        {_FACTS: json.dumps(facts)}
    )
    # Subscriptions differ from row to row; all else repeats from one message to the next.
    encoded = [name for name in schema.names if name != "subscription_id"]
    with whole_file(path) as file:
        with pq.ParquetWriter(
            file, schema, compression="none", use_dictionary=encoded, write_statistics=False
        ) as writer:
            for table in tables:
                writer.write_table(table.replace_schema_metadata(schema.metadata))
        _seal(file)


def read_parquet(path: Path) -> pa.Table:
    """The rows of a file that `write_parquet` wrote; `BadFile` when it is damaged.  O(size)."""
    return pq.read_table(_checked(path))


def row_count(path: Path) -> int:
    """How many rows a file has; `BadFile` when it is damaged.  O(size) for the checksum alone."""
    rows: int = pq.read_metadata(_checked(path)).num_rows
    return rows


def read_facts(path: Path) -> dict[str, Any] | None:
    """The facts of a file; None when it is not there, damaged, or of another release.  O(size)."""
    try:
        metadata = pq.read_schema(_checked(path)).metadata
    except (FileNotFoundError, BadFile):
        return None
    facts: dict[str, Any] = json.loads(metadata[_FACTS])
    return facts


def _seal(file: BinaryIO) -> None:
    file.flush()
    size = file.seek(0, os.SEEK_END)
    check = xxhash.xxh3_64()
    file.seek(0)
    while piece := file.read(1 << 20):
        check.update(piece)
    file.seek(size - _END.size)
    length, _ = _END.unpack(file.read(_END.size))
    footer = size - _END.size - length
    file.seek(footer)
    end = file.read()
    file.seek(footer)
    file.write(_SEAL.pack(_MAGIC, VERSION, check.intdigest()) + end)


def _checked(path: Path) -> pa.BufferReader:
    with pa.memory_map(os.fspath(path)) as file:
        data = file.read_buffer()
    whole = memoryview(data)
    if len(whole) >= _END.size + _SEAL.size:
        length, _ = _END.unpack(whole[-_END.size :])
        footer = len(whole) - _END.size - length
        if footer >= _SEAL.size:
            magic, version, check = _SEAL.unpack(whole[footer - _SEAL.size : footer])
            if magic == _MAGIC and version != VERSION:
                raise BadFile(
                    f"{path} has format version {version}, this Nearcast reads version {VERSION}; "
                    "use a matching release"
                )
            found = xxhash.xxh3_64(whole[: footer - _SEAL.size])
            found.update(whole[footer:])
            if magic == _MAGIC and found.intdigest() == check:
                return pa.BufferReader(data)
    raise BadFile(
        f"{path} is damaged, or of a release that did not check such files; "
        "start the stream again, which makes it anew"
    )
