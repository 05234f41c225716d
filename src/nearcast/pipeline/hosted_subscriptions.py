"""`HostedSubscriptions`: the subscriptions of a log that have results of their own, in one process.

    <folder>/00000000000000012345.near   what the rows below offset 12345 have made: a snapshot

They live in a `Broker` of the driver's. After a restart the newest snapshot is loaded and the rows
behind it are read again, so that a batch that is run again finds everything as it was and tells the
same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nearcast.broker import Broker
from nearcast.broker.broker import HALF_LIFE, RECENT
from nearcast.model import Id, Notification, Space
from nearcast.pipeline.log import Log
from nearcast.pipeline.log.hosted_rows import hosted_subscription, place_of, result_kind
from nearcast.pipeline.log.rows import message_of
from nearcast.pipeline.log.schema import ADVANCE, MESSAGE, MOVE, SUBSCRIBE_HOSTED
from nearcast.pipeline.rows import BOX, POINT, read_messages
from nearcast.pipeline.safe_distance import SafeDistance, SafeDistances, is_hidden
from nearcast.topk import WordLists
from nearcast.topk.windows import CountWindow, Window

ROWS_AT_A_TIME = 10_000
_COLUMNS = ["id", "text", *POINT, *BOX, "time", "expires"]
ROWS_A_SNAPSHOT, SUBSCRIPTIONS_A_ROW = 5_000, 10
"""A snapshot is due after so many rows, and one more for so many subscriptions: they are in it.
A restart plays the rows behind it again, at a millisecond or two each."""


@dataclass(frozen=True, slots=True)
class HostedChange:
    """A result changed when the row at `position` of the log came.

    `cause` is the id of the message that this row was, None where it was something else.
    """

    position: int
    cause: Id | None
    told: Notification | SafeDistance


class Result(NamedTuple):
    """What a subscription has: messages or terms, and the kind of its notifications.

    - `kind`: `top`, ids with scores; `trend`, terms with scores; `enter`, ids
    """

    kind: str
    items: list[Any]


@dataclass(slots=True)
class HostedOutput:
    """What rows of the log did.

    - `changes`: in their order
    - `results`: those that changed or began, as they are afterwards; None: it has ended
    - `rejects`: rows that break a rule, like those of a batch
    """

    changes: list[HostedChange] = field(default_factory=list)
    results: dict[Id, Result | None] = field(default_factory=dict)
    rejects: list[dict[str, Any]] = field(default_factory=list)


class HostedSubscriptions:
    """Follows a log and keeps the results of its top-k, trending and moving subscriptions.

    `window`, `max_dist` and `half_life` count when the folder is new; a snapshot has its own.

    >>> from nearcast.model import Message, Point, TopKSubscription
    >>> from nearcast.topk import CountWindow
    >>> log = Log(getfixture("tmp_path") / "log")
    >>> hosted = HostedSubscriptions(getfixture("tmp_path") / "results", log, CountWindow(100))
    >>> _ = log.subscribe([TopKSubscription("lunch", "ramen", Point(139.7, 35.7))])
    >>> _ = log.publish([Message("m1", text="Ramen!", at=Point(139.7, 35.7))])
    >>> [found] = hosted.apply(range(0, 2)).changes
    >>> found.position, found.cause, found.told.results
    (1, 'm1', (('m1', 1.0),))
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        log: Log,
        window: Window,
        max_dist: float | None = None,
        half_life: float = HALF_LIFE,
    ) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log = log
        self._window = window
        self.saved: int | None = None
        """The log is needed from this offset on; None before the first rows."""
        for broken in self._folder.glob(".*.near.*"):
            broken.unlink()  # whoever wrote it was killed
        snapshots = sorted(self._folder.glob("*.near"))
        if snapshots:
            self.saved = int(snapshots[-1].stem)
            self._broker = Broker.load(snapshots[-1])
        else:
            top = WordLists(window, max_dist=max_dist, lateness=inf)
            self._broker = Broker(top=top, half_life=half_life)
        self._safe = SafeDistances(self._broker)
        self._offset = self.saved

    def __len__(self) -> int:
        return len(self._broker)

    @property
    def next_expiry(self) -> float:
        """When somebody's result changes though no message comes; inf for never."""
        return self._broker.next_expiry

    def results(self, id: Id) -> Result | None:
        """The result of a subscription as it is now; None where there is no such subscription."""
        if id not in self._broker:
            return None
        # An index of moving subscriptions gives them as plain ones.
        kind = result_kind(self._broker.subscription(id)) or "enter"
        return Result(kind, self._broker.results(id))

    def apply(self, offsets: range) -> HostedOutput:
        """Take in rows of the log, and what is before them, and tell what they did."""
        self.skip_to(offsets.start)
        output = HostedOutput()
        self._take_rows(offsets.start, offsets.stop, output)
        self._offset = max(offsets.stop, self._offset or 0)
        output.results = {id: self.results(id) for id in output.results}
        return output

    def skip_to(self, offset: int) -> None:
        """Take in the rows before an offset, of which everybody was told."""
        if self._offset is None:
            # Whatever the log has of the past counts for windows; subscriptions begin here.
            for table in self._tables(self._begin_of_past(offset), offset):
                self._feed(table, HostedOutput())
            self._offset = offset
            self.save()
        elif self._offset < offset:
            self._take_rows(self._offset, offset, HostedOutput())
            self._offset = offset

    def save_if_due(self) -> None:
        """Make a snapshot when many rows came since the last one.  O(everything)."""
        if self._offset is None or self.saved is None:
            return
        if self._offset - self.saved >= ROWS_A_SNAPSHOT + len(self) // SUBSCRIPTIONS_A_ROW:
            self.save()

    def save(self) -> None:
        """Make a snapshot, all or nothing; older ones are removed."""
        assert self._offset is not None
        path = self._folder / f"{self._offset:020d}.near"
        self._broker.save(path)
        self.saved = self._offset
        for other in self._folder.glob("*.near"):
            if other != path:
                other.unlink()

    def _begin_of_past(self, offset: int) -> int:
        """From there on the log has all that counts at `offset`, as far as it is kept."""
        window, start = self._window, min(self._log.start, offset)
        missing: float = inf
        if isinstance(window, CountWindow):
            missing = max(window.messages, RECENT)
        begin = offset
        while begin > start and missing > 0:
            end, begin = begin, max(start, begin - ROWS_AT_A_TIME)
            kinds = self._log.read(begin, end)["kind"].to_pylist()
            missing -= kinds.count(MESSAGE)
        return begin

    def _tables(self, first: int, last: int) -> Iterator[pa.Table]:
        for begin in range(first, last, ROWS_AT_A_TIME):
            yield self._log.read(begin, min(last, begin + ROWS_AT_A_TIME))

    # ------------------------------------------------------------------ rows

    def _take_rows(self, first: int, last: int, output: HostedOutput) -> None:
        """One by one; but messages that nobody waits for go in together.

        Also where nobody is told any more: lists of terms may be off by a little, and by how much
        depends on the calls, so that a restart must make the same ones.
        """
        for table in self._tables(first, last):
            begin, rows = 0, None
            kinds, ids = table["kind"].to_pylist(), table["id"].to_pylist()
            for number, (kind, id) in enumerate(zip(kinds, ids, strict=True)):
                if not self._is_concerned(kind, id):
                    continue
                rows = rows or table.to_pylist()
                if number > begin:
                    self._feed(table.slice(begin, number - begin), output)
                self._take(rows[number], output)
                begin = number + 1
            self._feed(table.slice(begin), output)

    def _is_concerned(self, kind: str, id: Id | None) -> bool:
        """Does a row do more than add a message that nobody waits for?"""
        if kind in (MESSAGE, ADVANCE):
            return len(self) > 0
        return kind in SUBSCRIBE_HOSTED or kind == MOVE or id in self._broker

    def _feed(self, table: pa.Table, output: HostedOutput) -> None:
        """The messages of a table go in, as columns; nobody has a result that they could change."""
        said = table.filter(pc.equal(table["kind"], MESSAGE))
        if not len(said):
            return
        rows, _ = read_messages(said.select(_COLUMNS), Space.EARTH)
        try:
            self._broker.publish_batch(replace(rows.batch, ids=rows.labels))
        except ValueError:  # an id is there twice, or a row is refused: which, and why?
            for row in said.to_pylist():
                self._take(row, output)

    def _take(self, row: dict[str, Any], output: HostedOutput) -> None:
        """Take in a row, and note what it did."""
        cause = row["id"] if row["kind"] == MESSAGE else None
        try:
            told = self._play(row, output)
        except (TypeError, ValueError) as error:
            _reject(row, str(error), output)
            return
        for each in told:
            change: Notification | SafeDistance | None = each
            if isinstance(each, Notification) and is_hidden(each.subscription_id):
                change = self._safe.what_to_tell(each)
            if change is not None:
                output.changes.append(HostedChange(row["offset"], cause, change))
                output.results[change.subscription_id] = None

    def _play(
        self, row: dict[str, Any], output: HostedOutput
    ) -> Sequence[Notification | SafeDistance]:
        broker, id = self._broker, row["id"]
        match row["kind"]:
            case "message":
                try:
                    message = message_of(row)
                except (TypeError, ValueError):
                    return []  # the shards reject it, and say why
                return broker.publish(message)
            case "advance":
                return broker.advance(row["time"])
            case "move":
                if id not in broker:
                    raise ValueError(f"subscription {id!r} has no result that could move")
                place, wants_safe = place_of(row)
                told = broker.move(id, place)
                return [*told, *self._safe.after_move(id, place, is_wanted=wants_safe)]
            case kind if kind in SUBSCRIBE_HOSTED:
                told = broker.subscribe(hosted_subscription(row))
                self._safe.forget(id)
                output.results[id] = None
                return told
        # Whatever else is said of an id, it no longer has a result.
        broker.unsubscribe(id)
        self._safe.forget(id)
        output.results[id] = None
        return []


def _reject(row: dict[str, Any], reason: str, output: HostedOutput) -> None:
    side = "message" if row["kind"] == MESSAGE else "subscription"
    output.rejects.append({"side": side, "id": str(row["id"]), "reason": reason, "row": str(row)})
