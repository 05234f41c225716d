"""`Deliveries`: how far each reader has come, webhooks, and what could not be delivered."""

from __future__ import annotations

import base64
import secrets
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass

from nearcast.pipeline.log.database import Database
from nearcast.service.data_folder import DataFolder
from nearcast.service.stores import dead_letters
from nearcast.service.stores.dead_letters import DEAD_LETTER_TABLES, DeadLetter

_TABLES = (
    # The stream of a subscriber has the empty name, a webhook its own.
    """CREATE TABLE cursors
       (subscriber TEXT, reader TEXT, sequence INTEGER NOT NULL,
        PRIMARY KEY (subscriber, reader)) WITHOUT ROWID""",
    """CREATE TABLE webhooks
       (subscriber TEXT, name TEXT, url TEXT NOT NULL, secret TEXT NOT NULL, created REAL NOT NULL,
        PRIMARY KEY (subscriber, name)) WITHOUT ROWID""",
    """CREATE TABLE counts
       (subscriber TEXT, subscription TEXT, delivered INTEGER NOT NULL, failed INTEGER NOT NULL,
        PRIMARY KEY (subscriber, subscription)) WITHOUT ROWID""",
    *DEAD_LETTER_TABLES,
)
# Counts of subscriptions that are gone, so that totals never fall; no subscriber has this name.
_GONE = ("", "")
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


class Deliveries:
    """The state of delivery of a service.  One process at a time; any number of its threads."""

    def __init__(self, folder: DataFolder) -> None:
        self._database = Database(folder.deliveries, "deliveries", _TABLES, {})
        self._adding = threading.Lock()
        query = """SELECT ifnull(sum(delivered), 0), ifnull(sum(failed), 0),
                   (SELECT count(*) FROM dead_letters) FROM counts"""
        with self._database.reading() as connection:
            row = connection.execute(query).fetchone()
        # Added up once: they are asked for all the time.
        self._totals = Counter(dict(zip(("delivered", "failed", "parked"), row, strict=True)))

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
        with self._counting() as (connection, added):
            moved = _move(connection, subscriber, reader, sequence)
            if moved:
                _add(connection, subscriber, "delivered", delivered)
                added["delivered"] += sum(delivered.values())
        return moved

    def counts(self, subscriber: str, subscription: str) -> tuple[int, int]:
        """How many events of a subscription were delivered, and how many were parked."""
        query = "SELECT delivered, failed FROM counts WHERE subscriber = ? AND subscription = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (subscriber, subscription)).fetchone()
        return (0, 0) if row is None else (row[0], row[1])

    def totals(self) -> tuple[int, int]:
        """Delivered and parked, of everybody, ever.  O(1)."""
        return self._totals["delivered"], self._totals["failed"]

    def forget_subscription(self, subscriber: str, subscription: str) -> None:
        """Its counts begin at 0 when it is made again; totals stay."""
        key = subscriber, subscription
        with self._database.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO counts VALUES (?, ?, 0, 0)", _GONE)
            connection.execute(
                """UPDATE counts SET delivered = counts.delivered + old.delivered,
                          failed = counts.failed + old.failed
                   FROM (SELECT * FROM counts WHERE subscriber = ? AND subscription = ?) AS old
                   WHERE counts.subscriber = ? AND counts.subscription = ?""",
                (*key, *_GONE),
            )
            connection.execute("DELETE FROM counts WHERE subscriber = ? AND subscription = ?", key)

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
            connection.execute("INSERT INTO webhooks VALUES (?, ?, ?, ?, ?)", astuple(webhook))
            connection.execute(
                "INSERT OR REPLACE INTO cursors VALUES (?, ?, ?)", (subscriber, name, begin)
            )
        return webhook, True

    def webhook(self, subscriber: str, name: str) -> Webhook | None:
        """The webhook of this name."""
        return next((each for each in self.webhooks(subscriber) if each.name == name), None)

    def webhooks(self, subscriber: str | None = None) -> list[Webhook]:
        """Those of a subscriber, or all."""
        where, values = ("", ()) if subscriber is None else ("WHERE subscriber = ?", (subscriber,))
        query = f"SELECT * FROM webhooks {where} ORDER BY 1, 2"
        with self._database.reading() as connection:
            return [Webhook(*row) for row in connection.execute(query, values)]

    def remove_webhook(self, subscriber: str, name: str) -> bool:
        """Forget it, its cursor and its dead letters; False if there is none."""
        key = subscriber, name
        with self._counting() as (connection, added):
            gone = connection.execute(
                "DELETE FROM webhooks WHERE subscriber = ? AND name = ?", key
            ).rowcount
            connection.execute("DELETE FROM cursors WHERE subscriber = ? AND reader = ?", key)
            added["parked"] -= connection.execute(
                "DELETE FROM dead_letters WHERE subscriber = ? AND webhook = ?", key
            ).rowcount
        return gone > 0

    # ------------------------------------------------------------ dead letters

    def park(self, letters: Sequence[DeadLetter]) -> None:
        """Put events of a webhook aside, in order, and go on behind them; the newest are kept."""
        with self._counting() as (connection, added):
            for letter in letters:
                added["parked"] += dead_letters.put(connection, letter)
                if _move(connection, letter.subscriber, letter.webhook, letter.sequence):
                    _add(connection, letter.subscriber, "failed", {letter.subscription: 1})
                    added["failed"] += 1
            for subscriber, webhook in {(each.subscriber, each.webhook) for each in letters}:
                added["parked"] -= dead_letters.drop_all_but_newest(connection, subscriber, webhook)

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
        with self._database.reading() as connection:
            return dead_letters.find(connection, subscriber, webhook, after, limit, wanted=wanted)

    def redeliver(self, subscriber: str, webhook: str, sequences: Sequence[int] | None) -> int:
        """Ask for dead letters again, for all if None.  How many?"""
        with self._database.writing() as connection:
            return dead_letters.want(connection, subscriber, webhook, sequences)

    def redelivered(self, letter: DeadLetter) -> None:
        """It arrived after all."""
        with self._counting() as (connection, added):
            added["parked"] -= dead_letters.drop(connection, letter)
            _add(connection, letter.subscriber, "delivered", {letter.subscription: 1})
            added["delivered"] += 1

    def count_dead_letters(self) -> int:
        """Of everybody.  O(1)."""
        return self._totals["parked"]

    def forget_dead_letters(self, parked_before: float) -> int:
        """Drop those that nobody asked for in time.  How many?"""
        query = "DELETE FROM dead_letters WHERE parked < ?"
        with self._counting() as (connection, added):
            added["parked"] -= connection.execute(query, (parked_before,)).rowcount
        return -added["parked"]

    @contextmanager
    def _counting(self) -> Iterator[tuple[sqlite3.Connection, Counter[str]]]:
        """A transaction, and what it adds to the totals once it is on the disk."""
        added: Counter[str] = Counter()
        with self._database.writing() as connection:
            yield connection, added
        with self._adding:
            self._totals.update(added)


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
