"""`Outbox`: who is to get what, numbered in one order; the pipeline writes, the service reads.

An event is of a message that matches, or of a result that has changed.

A number is given once and for good, so that it is the id of the event for those who get it, and a
subscriber's events are in order. Old events are dropped, and what was dropped is remembered by
subscriber, so that who comes too late is told.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from nearcast.pipeline.log.database import Database
from nearcast.service.data_folder import DataFolder

_TABLES = (
    """CREATE TABLE events
       (sequence INTEGER PRIMARY KEY, subscriber TEXT NOT NULL, subscription TEXT NOT NULL,
        offset INTEGER NOT NULL, written REAL NOT NULL)""",
    "CREATE INDEX by_subscriber ON events (subscriber, sequence)",
    "CREATE TABLE dropped (subscriber TEXT PRIMARY KEY, sequence INTEGER) WITHOUT ROWID",
    "CREATE TABLE kept (subscriber TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID",
    """CREATE TABLE matched
       (subscriber TEXT, subscription TEXT, count INTEGER NOT NULL,
        PRIMARY KEY (subscriber, subscription)) WITHOUT ROWID""",
    "CREATE TABLE rejects (number INTEGER PRIMARY KEY, side TEXT, id TEXT, reason TEXT, row TEXT)",
    # Of events that are no match: what kind they are, and what they say, a JSON object.
    """CREATE TABLE changes
       (sequence INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL)""",
    # How results are now, as far as the pipeline has come: JSON, and the kind of their events.
    """CREATE TABLE results
       (subscriber TEXT, subscription TEXT, kind TEXT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (subscriber, subscription)) WITHOUT ROWID""",
    "CREATE INDEX terms ON results (subscriber, subscription) WHERE kind = 'trend'",
    "CREATE TABLE position (stream TEXT, batch INTEGER, sequence INTEGER)",
    "INSERT INTO position VALUES (NULL, -1, 0)",
)


@dataclass(frozen=True, slots=True)
class Event:
    """One subscription of a subscriber wants one message, or has another result.

    - `sequence`: its number, the id of the event
    - `offset`: in the log, of the message; or of what changed the result
    - `written`: when, by the clock of the machine
    - `kind`: None: a message matches; else what has changed
    - `body`: of a change, the JSON that says how
    """

    sequence: int
    subscriber: str
    subscription: str
    offset: int
    written: float
    kind: str | None = None
    body: str | None = None


_EVENT = "sequence, subscriber, subscription, offset, written, kind, body"
_EVENTS = "events LEFT JOIN changes USING (sequence)"


class Outbox:
    """What readers see.  Any thread, beside the pipeline that writes."""

    def __init__(self, folder: DataFolder) -> None:
        self._database = open_outbox(folder)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def events(self, subscriber: str, after: int, limit: int) -> list[Event]:
        """Those of a subscriber with a number beyond `after`, in order.  O(log n + limit)."""
        query = (
            f"SELECT {_EVENT} FROM {_EVENTS} WHERE subscriber = ? AND sequence > ?"
            " ORDER BY sequence LIMIT ?"
        )
        return self._events(query, (subscriber, after, limit))

    def before_newest(self, subscriber: str, count: int) -> int:
        """The number beyond which a subscriber has so many events, or fewer if there are."""
        query = (
            "SELECT sequence FROM events WHERE subscriber = ?"
            " ORDER BY sequence DESC LIMIT 1 OFFSET ?"
        )
        with self._database.reading() as connection:
            row = connection.execute(query, (subscriber, count)).fetchone()
        return 0 if row is None else row[0]

    def subscribers_since(self, after: int) -> tuple[int, set[str]]:
        """The newest number, and who has events beyond `after`."""
        with self._database.reading() as connection:
            # By number: the index by subscriber would have it go through all events.
            query = "SELECT DISTINCT subscriber FROM events NOT INDEXED WHERE sequence > ?"
            found = {row[0] for row in connection.execute(query, (after,))}
            return _last_sequence(connection), found

    def last_sequence(self) -> int:
        """The newest number, 0 before the first."""
        with self._database.reading() as connection:
            return _last_sequence(connection)

    def gap(self, subscriber: str, after: int) -> int | None:
        """The number up to which events beyond `after` are lost for this subscriber; None: none."""
        query = "SELECT sequence FROM dropped WHERE subscriber = ? AND sequence > ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (subscriber, after)).fetchone()
        return None if row is None else row[0]

    def matched(self, subscriber: str, subscription: str) -> int:
        """How many messages a subscription has matched in all."""
        query = "SELECT count FROM matched WHERE subscriber = ? AND subscription = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (subscriber, subscription)).fetchone()
        return 0 if row is None else row[0]

    def result(self, subscriber: str, subscription: str, kind: str | None) -> list[Any]:
        """The result of a subscription, as far as the pipeline has come.

        Of kind `top` ids and scores of the best messages, best first; of `trend` terms and scores;
        of `enter` ids. Empty where another kind had the name until now.
        """
        query = "SELECT body FROM results WHERE subscriber = ? AND subscription = ? AND kind = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (subscriber, subscription, kind)).fetchone()
        return [] if row is None else json.loads(row[0])

    def matched_ids(self) -> set[tuple[str, str]]:
        """Subscriber and subscription of all that are counted."""
        with self._database.reading() as connection:
            return set(connection.execute("SELECT subscriber, subscription FROM matched"))

    def forget_matched(self, subscriber: str, subscription: str) -> None:
        """Its count begins at 0 when it is made again."""
        query = "DELETE FROM matched WHERE subscriber = ? AND subscription = ?"
        with self._database.writing() as connection:
            connection.execute(query, (subscriber, subscription))

    def oldest_after(self, subscriber: str, subscription: str, after: int) -> Event | None:
        """The first event of one subscription beyond `after`."""
        query = (
            f"SELECT {_EVENT} FROM {_EVENTS} WHERE subscriber = ? AND sequence > ? AND"
            " subscription = ? ORDER BY sequence LIMIT 1"
        )
        found = self._events(query, (subscriber, after, subscription))
        return found[0] if found else None

    def counts_between(self, subscriber: str, after: int, last: int) -> dict[str, int]:
        """How many events each subscription has with numbers beyond `after`, up to `last`."""
        query = (
            "SELECT subscription, count(*) FROM events"
            " WHERE subscriber = ? AND sequence > ? AND sequence <= ? GROUP BY subscription"
        )
        with self._database.reading() as connection:
            return dict(connection.execute(query, (subscriber, after, last)).fetchall())

    def rejects(self, after: int, limit: int) -> list[dict[str, object]]:
        """Rows that the pipeline refused, with their reasons, in order."""
        names = ("number", "side", "id", "reason", "row")
        query = f"SELECT {', '.join(names)} FROM rejects WHERE number > ? ORDER BY number LIMIT ?"
        with self._database.reading() as connection:
            rows = connection.execute(query, (after, limit)).fetchall()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _events(self, query: str, values: tuple[object, ...]) -> list[Event]:
        with self._database.reading() as connection:
            return [Event(*row) for row in connection.execute(query, values)]


def open_outbox(folder: DataFolder) -> Database:
    """Its database, made when it is missing."""
    return Database(folder.outbox, "outbox", _TABLES, {})


def _last_sequence(connection: sqlite3.Connection) -> int:
    last: int = connection.execute("SELECT sequence FROM position").fetchone()[0]
    return last
