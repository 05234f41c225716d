"""Where the notifications of a stream are kept, each exactly once."""

from __future__ import annotations

import os
import sqlite3
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.model.ids import Id
from nearcast.pipeline.hosted.told import with_result_columns
from nearcast.pipeline.log.blocks import ROWS_PER_BLOCK, Blocks, block_tables, encode
from nearcast.pipeline.log.columns import conformed
from nearcast.pipeline.log.database import Database

_BATCH = pa.field("batch", pa.int64())
_SEQUENCE = pa.field("sequence", pa.int64())
_REJECTS = pa.schema([(name, pa.string()) for name in ("side", "id", "reason", "row")])
_ID_TYPES = {"string": pa.string(), "int64": pa.int64()}
_IDS = ("subscription_id", "message_id")
_RESULTS = "results"  # among the types of ids: has it the columns of results?


class NotificationStore:
    """Notifications and rejected rows of one stream in a folder, made when it is missing.

    A batch is written all or nothing, is on the disk when `write` returns, and is there once
    however often it is written. One process writes; any number may read meanwhile.

    `stream` names the stream whose batches these are. It is remembered, and the store refuses
    another stream, whose batch 0 it would take for its own. Who only reads may leave it out.

    >>> store = NotificationStore(getfixture("tmp_path"))
    >>> found = pa.table({"subscription_id": ["cafe"], "message_id": [7], "time": [0.5]})
    >>> store.write(0, found)
    True
    >>> store.write(0, found)  # once more, as after a crash
    False
    >>> store.read().select(["sequence", "subscription_id", "message_id"]).to_pylist()
    [{'sequence': 1, 'subscription_id': 'cafe', 'message_id': 7}]
    """

    def __init__(self, path: str | os.PathLike[str], *, stream: str | None = None) -> None:
        self.path = os.fspath(path)
        statements = (
            *block_tables("notifications"),
            *block_tables("rejects"),
            # The batches `first` to `last` were written: one row, and one more for each gap.
            "CREATE TABLE written (first INTEGER PRIMARY KEY, last INTEGER)",
            "CREATE TABLE id_types (name TEXT PRIMARY KEY, type TEXT)",
            "CREATE TABLE stream (name TEXT)",
        )
        self._database = Database(path, "notifications", statements, {})
        self._rejects = Blocks("rejects", _REJECTS.insert(0, _BATCH), self._database.path)
        if stream is not None:
            self._claim_for(stream)

    def __enter__(self) -> NotificationStore:
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
    def last_batch(self) -> int | None:
        """The number of the last batch written; None before the first."""
        with self._database.reading() as connection:
            last: int | None = connection.execute("SELECT max(last) FROM written").fetchone()[0]
            return last

    @property
    def count(self) -> int:
        """How many notifications are kept."""
        with self._database.reading() as connection:
            start, end = self._notifications(connection).bounds(connection)
            return end - start

    def write(self, batch: int, notifications: pa.Table, rejects: pa.Table | None = None) -> bool:
        """Write what a batch gave; False, and nothing changes, if that batch was written before.

        `notifications` has `subscription_id` and `message_id` (strings or integers, as in the first
        one written), `time` and `position`; they are numbered in the order given. Those of a stream
        that keeps results have the columns of `with_result_columns`, all of them. `rejects` has
        `side` (message or subscription), `id`, `reason`, and `row`, the JSON of the row as it came.
        The id of a reject is kept as text; `row` tells its type.

        A batch older than the last one that was never written is a ValueError.
        """
        types = {name: _id_type(notifications, name) for name in _IDS}
        if "kind" in notifications.column_names:
            types[_RESULTS] = "yes"
            found = notifications.cast(_notification_schema(types))
        else:
            found = conformed(notifications, _notification_schema(types), "notification")
        for name in _IDS[: 1 if _RESULTS in types else 2]:
            if found[name].null_count:
                raise ValueError(f"batch {batch}: a notification has no {name}; give one")
        bad = _reject_rows(rejects) if rejects is not None else _REJECTS.empty_table()
        found_blocks, bad_blocks = (encode(_with_batch(batch, rows)) for rows in (found, bad))
        with self._database.writing() as connection:
            is_new = self._mark_written(connection, batch)
            if is_new and found_blocks:
                self._fix_types(connection, types)
                self._notifications(connection).append(connection, found_blocks)
            if is_new and bad_blocks:
                self._rejects.append(connection, bad_blocks)
            return is_new

    def read(
        self, after: int = 0, limit: int | None = None, subscription_id: Id | None = None
    ) -> pa.Table:
        """Notifications with a sequence number beyond `after`, at most `limit`, oldest first.

        Columns: `sequence` (1, 2, …), `batch`, `subscription_id`, `message_id`, `time`, `position`.
        To follow the stream, give the last sequence number seen. What was trimmed is not there.
        O(bytes behind `after`), for one subscription too, until the limit is reached.
        """
        with self._database.reading() as connection:
            blocks = self._notifications(connection)
            start, end = blocks.bounds(connection)
            first, wanted = max(start, after), end if limit is None else limit
            kept = [_numbered(blocks.schema.empty_table(), first)]
            while first < end and wanted > 0:
                step = wanted if subscription_id is None else ROWS_PER_BLOCK
                last = min(end, first + step)
                fetched = blocks.fetch(connection, first, last)
                rows = _numbered(blocks.decode(fetched, first, last), first)
                if subscription_id is not None:
                    rows = _of_subscription(rows, subscription_id).slice(0, wanted)
                kept.append(rows)
                first, wanted = last, wanted - len(rows)
        return pa.concat_tables(kept)

    def rejects(self, after: int = 0) -> pa.Table:
        """Rejected rows with a sequence number (of their own) beyond `after`, oldest first.

        Columns: `sequence`, `batch`, `side`, `id`, `reason`, `row`.
        """
        with self._database.reading() as connection:
            start, end = self._rejects.bounds(connection)
            first = min(max(start, after), end)
            fetched = self._rejects.fetch(connection, first, end)
        return _numbered(self._rejects.decode(fetched, first, end), first)

    def trim(self, before_sequence: int) -> None:
        """Forget the notifications below a sequence number; their space will be used again."""
        with self._database.writing() as connection:
            blocks = self._notifications(connection)
            start, end = blocks.bounds(connection)
            if before_sequence - 1 > end:
                raise IndexError(
                    f"sequence {before_sequence} is not in {self.path}: it ends at {end}; "
                    f"trim at most before {end + 1}"
                )
            if before_sequence - 1 > start:
                blocks.trim(connection, before_sequence - 1)

    def _claim_for(self, stream: str) -> None:
        with self._database.writing() as connection:
            owner = connection.execute("SELECT name FROM stream").fetchone()
            if owner is None:
                connection.execute("INSERT INTO stream VALUES (?)", (stream,))
            elif owner[0] != stream:
                raise ValueError(
                    f"stream {stream!r}: the store in {self.path} belongs to the stream "
                    f"{owner[0]!r}, whose batches have the same numbers; give another folder"
                )

    def _notifications(self, connection: sqlite3.Connection) -> Blocks:
        """The notifications, with the types of ids as far as they are known."""
        types = dict.fromkeys(_IDS, "string")
        types |= dict(connection.execute("SELECT name, type FROM id_types"))
        schema = _notification_schema(types).insert(0, _BATCH)
        return Blocks("notifications", schema, self._database.path)

    def _fix_types(self, connection: sqlite3.Connection, types: dict[str, str]) -> None:
        known = dict(connection.execute("SELECT name, type FROM id_types"))
        for name in {*known, *types} if known else ():
            if known.get(name) != types.get(name):
                raise TypeError(
                    f"{name} is {types.get(name, 'no')}, in {self.path} it is "
                    f"{known.get(name, 'no')} since the first notification; cast it, or give "
                    "another folder"
                )
        connection.executemany("INSERT OR IGNORE INTO id_types VALUES (?, ?)", types.items())

    def _mark_written(self, connection: sqlite3.Connection, batch: int) -> bool:
        """Remember the batch; False if it is remembered already."""
        newest = connection.execute("SELECT first, last FROM written ORDER BY first DESC LIMIT 1")
        first, last = newest.fetchone() or (batch, batch - 1)
        if batch > last + 1:
            connection.execute("INSERT INTO written VALUES (?, ?)", (batch, batch))
        elif batch == last + 1:
            connection.execute("INSERT OR REPLACE INTO written VALUES (?, ?)", (first, batch))
        else:
            covered = "SELECT 1 FROM written WHERE first <= ? AND ? <= last"
            if connection.execute(covered, (batch, batch)).fetchone() is None:
                raise ValueError(
                    f"batch {batch} was never written to {self.path}, but batch {last} was; "
                    "batches come in order, start the stream with another folder"
                )
            return False
        return True


