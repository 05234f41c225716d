"""Which layout should the embedded log have?  `python -m benchmarks.log [--rows N]`.

Three ways to keep rows in one order on a disk, each durable when an append returns:

    blocks     nearcast.pipeline.log: SQLite, a row of the table is a block of Arrow
    rows       SQLite, a row of the table is a row of the log
    segment    a file of our own: length, checksum, Arrow; then fsync

Printed for each, as median, least and most of `ROUNDS` rounds in which they take turns: appends of
one row a second, from one thread and from eight; rows a second in appends of 10,000; rows a second
reading those back; the same for rows that came one at a time; and bytes a row of both. How often
the disk syncs limits single appends and is printed for each round: a busy disk changes it tenfold.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import sqlite3
import struct
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import xxhash

from nearcast.pipeline.log import LOG_SCHEMA, Log
from nearcast.pipeline.log.schema import log_rows

SCHEMA = LOG_SCHEMA.remove(0)
THREADS = 8
SINGLES = 3_000
BULK = 10_000
ROUNDS = 5


class Contender(ABC):
    """A log with the least that the comparison needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def append(self, table: pa.Table) -> None: ...

    @abstractmethod
    def read(self, first: int, last: int) -> pa.Table: ...

    @abstractmethod
    def close(self) -> None: ...


class BlocksLog(Contender):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._log = Log(folder)

    def append(self, table: pa.Table) -> None:
        self._log.append(table)

    def read(self, first: int, last: int) -> pa.Table:
        return self._log.read(first, last)

    def close(self) -> None:
        self._log.close()


