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
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nearcast.model import NearbyTrendingSubscription, Point, Region, TopKSubscription
from nearcast.pipeline.log import Log
from nearcast.pipeline.log.database import Database
from nearcast.pipeline.log.hosted_rows import Hosted
from nearcast.pipeline.log.rows import AnySubscription
from nearcast.service.documents import (
    Position,
    moved_to,
    named,
    subscription_document,
    subscription_from,
)

SUBSCRIPTION_TABLES = (
    # `state`: 0 in the log; to be logged: 1 that it is there; 2 that it is gone; 3 where it is now;
    # 4 the same, and that it asks how far it may go.
    """CREATE TABLE subscriptions
       (owner TEXT, id TEXT, document TEXT NOT NULL, created REAL NOT NULL, expires REAL,
        state INTEGER NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID""",
    "CREATE INDEX expiring ON subscriptions (expires) WHERE expires IS NOT NULL",
    "CREATE INDEX unlogged ON subscriptions (state) WHERE state > 0",
)

_NEW, _GONE, _MOVED, _MOVED_ASKING = 1, 2, 3, 4
_COLUMNS = "owner, id, document, created, expires"


class NoRoom(ValueError):
    """It would be more subscriptions than one subscriber may have."""


class Entry(NamedTuple):
    """A subscription, the time at which it ends, if it does, and its keywords as typed.

    They are kept as typed because the expression made from them may be much longer.
    """

    subscription: AnySubscription
    expires: float | None = None
    keywords: str | list[str] | None = None


@dataclass(frozen=True, slots=True)
class Registered:
    """A subscription, whose it is, and since and until when; `document` has it as it was typed."""

    owner: str
    subscription: AnySubscription
    created: float
    expires: float | None
    document: dict[str, Any]

    @property
    def id(self) -> str:
        """As its owner calls it."""
        return str(self.subscription.id)

    @property
    def pipeline_id(self) -> str:
        """As the pipeline calls it."""
        return pipeline_id(self.owner, self.id)

    @property
    def place(self) -> Region | Point:
        """Where it is, of one that has moved."""
        subscription = self.subscription
        if isinstance(subscription, TopKSubscription | NearbyTrendingSubscription):
            return subscription.at
        assert subscription.region is not None
        return subscription.region


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
        self._moves: dict[_Moves, None] = {}  # that wait for their turn
        self._turn = threading.Lock()  # the log has changes in the order of the table
        query = f"SELECT owner, count(*) FROM subscriptions WHERE state != {_GONE} GROUP BY owner"
        with database.reading() as connection:
            self._counts: Counter[str] = Counter(dict(connection.execute(query)))
        self._total = self._counts.total()
        self.log_again()

    def put(self, owner: str, entries: Sequence[Entry], most: int | None = None) -> list[bool]:
        """Register or replace, all or none; durable on return.  Which of them are new?

        NoRoom, and nothing is done, when the owner would have more than `most`.
        """
        now = round(time.time(), 3)
        with self._turn:
            with self._database.writing() as connection:
                new = [_upsert(connection, owner, entry, now) for entry in entries]
                if most is not None:
                    self._check_room(owner, sum(new), most)
            self._count(owner, sum(new))
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
            self._count(owner, -sum(found))
            self._log_marked()
        return found

    def move(self, owner: str, positions: Sequence[Position]) -> list[str | None]:
        """Subscriptions are elsewhere now; durable on return.

        The answer has None for each position that counts, and for each other one the rule that it
        breaks; it changes nothing. Positions of one subscription count one after the other. What
        several threads say at a time shares the writes to the disk.
        """
        moves = _Moves(owner, positions)
        self._moves[moves] = None
        try:
            with self._turn:
                if not moves.is_done:
                    self._move_all()
        finally:
            self._moves.pop(moves, None)
        return moves.problems

    def expire(self, now: float) -> int:
        """Withdraw those whose time is up.  How many?"""
        where = f"WHERE expires <= ? AND state != {_GONE}"
        owners = f"SELECT owner, count(*) FROM subscriptions {where} GROUP BY owner"
        with self._turn:
            with self._database.writing() as connection:
                ended = dict(connection.execute(owners, (now,)))
                if ended:
                    connection.execute(f"UPDATE subscriptions SET state = {_GONE} {where}", (now,))
            for owner, count in ended.items():
                self._count(owner, -count)
            if ended:
                self._log_marked()
        return sum(ended.values())

    def get(self, owner: str, id: str) -> Registered | None:
        """The subscription of this owner and id."""
        found = self._select("owner = ? AND id = ?", (owner, id), 1)
        return found[0] if found else None

    def page(self, owner: str, limit: int, after: str = "") -> list[Registered]:
        """In the order of ids, those behind `after`."""
        return self._select("owner = ? AND id > ?", (owner, after), limit)

    def ids(self) -> set[tuple[str, str]]:
        """Owner and id of all there are."""
        query = f"SELECT owner, id FROM subscriptions WHERE state != {_GONE}"
        with self._database.reading() as connection:
            return set(connection.execute(query))

    def count(self, owner: str | None = None) -> int:
        """How many an owner has, or all have together.  O(1)."""
        return self._total if owner is None else self._counts[owner]

    def log_again(self) -> None:
        """Log what a crash, or a full disk, kept from the log."""
        with self._turn:
            self._log_marked()

    def _move_all(self) -> None:
        """Everybody's positions that wait."""
        together = list(self._moves)
        for run in _of_different_ids(together):
            with self._database.writing() as connection:
                found = [_move(connection, moves.owner, position) for moves, position in run]
            self._log_marked()
            for (moves, _), problem in zip(run, found, strict=True):
                moves.problems.append(problem)
        for moves in together:
            self._moves.pop(moves, None)

    def _check_room(self, owner: str, new: int, most: int) -> None:
        count = self._counts[owner]
        if new and count + new > most:
            raise NoRoom(
                f"{owner!r} has {count:,} subscriptions, {new:,} more would exceed {most:,}; "
                "delete some, or let the operator raise most_subscriptions"
            )

    def _count(self, owner: str, change: int) -> None:
        self._counts[owner] += change
        self._total += change
        if not self._counts[owner]:
            del self._counts[owner]  # visitors come and go

    def _log_marked(self) -> None:
        query = f"SELECT {_COLUMNS}, state FROM subscriptions WHERE state > 0"
        with self._database.reading() as connection:
            rows = connection.execute(query).fetchall()
        if not rows:
            return
        new = [_registered(row[:5]) for row in rows if row[5] == _NEW]
        ended = [_registered(row[:5]) for row in rows if row[5] == _GONE]
        moved = [
            (_registered(row[:5]), row[5] == _MOVED_ASKING)
            for row in rows
            if row[5] in (_MOVED, _MOVED_ASKING)
        ]
        if new:
            self._log.subscribe(named(each.subscription, each.pipeline_id) for each in new)
        if moved:
            self._log.move((each.pipeline_id, each.place, asks) for each, asks in moved)
        boolean: list[str] = []
        hosted: list[str] = []
        for each in ended:
            is_hosted = isinstance(each.subscription, Hosted)
            (hosted if is_hosted else boolean).append(each.pipeline_id)
        if boolean:
            self._log.unsubscribe(boolean)
        if hosted:
            self._log.unsubscribe_hosted(hosted)
        gone = [(each.owner, each.id) for each in ended]
        with self._database.writing() as connection:
            connection.executemany(
                "UPDATE subscriptions SET state = 0 WHERE owner = ? AND id = ?",
                [(each.owner, each.id) for each in [*new, *(each for each, _ in moved)]],
            )
            connection.executemany("DELETE FROM subscriptions WHERE owner = ? AND id = ?", gone)

    def _select(self, where: str, values: tuple[object, ...], limit: int) -> list[Registered]:
        query = (
            f"SELECT {_COLUMNS} FROM subscriptions WHERE {where} AND state != {_GONE}"
            " ORDER BY owner, id LIMIT ?"
        )
        with self._database.reading() as connection:
            rows = connection.execute(query, (*values, limit)).fetchall()
        return [_registered(row) for row in rows]  # others may read meanwhile


