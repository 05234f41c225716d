"""`DeadLetter`: an event that a webhook did not take, and the table of all of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import astuple, dataclass

MOST_KEPT = 10_000
"""Of one webhook; beyond, the oldest are dropped."""

DEAD_LETTER_TABLES = (
    """CREATE TABLE dead_letters
       (subscriber TEXT, webhook TEXT, sequence INTEGER, subscription TEXT NOT NULL,
        body TEXT NOT NULL, reason TEXT NOT NULL, attempts INTEGER NOT NULL, parked REAL NOT NULL,
        wanted INTEGER NOT NULL, PRIMARY KEY (subscriber, webhook, sequence)) WITHOUT ROWID""",
    "CREATE INDEX by_parked ON dead_letters (parked)",
)


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


def put(connection: sqlite3.Connection, letter: DeadLetter) -> bool:
    """Keep it, in place of an earlier one of the same event.  Is it new?"""
    known = drop(connection, letter)
    connection.execute(
        "INSERT INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(letter)
    )
    return not known


def drop(connection: sqlite3.Connection, letter: DeadLetter) -> bool:
    """False when it is no longer there."""
    gone = connection.execute(
        "DELETE FROM dead_letters WHERE subscriber = ? AND webhook = ? AND sequence = ?",
        (letter.subscriber, letter.webhook, letter.sequence),
    )
    return gone.rowcount > 0


def want(
    connection: sqlite3.Connection, subscriber: str, webhook: str, sequences: Sequence[int] | None
) -> int:
    """Mark those to be delivered again, all if None.  How many?"""
    query = "UPDATE dead_letters SET wanted = 1 WHERE subscriber = ? AND webhook = ?"
    if sequences is None:
        return connection.execute(query, (subscriber, webhook)).rowcount
    return sum(
        connection.execute(f"{query} AND sequence = ?", (subscriber, webhook, each)).rowcount
        for each in sequences
    )


def drop_all_but_newest(connection: sqlite3.Connection, subscriber: str, webhook: str) -> int:
    """Keep `MOST_KEPT` of a webhook.  How many were too many?"""
    gone = connection.execute(
        """DELETE FROM dead_letters WHERE subscriber = ?1 AND webhook = ?2 AND sequence <=
           (SELECT sequence FROM dead_letters WHERE subscriber = ?1 AND webhook = ?2
            ORDER BY sequence DESC LIMIT 1 OFFSET ?3)""",
        (subscriber, webhook, MOST_KEPT),
    )
    return gone.rowcount


def find(
    connection: sqlite3.Connection,
    subscriber: str,
    webhook: str | None,
    after: int,
    limit: int,
    *,
    wanted: bool,
) -> list[DeadLetter]:
    """In order; of one webhook, or all; or only those to be delivered again."""
    query = "SELECT * FROM dead_letters WHERE subscriber = ? AND sequence > ?"
    values: list[object] = [subscriber, after]
    if webhook is not None:
        query += " AND webhook = ?"
        values.append(webhook)
    if wanted:
        query += " AND wanted = 1"
    rows = connection.execute(f"{query} ORDER BY sequence LIMIT ?", (*values, limit)).fetchall()
    return [DeadLetter(*row) for row in rows]