class RowsLog(Contender):
    """Threads that wait share a transaction, as in `Log`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._connection = sqlite3.connect(
            folder / "rows.sqlite", isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        columns = ", ".join(SCHEMA.names)
        self._connection.execute(f"CREATE TABLE log (number INTEGER PRIMARY KEY, {columns})")
        self._insert = f"INSERT INTO log ({columns}) VALUES ({', '.join('?' * len(SCHEMA))})"
        self._select = f"SELECT {columns} FROM log WHERE number > ? AND number <= ?"
        self._group = Group(self._write)

    def append(self, table: pa.Table) -> None:
        self._group.append(log_rows(table, SCHEMA))

    def read(self, first: int, last: int) -> pa.Table:
        columns = zip(*self._connection.execute(self._select, (first, last)), strict=True)
        pairs = zip(columns, SCHEMA, strict=True)
        return pa.table([pa.array(column, field.type) for column, field in pairs], schema=SCHEMA)

    def close(self) -> None:
        self._connection.close()

    def _write(self, tables: list[pa.Table]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        for table in tables:
            columns = (column.to_pylist() for column in table.columns)
            self._connection.executemany(self._insert, zip(*columns, strict=True))
        self._connection.execute("COMMIT")


class SegmentLog(Contender):
    """Only the writing and the reading: no recovery, no trimming, one process."""

    _HEAD = struct.Struct("<QQQ")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._file = os.open(folder / "segment", os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._places: list[tuple[int, int, int]] = []  # first row, place, bytes
        self._rows = self._end = 0
        self._group = Group(self._write)

    def append(self, table: pa.Table) -> None:
        self._group.append(log_rows(table, SCHEMA))

    def read(self, first: int, last: int) -> pa.Table:
        batches = []
        for begin, place, length in self._places:
            if begin < last:
                frame = os.pread(self._file, length, place)
                check, body = self._HEAD.unpack_from(frame)[2], memoryview(frame)[self._HEAD.size :]
                assert xxhash.xxh3_64_intdigest(body) == check
                batches.append(pa.ipc.read_record_batch(pa.py_buffer(body), SCHEMA))
        return pa.Table.from_batches(batches).slice(first, last - first).combine_chunks()

    def close(self) -> None:
        os.close(self._file)

    def _write(self, tables: list[pa.Table]) -> None:
        frames = []
        for table in tables:
            body = table.combine_chunks().to_batches()[0].serialize().to_pybytes()
            head = self._HEAD.pack(len(body), self._rows, xxhash.xxh3_64_intdigest(body))
            frames.append(head + body)
            self._places.append((self._rows, self._end, len(frames[-1])))
            self._rows, self._end = self._rows + len(table), self._end + len(frames[-1])
        fcntl.flock(self._file, fcntl.LOCK_EX)
        os.writev(self._file, frames)
        os.fsync(self._file)
        fcntl.flock(self._file, fcntl.LOCK_UN)


class Group:
    """Appends of several threads in one write."""

    def __init__(self, write: Callable[[list[pa.Table]], None]) -> None:
        self._write = write
        self._waiting: list[pa.Table] = []
        self._written: set[int] = set()
        self._turn = threading.Lock()

    def append(self, table: pa.Table) -> None:
        self._waiting.append(table)
        with self._turn:
            if id(table) not in self._written:
                together = self._waiting.copy()
                del self._waiting[: len(together)]
                self._write(together)
                self._written.update(map(id, together))
            self._written.remove(id(table))


CONTENDERS: dict[str, Callable[[Path], Contender]] = {
    "blocks": BlocksLog,
    "rows": RowsLog,
    "segment": SegmentLog,
}


def messages(rows: int) -> pa.Table:
    random = np.random.default_rng(7)
    words = np.array([f"word{n}" for n in range(5_000)])
    chosen = words[random.zipf(1.3, (rows, 9)) % len(words)]
    return pa.table(
        {
            "kind": ["message"] * rows,
            "id": [f"message-{n}" for n in range(rows)],
            "text": [" ".join(row) for row in chosen],
            "lon": random.uniform(-180, 180, rows),
            "lat": random.uniform(-90, 90, rows),
            "time": np.arange(rows, dtype=float),
        }
    )


def rate(count: int, work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return count / (time.perf_counter() - begin)


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def measure(name: str, folder: Path, table: pa.Table) -> list[float]:
    def fresh(part: str) -> Contender:
        (folder / part).mkdir()
        return CONTENDERS[name](folder / part)

    singles = [table.slice(row, 1) for row in range(SINGLES)]
    single, many, bulk = fresh("single"), fresh("threads"), fresh("bulk")
    results = [rate(SINGLES, lambda: [single.append(row) for row in singles])]
    with ThreadPoolExecutor(THREADS) as pool:
        results.append(rate(SINGLES, lambda: list(pool.map(many.append, singles))))
    parts = [table.slice(first, BULK) for first in range(0, len(table), BULK)]
    results.append(rate(len(table), lambda: [bulk.append(part) for part in parts]))
    results.append(rate(len(table), lambda: bulk.read(0, len(table))))
    results.append(rate(SINGLES, lambda: single.read(0, SINGLES)))
    assert bulk.read(0, len(table)).select(table.column_names).equals(table.combine_chunks())
    for log in (single, many, bulk):
        log.close()  # SQLite then has everything in one file
    return [*results, size(single.folder) / SINGLES, size(bulk.folder) / len(table)]


def syncs(folder: Path) -> float:
    file = os.open(folder / "sync", os.O_WRONLY | os.O_CREAT)

    def write() -> None:
        for _ in range(300):
            os.write(file, b"x" * 4096)
            os.fsync(file)

    return rate(300, write)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=500_000)
    table = messages(parser.parse_args().rows)
    columns = "one/s", "8 threads/s", "bulk rows/s", "read/s", "read ones/s", "B/one", "B/row"
    rounds: dict[str, list[list[float]]] = {name: [] for name in CONTENDERS}
    for number in range(ROUNDS):
        # Not in /tmp, which may be memory and then never syncs.
        with tempfile.TemporaryDirectory(dir=".") as scratch:
            print(f"round {number + 1}: {syncs(Path(scratch)):,.0f} syncs a second")
            for name, results in rounds.items():
                folder = Path(scratch) / name
                folder.mkdir()
                results.append(measure(name, folder, table))
    print(f"{'':8}" + "".join(f"{column:>14}" for column in columns))
    for name, results in rounds.items():
        for label, line in (
            (name, np.median(results, axis=0)),
            ("  least", np.min(results, axis=0)),
            ("  most", np.max(results, axis=0)),
        ):
            print(f"{label:8}" + "".join(f"{value:14,.0f}" for value in line))


if __name__ == "__main__":
    main()
