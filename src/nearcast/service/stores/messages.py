"""`Messages`: publishes into the log, once per id, and remembers what was said for a while.

The log is what counts. This catalogue is made from it: it says how far it has read, and reads on
after a crash, so that an id that reached the log is known even if nobody was told.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nearcast.model import Message
from nearcast.pipeline.log import Log
from nearcast.pipeline.log.database import Database
from nearcast.pipeline.log.rows import message_of
from nearcast.pipeline.log.schema import MESSAGE
from nearcast.service.data_folder import DataFolder
from nearcast.service.documents import message_document
from nearcast.storage import BadFile

_TABLES = (
    # `received` is by the clock of this machine, `body` the JSON of the GeoJSON Feature.
    """CREATE TABLE messages
       (offset INTEGER PRIMARY KEY, id TEXT NOT NULL, received REAL NOT NULL,
        body TEXT NOT NULL)""",
    "CREATE UNIQUE INDEX message_ids ON messages (id)",
    "CREATE TABLE position (read_to INTEGER NOT NULL)",
    "INSERT INTO position VALUES (0)",
)
_ROWS_AT_A_TIME = 10_000
_LETTERS_AT_HAND = 20_000_000  # of bodies: nearly every event is of a message that has just come
_VARIABLES = 500  # of one SQL statement


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a message: its place in the log, and whether its id was new."""

    id: str
    offset: int
    is_new: bool


