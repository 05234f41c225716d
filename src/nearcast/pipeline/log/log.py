"""The embedded log: subscription events and messages in one order, durable on one machine.

`python -m benchmarks.log`, medians of five rounds on two busy cores, about 5,000 syncs a second:

| | appends of one row/s | eight threads | bulk rows/s | read rows/s | bytes a row |
|---|---|---|---|---|---|
| blocks of Arrow in SQLite (this) | 1,950 | 1,630 | 2.2M | 3.2M | 63 |
| SQLite, a row each | 2,600 | 2,270 | 0.23M | 0.29M | 128 |
| a bare file with fsync | 2,590 | 2,210 | 5.7M | 7.7M | 165 |

The bare file is faster, but as measured it cannot recover, trim or serve a second process; SQLite
does, and millions of rows a second are more than a stream matches. Sharing syncs among threads pays
where they are slow: at 718 syncs a second, measured once, one thread appended 355 rows a second and
eight 1,169.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from types import TracebackType

import numpy as np
import pyarrow as pa

from nearcast.model import Message, Point, Region
from nearcast.model.ids import Id
from nearcast.pipeline.log.blocks import Blocks, EncodedBlock, block_tables, encode
from nearcast.pipeline.log.database import Database
from nearcast.pipeline.log.rows import (
    AnySubscription,
    message_rows,
    move_rows,
    subscribe_rows,
    unsubscribe_rows,
)
from nearcast.pipeline.log.schema import ADVANCE, UNSUBSCRIBE_HOSTED, Ids, log_rows, log_schema
from nearcast.storage import BadFile


class Log:
    """An append-only log in a folder, made when it is missing.

    What an append returned survives the death of the process and of the machine. An append is all
    or nothing, and its rows are neighbours in the order. Any number of threads and processes may
    append and read at once; appends of several threads share one write to the disk.

    `ids` says of which type all ids are. It is fixed when the log is made (string, unless said
    otherwise); later it may be left out.

    >>> from nearcast import Box, Message, Point, Subscription
    >>> log = Log(getfixture("tmp_path") / "log")
    >>> log.subscribe([Subscription("cafe", "coffee", Box(0, 0, 1, 1))])
    range(0, 1)
    >>> log.publish([Message("m1", text="Coffee!", at=Point(0, 0)),
    ...              Message("m2", text="Tea!", at=Point(0, 0))])
    range(1, 3)
    >>> log.unsubscribe(["cafe"])
    range(3, 4)
    >>> log.read(1, 4).select(["offset", "kind", "id"]).to_pylist()
    [{'offset': 1, 'kind': 'message', 'id': 'm1'},
     {'offset': 2, 'kind': 'message', 'id': 'm2'},
     {'offset': 3, 'kind': 'unsubscribe', 'id': 'cafe'}]
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        ids: Ids | None = None,
        *,
        must_exist: bool = False,
    ) -> None:
        log_schema(ids or "string")  # refuse an unknown type before anything is made
        about = {"ids": ids or "string"}
        self._database = Database(path, "log", block_tables("rows"), about, must_exist=must_exist)
        made_for = self._database.about.get("ids")
        if made_for != "string" and made_for != "int64":
            self.close()
            raise BadFile(
                f"{self._database.path} is damaged: its ids are {made_for!r}; use another copy"
            )
        if ids is not None and ids != made_for:
            self.close()
            raise ValueError(
                f"ids {ids!r}: the log in {os.fspath(path)} was made for {made_for!r}; "
                "leave ids out, or make another log"
            )
        self.path = os.fspath(path)
        self.ids: Ids = made_for
        self.schema = log_schema(made_for)
        self._blocks = Blocks("rows", self.schema.remove(0), self._database.path)
        self._waiting: dict[_Append, None] = {}
        self._turn = threading.Lock()

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; nothing is lost without it."""
        self._database.close()

    @property
    def start(self) -> int:
        """The oldest offset kept."""
        return self._bounds()[0]

    @property
    def end(self) -> int:
        """The offset that the next row will have."""
        return self._bounds()[1]

    def subscribe(self, subscriptions: Iterable[AnySubscription]) -> range:
        """Append subscriptions, all or none; the answer is their offsets."""
        return self.append(subscribe_rows(subscriptions, self.schema))

    def unsubscribe(self, ids: Iterable[Id]) -> range:
        """Append removals of subscriptions, all or none; the answer is their offsets."""
        return self.append(unsubscribe_rows(ids, self.schema))

    def unsubscribe_hosted(self, ids: Iterable[Id]) -> range:
        """Append removals of subscriptions that have a result, all or none."""
        return self.append(unsubscribe_rows(ids, self.schema, UNSUBSCRIBE_HOSTED))

    def move(self, moves: Iterable[tuple[Id, Region | Point, bool]]) -> range:
        """Append where subscriptions are now, all or none; the answer is their offsets.

        The third of each says whether it wants to know how far it may go unseen.
        """
        return self.append(move_rows(moves, self.schema))

    def advance(self, now: float) -> range:
        """Append that time has passed, for what ends when no message comes."""
        return self.append(pa.table({"kind": [ADVANCE], "time": [float(now)]}))

    def publish(self, messages: Iterable[Message]) -> range:
        """Append messages, all or none; the answer is their offsets."""
        return self.append(message_rows(messages, self.schema))

    def append(self, table: pa.Table | pa.RecordBatch) -> range:
        """Append the rows of a table, all or none; the answer is their offsets.

        The columns are those of `schema` without `offset`; a missing one is null. Rows are not
        judged, except that `kind` must be one of those. After an error nothing was written;
        only an interruption (Ctrl-C) may come when it already was.
        """
        rows = log_rows(table, self._blocks.schema)
        append = _Append(encode(rows))
        if not append.blocks:
            return range(end := self.end, end)
        self._waiting[append] = None
        try:
            with self._turn:
                if append.first is None:
                    self._write_with_others(append)
        finally:
            self._waiting.pop(append, None)
        assert append.first is not None
        return range(append.first, append.first + rows.num_rows)

    def read(self, first: int, last: int) -> pa.Table:
        """The rows with the offsets `first` to `last` - 1, as in `schema`.  O(bytes read)."""
        with self._database.reading() as connection:
            start, end = self._blocks.bounds(connection)
            if first > last:
                raise ValueError(f"offsets {first} to {last}: the first is beyond the last")
            if first < start:
                raise IndexError(
                    f"offset {first} is not in {self.path}: the log was trimmed and begins at "
                    f"{start}; read from there"
                )
            if last > end:
                raise IndexError(
                    f"offset {last - 1} is not in {self.path}: it ends at {end}; read up to there"
                )
            fetched = self._blocks.fetch(connection, first, last)
        table = self._blocks.decode(fetched, first, last)
        return table.add_column(0, self.schema.field(0), pa.array(np.arange(first, last)))

    def trim(self, before: int) -> None:
        """Forget the rows with offsets below `before`; trimming what is trimmed changes nothing.

        The file does not shrink: the space will be used again.
        """
        with self._database.writing() as connection:
            start, end = self._blocks.bounds(connection)
            if before > end:
                raise IndexError(
                    f"offset {before} is not in {self.path}: it ends at {end}; trim up to there"
                )
            if before > start:
                self._blocks.trim(connection, before)

    def _bounds(self) -> tuple[int, int]:
        with self._database.reading() as connection:
            return self._blocks.bounds(connection)

    def _write_with_others(self, append: _Append) -> None:
        """Write all appends that wait, in one transaction; if that fails, this one alone."""
        together = list(self._waiting)
        try:
            self._write(together)
        except OSError:
            if len(together) == 1:
                raise
            self._write([append])  # it may be another one that does not fit on the disk

    def _write(self, appends: list[_Append]) -> None:
        with self._database.writing() as connection:
            firsts = [self._blocks.append(connection, append.blocks) for append in appends]
        for append, first in zip(appends, firsts, strict=True):
            append.first = first
            self._waiting.pop(append, None)


class _Append:
    """Blocks that wait for their turn, and the offset they got."""

    def __init__(self, blocks: list[EncodedBlock]) -> None:
        self.blocks = blocks
        self.first: int | None = None
