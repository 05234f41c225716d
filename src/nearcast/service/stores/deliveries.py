"""`Deliveries`: how far each reader has come, webhooks, and what could not be delivered."""

from __future__ import annotations

import base64
import secrets
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nearcast.pipeline.log.database import Database
from nearcast.service.data_folder import DataFolder

_TABLES = (
    # The stream of a subscriber has the empty name, a webhook its own.
    """CREATE TABLE cursors
       (subscriber TEXT, reader TEXT, sequence INTEGER NOT NULL,
        PRIMARY KEY (subscriber, reader)) WITHOUT ROWID""",
    """CREATE TABLE webhooks
       (subscriber TEXT, name TEXT, url TEXT NOT NULL, secret TEXT NOT NULL, created REAL NOT NULL,
        PRIMARY KEY (subscriber, name)) WITHOUT ROWID""",
    """CREATE TABLE dead_letters
       (subscriber TEXT, webhook TEXT, sequence INTEGER, subscription TEXT NOT NULL,
        body TEXT NOT NULL, reason TEXT NOT NULL, attempts INTEGER NOT NULL, parked REAL NOT NULL,
        wanted INTEGER NOT NULL, PRIMARY KEY (subscriber, webhook, sequence)) WITHOUT ROWID""",
    """CREATE TABLE counts
       (subscriber TEXT, subscription TEXT, delivered INTEGER NOT NULL, failed INTEGER NOT NULL,
        PRIMARY KEY (subscriber, subscription)) WITHOUT ROWID""",
)
STREAM = ""
"""The reader that is a subscriber's own stream, by server-sent events, WebSocket or polling."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where a subscriber wants its events posted; `secret` signs them."""

    subscriber: str
    name: str
    url: str
    secret: str
    created: float


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that a webhook did not take.

    - `body`: the JSON of the event
    - `wanted`: 1 when it is to be delivered again
    """

    subscriber: str
    webhook: str
    sequence: int
    subscription: str
    body: str
    reason: str
    attempts: int
    parked: float
    wanted: int = 0


_DEAD_LETTER = "subscriber, webhook, sequence, subscription, body, reason, attempts, parked, wanted"


class Deliveries:
    """The state of delivery of a service.  One process at a time; any number of its threads."""

    def __init__(self, folder: DataFolder) -> None:
        self._database = Database(folder.deliveries, "deliveries", _TABLES, {})

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    # ------------------------------------------------------------ cursors and counts

    def cursor(self, subscriber: str, reader: str = STREAM) -> int:
        """The number of the last event that was acknowledged, 0 for none."""
        query = "SELECT sequence FROM cursors WHERE subscriber = ? AND reader = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (subscriber, reader)).fetchone()
        return 0 if row is None else row[0]

    def acknowledge(
        self, subscriber: str, sequence: int, delivered: Mapping[str, int], reader: str = STREAM
    ) -> bool:
        """All up to `sequence` has arrived: so many of each subscription.  False: known before."""
        with self._database.writing() as connection:
            moved = _move(connection, subscriber, reader, sequence)
            if moved:
                _add(connection, subscriber, "delivered", delivered)
            return moved

    def counts(self, subscriber: str, subscription: str) -> tuple[int, int]:
        """How many events of a subscription were delivered, and how many were parked."""
        query = "SELECT delivered, failed FROM counts WHERE subscriber = ? AND subscription = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (subscriber, subscription)).fetchone()
        return (0, 0) if row is None else (row[0], row[1])

    def totals(self) -> tuple[int, int]:
        """Delivered and parked, of everybody."""
        query = "SELECT ifnull(sum(delivered), 0), ifnull(sum(failed), 0) FROM counts"
        with self._database.reading() as connection:
            delivered, failed = connection.execute(query).fetchone()
        return delivered, failed

    # ------------------------------------------------------------ webhooks

    def put_webhook(self, subscriber: str, name: str, url: str, begin: int) -> tuple[Webhook, bool]:
        """Register a webhook, or give one another address; it is new, or keeps its secret.

        A new one gets the events after the number `begin`.
        """
        with self._database.writing() as connection:
            row = connection.execute(
                "SELECT * FROM webhooks WHERE subscriber = ? AND name = ?", (subscriber, name)
            ).fetchone()
            if row is not None:
                connection.execute(
                    "UPDATE webhooks SET url = ? WHERE subscriber = ? AND name = ?",
                    (url, subscriber, name),
                )
                return Webhook(subscriber, name, url, row[3], row[4]), False
            # In the form of the Standard Webhooks specification.
            secret = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
            webhook = Webhook(subscriber, name, url, secret, round(time.time(), 3))
            connection.execute(
                "INSERT INTO webhooks VALUES (?, ?, ?, ?, ?)",
                (subscriber, name, url, secret, webhook.created),
            )
            connection.execute(
                "INSERT OR REPLACE INTO cursors VALUES (?, ?, ?)", (subscriber, name, begin)
            )
        return webhook, True

    def webhook(self, subscriber: str, name: str) -> Webhook | None:
        """The webhook of this name."""
        return next((each for each in self.webhooks(subscriber) if each.name == name), None)

    def webhooks(self, subscriber: str | None = None) -> list[Webhook]:
        """Those of a subscriber, or all."""
        query, values = "SELECT * FROM webhooks", ()
        if subscriber is not None:
            query, values = f"{query} WHERE subscriber = ?", (subscriber,)  # type: ignore[assignment]
        with self._database.reading() as connection:
            return [Webhook(*row) for row in connection.execute(f"{query} ORDER BY 1, 2", values)]

    def remove_webhook(self, subscriber: str, name: str) -> bool:
        """Forget it, its cursor and its dead letters; False if there is none."""
        key = subscriber, name
        with self._database.writing() as connection:
            gone = connection.execute(
                "DELETE FROM webhooks WHERE subscriber = ? AND name = ?", key
            ).rowcount
            connection.execute("DELETE FROM cursors WHERE subscriber = ? AND reader = ?", key)
            connection.execute("DELETE FROM dead_letters WHERE subscriber = ? AND webhook = ?", key)
        return gone > 0

    # ------------------------------------------------------------ dead letters

    def park(self, letters: Sequence[DeadLetter]) -> None:
        """Put events of one webhook aside, in order, and go on behind them."""
        with self._database.writing() as connection:
            for letter in letters:
                connection.execute(
                    "INSERT OR REPLACE INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        letter.subscriber,
                        letter.webhook,
                        letter.sequence,
                        letter.subscription,
                        letter.body,
                        letter.reason,
                        letter.attempts,
                        letter.parked,
                        letter.wanted,
                    ),
                )
                if _move(connection, letter.subscriber, letter.webhook, letter.sequence):
                    _add(connection, letter.subscriber, "failed", {letter.subscription: 1})

    def dead_letters(
        self,
        subscriber: str,
        webhook: str | None = None,
        *,
        after: int = 0,
        limit: int = 100,
        wanted: bool = False,
    ) -> list[DeadLetter]:
        """In order; of one webhook, or all; or only those to be delivered again."""
        query = f"SELECT {_DEAD_LETTER} FROM dead_letters WHERE subscriber = ? AND sequence > ?"
        values: list[object] = [subscriber, after]
        if webhook is not None:
            query += " AND webhook = ?"
            values.append(webhook)
        if wanted:
            query += " AND wanted = 1"
        with self._database.reading() as connection:
            rows = connection.execute(f"{query} ORDER BY sequence LIMIT ?", (*values, limit))
            return [DeadLetter(*row) for row in rows]

    def redeliver(self, subscriber: str, webhook: str, sequences: Sequence[int] | None) -> int:
        """Ask for dead letters again, for all if None.  How many?"""
        query = "UPDATE dead_letters SET wanted = 1 WHERE subscriber = ? AND webhook = ?"
        with self._database.writing() as connection:
            if sequences is None:
                return connection.execute(query, (subscriber, webhook)).rowcount
            return sum(
                connection.execute(
                    f"{query} AND sequence = ?", (subscriber, webhook, each)
                ).rowcount
                for each in sequences
            )

    def redelivered(self, letter: DeadLetter) -> None:
        """It arrived after all."""
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM dead_letters WHERE subscriber = ? AND webhook = ? AND sequence = ?",
                (letter.subscriber, letter.webhook, letter.sequence),
            )
            _add(connection, letter.subscriber, "delivered", {letter.subscription: 1})

    def count_dead_letters(self) -> int:
        """Of everybody."""
        with self._database.reading() as connection:
            count: int = connection.execute("SELECT count(*) FROM dead_letters").fetchone()[0]
        return count

    def forget_dead_letters(self, parked_before: float) -> int:
        """Drop those that nobody asked for in time.  How many?"""
        query = "DELETE FROM dead_letters WHERE parked < ?"
        with self._database.writing() as connection:
            return connection.execute(query, (parked_before,)).rowcount


def _move(connection: sqlite3.Connection, subscriber: str, reader: str, sequence: int) -> bool:
    """Forward only."""
    moved = connection.execute(
        """INSERT INTO cursors VALUES (?, ?, ?) ON CONFLICT DO UPDATE
           SET sequence = excluded.sequence WHERE excluded.sequence > sequence""",
        (subscriber, reader, sequence),
    )
    return moved.rowcount > 0


def _add(
    connection: sqlite3.Connection, subscriber: str, column: str, numbers: Mapping[str, int]
) -> None:
    connection.executemany(
        """INSERT INTO counts (subscriber, subscription, delivered, failed) VALUES (?, ?, 0, 0)
            ON CONFLICT DO NOTHING""",
        [(subscriber, subscription) for subscription in numbers],
    )
    connection.executemany(
        f"""UPDATE counts SET {column} = {column} + ?
            WHERE subscriber = ? AND subscription = ?""",
        [(number, subscriber, subscription) for subscription, number in numbers.items()],
    )
