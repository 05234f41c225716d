"""`Subscriptions`: what each subscriber has asked for, until when.

A change is written here first, with a mark that the log does not have it, then into the log, then
the mark goes. Who is told of it can rely on both; after a crash the marked ones are logged again,
which changes nothing if they were.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from nearcast.model import Subscription
from nearcast.pipeline.log import Log
from nearcast.pipeline.log.database import Database
from nearcast.service.documents import subscription_document, subscription_from

SUBSCRIPTION_TABLES = (
    # `state`: 0 in the log; 1 to be logged; 2 gone, and that is to be logged.
    """CREATE TABLE subscriptions
       (owner TEXT, id TEXT, document TEXT NOT NULL, created REAL NOT NULL, expires REAL,
        state INTEGER NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID""",
    "CREATE INDEX expiring ON subscriptions (expires) WHERE expires IS NOT NULL",
    "CREATE INDEX unlogged ON subscriptions (state) WHERE state > 0",
)

_LOGGED, _NEW, _GONE = 0, 1, 2
_COLUMNS = "owner, id, document, created, expires"


@dataclass(frozen=True, slots=True)
class Registered:
    """A subscription, whose it is, and since and until when."""

    owner: str
    subscription: Subscription
    created: float
    expires: float | None

    @property
    def id(self) -> str:
        """As its owner calls it."""
        return str(self.subscription.id)


def pipeline_id(owner: str, id: str) -> str:
    """What the pipeline calls a subscription: two subscribers may use one name."""
    return f"{owner}/{id}"


def owner_and_id(pipeline_id: str) -> tuple[str, str]:
    """The way back.

    >>> owner_and_id(pipeline_id("ann", "cafe"))
    ('ann', 'cafe')
    """
    owner, _, id = pipeline_id.partition("/")
    return owner, id


class Subscriptions:
    """The subscriptions of a service.  One process at a time; any number of its threads."""

    def __init__(self, database: Database, log: Log) -> None:
        self._database = database
        self._log = log
        self._turn = threading.Lock()  # the log has changes in the order of the table
        self.log_again()

    def put(self, owner: str, entries: Sequence[tuple[Subscription, float | None]]) -> list[bool]:
        """Register or replace, all or none; durable on return.  Which of them are new?

        An entry is a subscription and the time at which it ends, if it does.
        """
        now = round(time.time(), 3)
        with self._turn:
            with self._database.writing() as connection:
                new = [_upsert(connection, owner, *entry, now) for entry in entries]
            self._log_marked()
        return new

    def remove(self, owner: str, ids: Sequence[str]) -> list[bool]:
        """Withdraw; durable on return.  Which of them were there?"""
        query = "UPDATE subscriptions SET state = ? WHERE owner = ? AND id = ? AND state != ?"
        with self._turn:
            with self._database.writing() as connection:
                found = [
                    connection.execute(query, (_GONE, owner, id, _GONE)).rowcount > 0 for id in ids
                ]
            self._log_marked()
        return found

    def expire(self, now: float) -> int:
        """Withdraw those whose time is up.  How many?"""
        query = "UPDATE subscriptions SET state = ? WHERE expires <= ? AND state != ?"
        with self._turn:
            with self._database.writing() as connection:
                count = connection.execute(query, (_GONE, now, _GONE)).rowcount
            if count:
                self._log_marked()
        return count

    def get(self, owner: str, id: str) -> Registered | None:
        """The subscription of this owner and id."""
        found = self._select("owner = ? AND id = ?", (owner, id), 1)
        return found[0] if found else None

    def page(self, owner: str, limit: int, after: str = "") -> list[Registered]:
        """In the order of ids, those behind `after`."""
        return self._select("owner = ? AND id > ?", (owner, after), limit)

    def all(self, limit: int, after: tuple[str, str] = ("", "")) -> list[Registered]:
        """Of every owner, in the order of owners and ids, those behind `after`."""
        return self._select("(owner, id) > (?, ?)", after, limit)

    def count(self, owner: str | None = None) -> int:
        """How many an owner has, or all have together."""
        query = "SELECT count(*) FROM subscriptions WHERE state != ?"
        values: tuple[object, ...] = (_GONE,)
        if owner is not None:
            query, values = f"{query} AND owner = ?", (*values, owner)
        with self._database.reading() as connection:
            count: int = connection.execute(query, values).fetchone()[0]
        return count

    def log_again(self) -> None:
        """Log what a crash, or a full disk, kept from the log."""
        with self._turn:
            self._log_marked()

    def _log_marked(self) -> None:
        query = f"SELECT {_COLUMNS}, state FROM subscriptions WHERE state > 0"
        with self._database.reading() as connection:
            rows = connection.execute(query).fetchall()
        if not rows:
            return
        new = [_registered(row[:5]) for row in rows if row[5] == _NEW]
        gone = [(row[0], row[1]) for row in rows if row[5] == _GONE]
        self._log.subscribe(
            Subscription(
                pipeline_id(each.owner, each.id),
                each.subscription.expression,
                each.subscription.region,
            )
            for each in new
        )
        self._log.unsubscribe([pipeline_id(owner, id) for owner, id in gone])
        with self._database.writing() as connection:
            connection.executemany(
                "UPDATE subscriptions SET state = 0 WHERE owner = ? AND id = ?",
                [(each.owner, each.id) for each in new],
            )
            connection.executemany("DELETE FROM subscriptions WHERE owner = ? AND id = ?", gone)

    def _select(self, where: str, values: tuple[object, ...], limit: int) -> list[Registered]:
        query = (
            f"SELECT {_COLUMNS} FROM subscriptions WHERE {where} AND state != {_GONE}"
            " ORDER BY owner, id LIMIT ?"
        )
        with self._database.reading() as connection:
            return [_registered(row) for row in connection.execute(query, (*values, limit))]


def _upsert(
    connection: sqlite3.Connection,
    owner: str,
    subscription: Subscription,
    expires: float | None,
    now: float,
) -> bool:
    key = owner, str(subscription.id)
    known = "SELECT 1 FROM subscriptions WHERE owner = ? AND id = ? AND state != 2"
    is_new = connection.execute(known, key).fetchone() is None
    document = json.dumps(subscription_document(subscription))
    connection.execute(
        """INSERT INTO subscriptions VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET document = excluded.document, expires = excluded.expires,
           created = iif(state = 2, excluded.created, created), state = excluded.state""",
        (*key, document, now, expires, _NEW),
    )
    return is_new


def _registered(row: tuple[str, str, str, float, float | None]) -> Registered:
    owner, id, document, created, expires = row
    return Registered(owner, subscription_from(json.loads(document), id), created, expires)
