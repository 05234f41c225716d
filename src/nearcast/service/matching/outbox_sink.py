"""`OutboxSink`: what the pipeline finds, into the outbox."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable

import pyarrow as pa

from nearcast.pipeline.sinks import BatchOutput, Sink
from nearcast.service.data_folder import DataFolder
from nearcast.service.stores.outbox import open_outbox
from nearcast.service.stores.subscriptions import owner_and_id

REJECTS_KEPT = 10_000
DROPPED_AT_ONCE = 50_000
"""A commit drops no more than so many old events, because subscribers wait for it."""


class OutboxSink(Sink):
    """Writes each batch of the pipeline into the outbox, once.

    - `keep_seconds`, `keep_events`: older events are dropped, and those beyond so many
    - `on_commit`: told the newest number when a batch is durable
    """

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
            if output.number > batch:
                rows = _rows(notifications, last, now)
                connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
                _count_matches(connection, rows)
                _keep_rejects(connection, rejects)
                last += len(rows)
                connection.execute(
                    "UPDATE position SET batch = ?, sequence = ?", (output.number, last)
                )
            self._drop_old(connection, now, last)
        self._on_commit(last)

    def close(self) -> None:
        self._database.close()

    def _drop_old(self, connection: sqlite3.Connection, now: float, last: int) -> None:
        young = "SELECT sequence FROM events WHERE written >= ? ORDER BY sequence LIMIT 1"
        found = connection.execute(young, (now - self._keep_seconds,)).fetchone()
        first_kept = max(found[0] if found else last + 1, last + 1 - self._keep_events)
        [oldest] = connection.execute("SELECT min(sequence) FROM events").fetchone()
        if oldest is None or oldest >= first_kept:
            return
        end = min(first_kept, oldest + DROPPED_AT_ONCE)
        connection.execute(
            """INSERT INTO dropped
               SELECT subscriber, max(sequence) FROM events WHERE sequence < ? GROUP BY subscriber
               ON CONFLICT DO UPDATE SET sequence = excluded.sequence""",
            (end,),
        )
        connection.execute("DELETE FROM events WHERE sequence < ?", (end,))


def _rows(notifications: pa.Table, last: int, now: float) -> list[tuple[object, ...]]:
    pairs = zip(
        notifications["subscription_id"].to_pylist(),
        notifications["position"].to_pylist(),
        strict=True,
    )
    return [
        (sequence, *owner_and_id(subscription), offset, now)
        for sequence, (subscription, offset) in enumerate(pairs, last + 1)
    ]


def _count_matches(connection: sqlite3.Connection, rows: Iterable[tuple[object, ...]]) -> None:
    counts: dict[tuple[object, object], int] = {}
    for _, subscriber, subscription, *_ in rows:
        key = subscriber, subscription
        counts[key] = counts.get(key, 0) + 1
    connection.executemany(
        "INSERT INTO matched VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + ?",
        [(*key, count, count) for key, count in counts.items()],
    )


def _keep_rejects(connection: sqlite3.Connection, rejects: pa.Table) -> None:
    if not len(rejects):
        return
    rows = rejects.select(["side", "id", "reason", "row"]).to_pylist()
    connection.executemany(
        "INSERT INTO rejects (side, id, reason, row) VALUES (:side, :id, :reason, :row)", rows
    )
    newest = "SELECT max(number) FROM rejects"
    connection.execute(f"DELETE FROM rejects WHERE number <= ({newest}) - ?", (REJECTS_KEPT,))