def _upsert(connection: sqlite3.Connection, owner: str, entry: Entry, now: float) -> bool:
    key = owner, str(entry.subscription.id)
    known = "SELECT 1 FROM subscriptions WHERE owner = ? AND id = ? AND state != 2"
    is_new = connection.execute(known, key).fetchone() is None
    typed = {} if entry.keywords is None else {"keywords": entry.keywords}
    document = json.dumps(subscription_document(entry.subscription, **typed))
    connection.execute(
        """INSERT INTO subscriptions VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET document = excluded.document, expires = excluded.expires,
           created = iif(state = 2, excluded.created, created), state = excluded.state""",
        (*key, document, now, entry.expires, _NEW),
    )
    return is_new


def _move(connection: sqlite3.Connection, owner: str, position: Position) -> str | None:
    """Note where a subscription is now; the rule that forbids it, if one does."""
    key = owner, position.id
    query = "SELECT document FROM subscriptions WHERE owner = ? AND id = ? AND state != 2"
    row = connection.execute(query, key).fetchone()
    if row is None:
        return f"you have no subscription {position.id!r}; GET /v1/subscriptions lists yours"
    old = json.loads(row[0])
    last, time = old["properties"].get("moved"), position.time
    if time is not None and last is not None and time < last:
        return (
            f"subscription {position.id!r}: a position of time {time} comes after one of {last}; "
            "send positions in order, or without a time"
        )
    try:
        subscription = moved_to(subscription_from(old, position.id), position.place)
    except (TypeError, ValueError) as error:
        return str(error)
    kept = {name: old["properties"][name] for name in ("keywords",) if name in old["properties"]}
    if (moved := time if time is not None else last) is not None:
        kept["moved"] = moved
    document = json.dumps(subscription_document(subscription, **kept))
    connection.execute(
        """UPDATE subscriptions SET document = ?, state = iif(state = 1, 1, ?)
           WHERE owner = ? AND id = ?""",
        (document, _MOVED_ASKING if position.wants_safe else _MOVED, *key),
    )
    return None


class _Moves:
    """Positions of one owner that wait for their turn, and what became of each."""

    def __init__(self, owner: str, positions: Sequence[Position]) -> None:
        self.owner = owner
        self.positions = positions
        self.problems: list[str | None] = []

    @property
    def is_done(self) -> bool:
        """Has somebody else seen to it?"""
        return len(self.problems) == len(self.positions)


def _of_different_ids(together: Sequence[_Moves]) -> Iterator[list[tuple[_Moves, Position]]]:
    """Runs of positions, in their order, in which no subscription is twice."""
    run: dict[tuple[str, str], tuple[_Moves, Position]] = {}
    for moves in together:
        for position in moves.positions[len(moves.problems) :]:  # a full disk may have cut it short
            key = moves.owner, position.id
            if key in run:
                yield list(run.values())
                run = {}
            run[key] = moves, position
    if run:
        yield list(run.values())


def _registered(row: tuple[str, str, str, float, float | None]) -> Registered:
    owner, id, text, created, expires = row
    document = json.loads(text)
    return Registered(owner, subscription_from(document, id), created, expires, document)
