"""`OutboxSink`: what the pipeline finds, into the outbox."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nearcast.pipeline.sinks import BatchOutput, Sink
from nearcast.service.data_folder import DataFolder
from nearcast.service.matching.event_bodies import body_of
from nearcast.service.stores.outbox import open_outbox
from nearcast.service.stores.subscriptions import owner_and_id

REJECTS_KEPT = 10_000
ROWS_AT_ONCE = 100_000
"""Of a batch: a message that very many want must not fill the memory."""
DROPPED_AT_ONCE = 50_000
"""A commit drops no more old events than this, or twice what it brings: subscribers wait for it."""
SHARE, LEAST_SHARE = 5, 1_000
"""One subscriber keeps at most a fifth of all events, so that it cannot push out everybody's."""


class OutboxSink(Sink):
    """Writes each batch of the pipeline into the outbox, once.

    - `keep_seconds`, `keep_events`: older events are dropped, and those beyond so many
    - `on_commit`: told the newest number when a batch is durable
    """

    keeps_results = True

    def __init__(
        self,
        folder: DataFolder,
        *,
        keep_seconds: float,
        keep_events: int,
        on_commit: Callable[[int], None] = lambda sequence: None,
    ) -> None:
        self._folder = folder
        self._keep_seconds = keep_seconds
        self._keep_events = keep_events
        self._on_commit = on_commit

    def open(self, stream: str) -> None:
        self._database = open_outbox(self._folder)
        with self._database.writing() as connection:
            [owner] = connection.execute("SELECT stream FROM position").fetchone()
            if owner is None:
                connection.execute("UPDATE position SET stream = ?", (stream,))
            elif owner != stream:
                raise ValueError(
                    f"the outbox in {self._folder.outbox} belongs to another checkpoint, whose "
                    "batches have the same numbers; restore the whole data folder"
                )

    def commit(self, output: BatchOutput) -> None:
        notifications, rejects = output.notifications(), output.rejects()
        now = round(time.time(), 3)
        with self._database.writing() as connection:
            batch, last = connection.execute("SELECT batch, sequence FROM position").fetchone()
            begin = last
            if output.number > batch:
                for part in _parts(notifications):
                    rows, changes = _rows(part, last, now)
                    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
                    connection.executemany("INSERT INTO changes VALUES (?, ?, ?)", changes)
                    last += len(rows)
                    self._drop_excess(connection, _count(connection, rows))
                _keep_results(connection, output.results())
                _keep_rejects(connection, rejects.to_pylist())
                connection.execute(
                    "UPDATE position SET batch = ?, sequence = ?", (output.number, last)
                )
            self._drop_old(connection, now, last, max(DROPPED_AT_ONCE, 2 * (last - begin)))
        self._on_commit(last)

    def close(self) -> None:
        self._database.close()

    def _drop_old(self, connection: sqlite3.Connection, now: float, last: int, most: int) -> None:
        """The oldest, whosever they are; no more than so many are even looked at."""
        [oldest] = connection.execute("SELECT min(sequence) FROM events").fetchone()
        if oldest is None:
            return
        young = """SELECT sequence FROM events NOT INDEXED
                   WHERE sequence < ? AND written >= ? ORDER BY sequence LIMIT 1"""
        end = oldest + most
        found = connection.execute(young, (end, now - self._keep_seconds)).fetchone()
        end = max(found[0] if found else end, min(end, last + 1 - self._keep_events))
        if end > oldest:
            _drop(connection, "NOT INDEXED WHERE sequence < ?", (end,))

    def _drop_excess(self, connection: sqlite3.Connection, subscribers: Iterable[str]) -> None:
        """The oldest of those who have more than their share."""
        share = max(self._keep_events // SHARE, LEAST_SHARE)
        for subscriber in subscribers:
            kept = "SELECT count FROM kept WHERE subscriber = ?"
            [count] = connection.execute(kept, (subscriber,)).fetchone()
            if count > share:
                nth = """SELECT sequence FROM events WHERE subscriber = ?
                         ORDER BY sequence LIMIT 1 OFFSET ?"""
                [end] = connection.execute(nth, (subscriber, count - share)).fetchone()
                _drop(connection, "WHERE subscriber = ? AND sequence < ?", (subscriber, end))


def _drop(connection: sqlite3.Connection, which: str, values: tuple[object, ...]) -> None:
    """Delete events, and remember by subscriber what is gone."""
    connection.execute(
        f"""INSERT INTO dropped SELECT subscriber, max(sequence) FROM events {which}
            GROUP BY subscriber ON CONFLICT DO UPDATE SET sequence = excluded.sequence""",
        values,
    )
    connection.execute(
        f"""INSERT INTO kept SELECT subscriber, -count(*) FROM events {which}
            GROUP BY subscriber ON CONFLICT DO UPDATE SET count = count + excluded.count""",
        values,
    )
    connection.execute(
        f"DELETE FROM changes WHERE sequence IN (SELECT sequence FROM events {which})", values
    )
    connection.execute(f"DELETE FROM events {which}", values)


Wanted = tuple[str, int, tuple[str, str] | None]
"""A subscription, as the pipeline calls it, the offset of what concerns it, what changed if any."""


def _parts(notifications: pa.Table) -> Iterator[list[Wanted]]:
    """What is to be told, in parts that fit into the memory."""
    for first in range(0, len(notifications), ROWS_AT_ONCE):
        part = notifications.slice(first, ROWS_AT_ONCE)
        ids, offsets = part["subscription_id"].to_pylist(), part["position"].to_pylist()
        bodies: list[tuple[str, str] | None] = [None] * len(part)
        if "kind" in part.column_names:
            changes = iter(part.filter(pc.not_equal(part["kind"], "match")).to_pylist())
            bodies = [
                None if kind == "match" else body_of(next(changes))
                for kind in part["kind"].to_pylist()
            ]
        yield list(zip(ids, offsets, bodies, strict=True))


def _rows(
    wanted: list[Wanted], last: int, now: float
) -> tuple[list[tuple[Any, ...]], list[tuple[int, str, str]]]:
    """Rows of the tables `events` and `changes`, numbered on from `last`."""
    events, changes = [], []
    for sequence, (subscription, offset, change) in enumerate(wanted, last + 1):
        events.append((sequence, *owner_and_id(subscription), offset, now))
        if change is not None:
            changes.append((sequence, *change))
    return events, changes


def _count(connection: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> Iterable[str]:
    """Count for each subscription what it matched, for each subscriber what is kept: for these."""
    matched = Counter((subscriber, subscription) for _, subscriber, subscription, *_ in rows)
    kept = Counter(subscriber for _, subscriber, *_ in rows)
    connection.executemany(
        "INSERT INTO matched VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + ?",
        [(*key, count, count) for key, count in matched.items()],
    )
    connection.executemany(
        "INSERT INTO kept VALUES (?, ?) ON CONFLICT DO UPDATE SET count = count + ?",
        [(subscriber, count, count) for subscriber, count in kept.items()],
    )
    return kept


def _keep_results(connection: sqlite3.Connection, results: pa.Table) -> None:
    """How the results are now, for who asks."""
    for row in results.to_pylist():
        key = owner_and_id(row["subscription_id"])
        if row["items"] is None:
            where = "subscriber = ? AND subscription = ?"
            connection.execute(f"DELETE FROM results WHERE {where}", key)
        else:
            connection.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)",
                (*key, row["kind"], row["items"]),
            )


def _keep_rejects(connection: sqlite3.Connection, rejects: list[dict[str, Any]]) -> None:
    if not rejects:
        return
    connection.executemany(
        "INSERT INTO rejects (side, id, reason, row) VALUES (:side, :id, :reason, :row)", rejects
    )
    newest = "SELECT max(number) FROM rejects"
    connection.execute(f"DELETE FROM rejects WHERE number <= ({newest}) - ?", (REJECTS_KEPT,))