class Messages:
    """The messages of a service.  One process at a time; any number of its threads."""

    def __init__(self, folder: DataFolder, log: Log) -> None:
        self._log = log
        self._database = Database(folder.messages, "messages", _TABLES, {})
        self._turn = threading.Lock()
        self._waiting: dict[_Publication, None] = {}
        self._is_behind = True
        self._newest: OrderedDict[int, str] = OrderedDict()  # bodies by offset, oldest first
        self._letters = 0  # of these bodies
        with self._database.reading() as connection:
            self._read_to: int = connection.execute("SELECT read_to FROM position").fetchone()[0]

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def publish(self, messages: Sequence[Message]) -> list[Receipt]:
        """Make messages durable; one whose id is known is not published again.

        All or none. What several threads publish at a time shares the writes to the disk.
        """
        publication = _Publication(messages)
        self._waiting[publication] = None
        try:
            with self._turn:
                if publication.receipts is None:
                    self._publish_waiting()
        finally:
            self._waiting.pop(publication, None)
        assert publication.receipts is not None
        return publication.receipts

    @property
    def read_to(self) -> int:
        """Messages of the log below this offset are in the catalogue."""
        return self._read_to

    def get(self, id: str) -> dict[str, Any] | None:
        """The Feature of a message that is still remembered."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT body FROM messages WHERE id = ?", (id,)).fetchone()
        return None if row is None else json.loads(row[0])

    def recent(self, limit: int, before: int | None = None) -> list[tuple[int, str]]:
        """Offsets and bodies, newest first, from below the offset `before` on."""
        query = "SELECT offset, body FROM messages WHERE offset < ? ORDER BY offset DESC LIMIT ?"
        with self._database.reading() as connection:
            rows = connection.execute(query, (2**62 if before is None else before, limit))
            return rows.fetchall()

    def since(self, offset: int, limit: int) -> list[tuple[int, str]]:
        """Offsets and bodies, oldest first, from an offset on."""
        query = "SELECT offset, body FROM messages WHERE offset >= ? ORDER BY offset LIMIT ?"
        with self._database.reading() as connection:
            return connection.execute(query, (offset, limit)).fetchall()

    def bodies(self, offsets: Iterable[int]) -> dict[int, str]:
        """The JSON of messages by offset; those that are forgotten are missing."""
        found: dict[int, str] = {}
        others: list[int] = []
        for offset in set(offsets):
            body = self._newest.get(offset)
            if body is None:
                others.append(offset)
            else:
                found[offset] = body
        if not others:
            return found
        with self._database.reading() as connection:
            for part in _parts(sorted(others)):
                marks = ",".join("?" * len(part))
                query = f"SELECT offset, body FROM messages WHERE offset IN ({marks})"
                found.update(connection.execute(query, part))
        return found

    def catch_up(self) -> None:
        """Read what a crash kept from the catalogue; all publishing waits."""
        with self._turn:
            self._catch_up()

    def forget(self, received_before: float, most: int, processed: int) -> None:
        """Drop messages that are old or too many, from the log too.

        `processed`: the pipeline has read the log up to here; nothing beyond is dropped.
        """
        young = "SELECT offset FROM messages WHERE received >= ? ORDER BY offset LIMIT 1"
        with self._turn:
            with self._database.writing() as connection:
                first_young = connection.execute(young, (received_before,)).fetchone()
                # By offsets, which is quick; changes of subscriptions have offsets too.
                begin = max((first_young or (processed,))[0], self._read_to - most)
                begin = min(begin, processed)
                connection.execute("DELETE FROM messages WHERE offset < ?", (begin,))
            self._keep_at_hand(lambda: next(iter(self._newest)) >= begin)
            self._log.trim(begin)

    def _publish_waiting(self) -> None:
        together = list(self._waiting)
        if self._is_behind:
            self._catch_up()
        fresh: dict[str, Message] = {}
        for publication in together:
            for message in publication.messages:
                fresh.setdefault(str(message.id), message)
        known = self._offsets_of(list(fresh))
        new = {id: message for id, message in fresh.items() if id not in known}
        self._is_behind = True  # until the catalogue has what the log has
        offsets = self._log.publish(new.values())
        known_now = known | dict(zip(new, offsets, strict=True))
        if new:
            self._insert(
                [(offsets[i], message) for i, message in enumerate(new.values())], offsets.stop
            )
        self._is_behind = False
        for publication in together:
            publication.receipts = []
            for message in publication.messages:
                id = str(message.id)
                is_new = new.pop(id, None) is not None
                publication.receipts.append(Receipt(id, known_now[id], is_new))
            self._waiting.pop(publication, None)

    def _catch_up(self) -> None:
        first, end = max(self.read_to, self._log.start), self._log.end
        if first > end:
            raise BadFile(
                f"{self._log.path} ends at {end}, but messages up to {first} were read from it: it "
                "is damaged or another log; restore the whole data folder"
            )
        while first < end:
            last = min(end, first + _ROWS_AT_A_TIME)
            rows = self._log.read(first, last).to_pylist()
            self._insert(
                [(row["offset"], message_of(row)) for row in rows if row["kind"] == MESSAGE], last
            )
            first = last
        self._is_behind = False

    def _insert(self, rows: list[tuple[int, Message]], read_to: int) -> None:
        now = time.time()
        values = [
            (offset, str(message.id), now, json.dumps(message_document(message)))
            for offset, message in rows
        ]
        with self._database.writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO messages VALUES (?, ?, ?, ?)", values)
            connection.execute("UPDATE position SET read_to = ?", (read_to,))
        for offset, _, _, body in values:
            self._newest[offset] = body
            self._letters += len(body)
        self._keep_at_hand(lambda: self._letters <= _LETTERS_AT_HAND)
        self._read_to = read_to  # last: who sees it finds the bodies

    def _keep_at_hand(self, is_enough: Callable[[], bool]) -> None:
        """Let go of the oldest bodies until it is enough."""
        while self._newest and not is_enough():
            self._letters -= len(self._newest.popitem(last=False)[1])

    def _offsets_of(self, ids: list[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        with self._database.reading() as connection:
            for part in _parts(ids):
                marks = ",".join("?" * len(part))
                query = f"SELECT id, offset FROM messages WHERE id IN ({marks})"
                found.update(connection.execute(query, part))
        return found


class _Publication:
    """Messages that wait for their turn, and what became of them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.receipts: list[Receipt] | None = None


def _parts(values: list[Any]) -> Iterable[list[Any]]:
    return (values[i : i + _VARIABLES] for i in range(0, len(values), _VARIABLES))