def _notification_schema(types: dict[str, str]) -> pa.Schema:
    ids = [(name, _ID_TYPES[types[name]]) for name in _IDS]
    matches = pa.schema([*ids, ("time", pa.float64()), ("position", pa.int64())])
    return with_result_columns(matches) if _RESULTS in types else matches


def _id_type(notifications: pa.Table, name: str) -> str:
    if name not in notifications.column_names:
        raise ValueError(f"column {name!r} is missing; every notification needs it, add it")
    return "int64" if pa.types.is_integer(notifications.schema.field(name).type) else "string"


def _reject_rows(rejects: pa.Table) -> pa.Table:
    if "id" in rejects.column_names and pa.types.is_integer(rejects.schema.field("id").type):
        place = rejects.column_names.index("id")
        rejects = rejects.set_column(place, "id", rejects["id"].cast(pa.string()))
    return conformed(rejects, _REJECTS, "reject")


def _with_batch(batch: int, table: pa.Table) -> pa.Table:
    return table.add_column(0, _BATCH, pa.array(np.full(len(table), batch, np.int64)))


def _numbered(table: pa.Table, first: int) -> pa.Table:
    sequence = np.arange(first + 1, first + 1 + len(table))
    return table.add_column(0, _SEQUENCE, pa.array(sequence, pa.int64()))


def _of_subscription(rows: pa.Table, subscription_id: Id) -> pa.Table:
    kind = rows.schema.field("subscription_id").type
    if isinstance(subscription_id, str) != pa.types.is_string(kind):
        return rows.slice(0, 0)  # 7 and "7" are different ids
    return rows.filter(pc.equal(rows["subscription_id"], pa.scalar(subscription_id, kind)))
