"""Numbered rows in a SQLite table, kept as blocks: Arrow record batches of many rows each.

    first INTEGER   the number of the block's first row
    rows  INTEGER   how many rows it has
    check BLOB      xxh3 of `data`, seeded with `first`: neither bytes nor places can be mixed up
    data  BLOB      an Arrow IPC record batch, without its schema

Reading and writing in bulk never touches a Python object a row. Rows that come one at a time begin
as a block each, about 1 kB; whenever a window of `WINDOW` rows is full, its small blocks become
one, so that a row is written at most twice and old rows are compact.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import xxhash

from nearcast.storage import BadFile

WINDOW = 1024
ROWS_PER_BLOCK = 65_536
BYTES_PER_BLOCK = 64 * 2**20  # SQLite takes a billion, but a reader wants a part of it
ROWS_WORTH_COMPRESSING = 32
# LZ4 encodes three times as fast as Zstandard and decodes twice as fast, at 63 bytes a message
# against 40; without compression it is 165.
COMPRESSION = "lz4"

Fetched = tuple[int, int, bytes, bytes]
"""A row of the table."""


@dataclass(frozen=True, slots=True)
class EncodedBlock:
    """Rows as bytes; their numbers are given when they are written."""

    rows: int
    data: bytes


def block_tables(name: str) -> tuple[str, ...]:
    """The statements that make the tables of a `Blocks`, its rows to be numbered from 0."""
    return (
        f"CREATE TABLE {name} (first INTEGER PRIMARY KEY, rows INTEGER, [check] BLOB, data BLOB)",
        f"CREATE TABLE {name}_start (start INTEGER)",
        f"INSERT INTO {name}_start VALUES (0)",
    )


def encode(table: pa.Table) -> list[EncodedBlock]:
    """Cut a table into blocks.  O(bytes), and no lock is needed."""
    rows = ROWS_PER_BLOCK
    if table.nbytes > BYTES_PER_BLOCK:
        rows = max(1, min(rows, table.num_rows * BYTES_PER_BLOCK // table.nbytes))
    pieces = (table.slice(at, rows) for at in range(0, table.num_rows, rows))
    return [EncodedBlock(piece.num_rows, _encoded(piece)) for piece in pieces]


class Blocks:
    """The rows in the table `name`; `source` is the file's name, for errors.

    A method that takes a connection runs inside a transaction of the caller.
    """

    def __init__(self, name: str, schema: pa.Schema, source: object) -> None:
        self.name = name
        self.schema = schema
        self._source = source

    def bounds(self, connection: sqlite3.Connection) -> tuple[int, int]:
        """The number of the oldest row kept, and the number of the next row."""
        start = connection.execute(f"SELECT start FROM {self.name}_start").fetchone()[0]
        last = connection.execute(
            f"SELECT first + rows FROM {self.name} ORDER BY first DESC LIMIT 1"
        ).fetchone()
        return start, start if last is None else last[0]

    def append(self, connection: sqlite3.Connection, blocks: Iterable[EncodedBlock]) -> int:
        """Write blocks behind the last row; the answer is the number of their first row."""
        begin = at = self.bounds(connection)[1]
        for block in blocks:
            self._put(connection, at, block)
            at += block.rows
        if at // WINDOW > begin // WINDOW:
            self._gather(connection, begin // WINDOW * WINDOW, begin)
        return begin

    def trim(self, connection: sqlite3.Connection, before: int) -> None:
        """Forget the rows numbered below `before`; their space will be used again."""
        connection.execute(
            f"DELETE FROM {self.name} WHERE first < ? AND first + rows <= ?", (before, before)
        )
        connection.execute(f"UPDATE {self.name}_start SET start = ?", (before,))

    def fetch(self, connection: sqlite3.Connection, first: int, last: int) -> list[Fetched]:
        """The blocks that hold the rows `first` to `last` - 1, for `decode`."""
        return connection.execute(
            f"SELECT first, rows, [check], data FROM {self.name} WHERE first < ? AND first >= "
            f"(SELECT max(first) FROM {self.name} WHERE first <= ?) ORDER BY first",
            (last, first),
        ).fetchall()

    def decode(self, fetched: list[Fetched], first: int, last: int) -> pa.Table:
        """The rows `first` to `last` - 1, or `BadFile`.  O(bytes), and no lock is needed."""
        if first == last:
            return self.schema.empty_table()
        batches, at = [], fetched[0][0] if fetched else first
        for begin, rows, check, data in fetched:
            if begin != at or xxhash.xxh3_64_digest(data, seed=begin) != check:
                raise self._damaged(at, begin + rows)
            batches.append(pa.ipc.read_record_batch(data, self.schema))
            if batches[-1].num_rows != rows:
                raise self._damaged(at, begin + rows)
            at = begin + rows
        if at < last or not batches:
            raise self._damaged(at, last)
        rows_before = first - fetched[0][0]
        table = pa.Table.from_batches(batches, self.schema).slice(rows_before, last - first)
        # Many tiny chunks would make everything after this slow.
        return table.combine_chunks() if table.num_rows < len(batches) * WINDOW else table

    def _put(self, connection: sqlite3.Connection, at: int, block: EncodedBlock) -> None:
        check = xxhash.xxh3_64_digest(block.data, seed=at)
        connection.execute(
            f"INSERT INTO {self.name} VALUES (?, ?, ?, ?)", (at, block.rows, check, block.data)
        )

    def _gather(self, connection: sqlite3.Connection, first: int, last: int) -> None:
        """Make one block of those that begin at `first` or later and end by `last`."""
        small = connection.execute(
            f"SELECT first, rows, [check], data FROM {self.name} "
            "WHERE first >= ? AND first < ? ORDER BY first",
            (first, last),
        ).fetchall()
        if len(small) > 1:
            begin = small[0][0]
            connection.execute(
                f"DELETE FROM {self.name} WHERE first >= ? AND first < ?", (begin, last)
            )
            for block in encode(self.decode(small, begin, last)):
                self._put(connection, begin, block)
                begin += block.rows

    def _damaged(self, first: int, last: int) -> BadFile:
        return BadFile(
            f"{self._source} is damaged: rows {first} to {last - 1} of its {self.name} are missing "
            "or do not fit their checksum; use another copy"
        )


def _encoded(table: pa.Table) -> bytes:
    (batch,) = table.combine_chunks().to_batches()
    if table.num_rows < ROWS_WORTH_COMPRESSING:
        return batch.serialize().to_pybytes()
    stream = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=COMPRESSION)
    with pa.ipc.new_stream(stream, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    messages = pa.ipc.MessageReader.open_stream(stream.getvalue())
    messages.read_next_message()  # the schema
    return messages.read_next_message().serialize().to_pybytes()
