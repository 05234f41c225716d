"""`OutboxSink`: what the pipeline finds, into the outbox."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import merge
from operator import itemgetter
from typing import Any

import pyarrow as pa

from nearcast.pipeline.hosted_subscriptions import HostedOutput, HostedSubscriptions, Result
from nearcast.pipeline.sinks import BatchOutput, Sink
from nearcast.service.data_folder import DataFolder
from nearcast.service.matching.change_bodies import body_of
from nearcast.service.stores.outbox import open_outbox
from nearcast.service.stores.subscriptions import owner_and_id, pipeline_id

REJECTS_KEPT = 10_000
ROWS_AT_ONCE = 100_000
"""Of a batch: a message that very many want must not fill the memory."""
DROPPED_AT_ONCE = 50_000
"""A commit drops no more old events than this, or twice what it brings: subscribers wait for it."""
REFRESHED_AT_ONCE = 500
"""Lists of terms that a batch writes with new scores, though their order is as it was."""
SHARE, LEAST_SHARE = 5, 1_000
"""One subscriber keeps at most a fifth of all events, so that it cannot push out everybody's."""


logger = logging.getLogger(__name__)


class OutboxSink(Sink):
    """Writes each batch of the pipeline into the outbox, once.

    - `keep_seconds`, `keep_events`: older events are dropped, and those beyond so many
    - `hosted`: keeps the results of subscriptions that have one; their changes go out with the
      matches of a batch, in the order of the log
    - `on_commit`: told the newest number when a batch is durable
    """

    def __init__(
        self,
        folder: DataFolder,
        *,
        keep_seconds: float,
        keep_events: int,
        hosted: HostedSubscriptions | None = None,
        on_commit: Callable[[int], None] = lambda sequence: None,
    ) -> None:
        self._folder = folder
        self._keep_seconds = keep_seconds
        self._keep_events = keep_events
        self._hosted = hosted
        self._refreshed = ("", "")  # the last list of terms that was written anew
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
        found = self._apply_to_hosted(output)
        now = round(time.time(), 3)
        with self._database.writing() as connection:
            batch, last = connection.execute("SELECT batch, sequence FROM position").fetchone()
            begin = last
            if output.number > batch:
                for part in _in_order(notifications, found):
                    rows, changes = _rows(part, last, now)
                    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
                    connection.executemany("INSERT INTO changes VALUES (?, ?, ?)", changes)
                    last += len(rows)
                    self._drop_excess(connection, _count(connection, rows))
                _keep_results(connection, found.results)
                self._refresh_terms(connection)
                _keep_rejects(connection, rejects.to_pylist() + found.rejects)
                connection.execute(
                    "UPDATE position SET batch = ?, sequence = ?", (output.number, last)
                )
            self._drop_old(connection, now, last, max(DROPPED_AT_ONCE, 2 * (last - begin)))
        self._on_commit(last)
        if self._hosted is not None:
            try:
                self._hosted.save_if_due()
            except OSError:  # a full disk, say: it is tried again after the next batch
                logger.exception("no snapshot of the results")

    def _apply_to_hosted(self, output: BatchOutput) -> HostedOutput:
        if self._hosted is None or not output.offsets:
            return HostedOutput()
        with self._database.reading() as connection:
            [batch] = connection.execute("SELECT batch FROM position").fetchone()
        if output.number <= batch:
            self._hosted.skip_to(output.offsets.stop)
            return HostedOutput()
        return self._hosted.apply(output.offsets)

    def _refresh_terms(self, connection: sqlite3.Connection) -> None:
        """Scores of terms change without an event: some lists, in turn, are written anew."""
        if self._hosted is None:
            return
        query = """SELECT subscriber, subscription FROM results
                   WHERE kind = 'trend' AND (subscriber, subscription) > (?, ?)
                   ORDER BY subscriber, subscription LIMIT ?"""
        keys = connection.execute(query, (*self._refreshed, REFRESHED_AT_ONCE)).fetchall()
        self._refreshed = keys[-1] if len(keys) == REFRESHED_AT_ONCE else ("", "")
        ids = [pipeline_id(*key) for key in keys]
        _keep_results(connection, {id: self._hosted.results(id) for id in ids})

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


def _in_order(notifications: pa.Table, found: HostedOutput) -> Iterator[list[Wanted]]:
    """Matches and changed results in the order of the log, in parts that fit into the memory."""
    changes = deque(
        (str(each.told.subscription_id), each.position, body_of(each)) for each in found.changes
    )
    for first in range(0, len(notifications), ROWS_AT_ONCE):
        part = notifications.slice(first, ROWS_AT_ONCE)
        ids, offsets = part["subscription_id"].to_pylist(), part["position"].to_pylist()
        matches: list[Wanted] = [(id, at, None) for id, at in zip(ids, offsets, strict=True)]
        earlier = []
        while changes and changes[0][1] < offsets[-1]:
            earlier.append(changes.popleft())
        yield list(merge(matches, earlier, key=itemgetter(1)))
    if changes:
        yield list(changes)


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


def _keep_results(connection: sqlite3.Connection, results: Mapping[Any, Result | None]) -> None:
    """How the results are now, for who asks."""
    for id, result in results.items():
        key = owner_and_id(str(id))
        if result is None:
            where = "subscriber = ? AND subscription = ?"
            connection.execute(f"DELETE FROM results WHERE {where}", key)
        else:
            connection.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)",
                (*key, result.kind, json.dumps(result.items)),
            )


def _keep_rejects(connection: sqlite3.Connection, rejects: list[dict[str, Any]]) -> None:
    if not rejects:
        return
    connection.executemany(
        "INSERT INTO rejects (side, id, reason, row) VALUES (:side, :id, :reason, :row)", rejects
    )
    newest = "SELECT max(number) FROM rejects"
    connection.execute(f"DELETE FROM rejects WHERE number <= ({newest}) - ?", (REJECTS_KEPT,))
