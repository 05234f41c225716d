"""`TopLists`: the top-k subscriptions of a log, all in one process, the driver's.

    <folder>/00000000000000012345.near   what the rows below offset 12345 have made: a snapshot

After a restart the newest snapshot is loaded and the rows behind it are read again, so that a batch
that is run again finds everything as it was and tells the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nearcast.batches import BadRows
from nearcast.model import Id, Message, Space
from nearcast.pipeline.log import Log
from nearcast.pipeline.log.rows import message_of, top_subscription
from nearcast.pipeline.log.schema import MESSAGE, SUBSCRIBE_TOP
from nearcast.pipeline.rows import BOX, POINT, read_messages
from nearcast.topk import LazyWindow, ListChange, WordLists
from nearcast.topk.list_change import Ranked
from nearcast.topk.windows import CountWindow, Window

ROWS_AT_A_TIME = 10_000
_COLUMNS = ["id", "text", *POINT, *BOX, "time", "expires"]
ROWS_A_SNAPSHOT, ROWS_A_SUBSCRIPTION = 20_000, 4
"""A snapshot is due after so many rows, and so many more for each subscription: it is in it."""


@dataclass(frozen=True, slots=True)
class TopChange:
    """A list changed when the row at `position` of the log came.

    `cause` is the id of the message that this row was, None where it was a subscription.
    """

    position: int
    cause: Id | None
    change: ListChange


@dataclass(slots=True)
class TopOutput:
    """What rows of the log did.

    - `changes`: in their order
    - `lists`: the lists that changed or began, as they are afterwards; None: it has ended
    - `rejects`: rows that break a rule, like those of a batch
    """

    changes: list[TopChange] = field(default_factory=list)
    lists: dict[Id, Ranked | None] = field(default_factory=dict)
    rejects: list[dict[str, Any]] = field(default_factory=list)


class TopLists:
    """Follows a log and keeps the lists of its top-k subscriptions.

    `window` and `max_dist` count when the folder is new; a snapshot has its own.

    >>> from nearcast.model import Point, TopKSubscription
    >>> from nearcast.topk import CountWindow
    >>> log = Log(getfixture("tmp_path") / "log")
    >>> lists = TopLists(getfixture("tmp_path") / "top", log, CountWindow(100))
    >>> _ = log.subscribe([TopKSubscription("lunch", "ramen", Point(139.7, 35.7))])
    >>> _ = log.publish([Message("m1", text="Ramen!", at=Point(139.7, 35.7))])
    >>> [found] = lists.apply(range(0, 2)).changes
    >>> found.position, found.cause, found.change.results
    (1, 'm1', (('m1', 1.0),))
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        log: Log,
        window: Window,
        max_dist: float | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log = log
        self.saved: int | None = None
        """The log is needed from this offset on; None before the first rows."""
        for broken in self._folder.glob(".*.near.*"):
            broken.unlink()  # whoever wrote it was killed
        snapshots = sorted(self._folder.glob("*.near"))
        if snapshots:
            self.saved = int(snapshots[-1].stem)
            index = WordLists.load(snapshots[-1])
        else:
            index = WordLists(window, max_dist=max_dist, lateness=inf)
        self._offset = self.saved
        self._window = LazyWindow(index)

    def __len__(self) -> int:
        return len(self._window.subscriptions)

    def apply(self, offsets: range) -> TopOutput:
        """Take in rows of the log, and what is before them, and tell what they did."""
        self.skip_to(offsets.start)
        output = TopOutput()
        for table in self._tables(offsets.start, offsets.stop):
            if len(self) or pc.any(pc.equal(table["kind"], SUBSCRIBE_TOP)).as_py():
                for row in table.to_pylist():
                    self._tell(row, output)
            else:
                self._feed_messages(table)
        self._offset = max(offsets.stop, self._offset or 0)
        return output

    def skip_to(self, offset: int) -> None:
        """Take in the rows before an offset, of which everybody was told."""
        if self._offset is None:
            # Whatever the log has of the past counts for the window; subscriptions begin here.
            for table in self._tables(self._begin_of_window(offset), offset):
                self._feed_messages(table)
            self._offset = offset
            self.save()
        elif self._offset < offset:
            for table in self._tables(self._offset, offset):
                self._feed(table)
            self._offset = offset

    def save_if_due(self) -> None:
        """Make a snapshot when many rows came since the last one.  O(everything)."""
        if self._offset is None or self.saved is None:
            return
        if self._offset - self.saved >= ROWS_A_SNAPSHOT + ROWS_A_SUBSCRIPTION * len(self):
            self.save()

    def save(self) -> None:
        """Make a snapshot, all or nothing; older ones are removed."""
        assert self._offset is not None
        path = self._folder / f"{self._offset:020d}.near"
        self._window.index.save(path)
        self.saved = self._offset
        for other in self._folder.glob("*.near"):
            if other != path:
                other.unlink()

    def _begin_of_window(self, offset: int) -> int:
        """An offset from which on the log has all that a window at `offset` has, as far as kept."""
        window, start = self._window.subscriptions.window, min(self._log.start, offset)
        missing = window.messages if isinstance(window, CountWindow) else inf
        begin = offset
        while begin > start and missing > 0:
            end, begin = begin, max(start, begin - ROWS_AT_A_TIME)
            kinds = self._log.read(begin, end)["kind"].to_pylist()
            missing -= kinds.count(MESSAGE)
        return begin

    def _tables(self, first: int, last: int) -> Iterator[pa.Table]:
        for begin in range(first, last, ROWS_AT_A_TIME):
            yield self._log.read(begin, min(last, begin + ROWS_AT_A_TIME))

    def _feed(self, table: pa.Table) -> None:
        """Take in rows quietly, the messages between two changes of lists together."""
        begin = 0
        kinds, ids = table["kind"].to_pylist(), table["id"].to_pylist()
        for row, (kind, id) in enumerate(zip(kinds, ids, strict=True)):
            is_known = kind != MESSAGE and id in self._window.subscriptions
            if is_known or kind == SUBSCRIBE_TOP:
                self._feed_messages(table.slice(begin, row - begin))
                self._take(table.slice(row, 1).to_pylist()[0], TopOutput())
                begin = row + 1
        self._feed_messages(table.slice(begin))

    def _feed_messages(self, table: pa.Table) -> None:
        """The messages of a table go into the window, as columns; nobody is told."""
        said = table.filter(pc.equal(table["kind"], MESSAGE))
        if not len(said):
            return
        rows, _ = read_messages(said.select(_COLUMNS), Space.EARTH)
        try:
            batch = replace(rows.batch, ids=rows.labels)
        except BadRows:  # an id is there twice: the second replaces the first
            for row in said.to_pylist():
                self._take(row, TopOutput())
        else:
            self._window.publish_batch(batch)

    def _tell(self, row: dict[str, Any], output: TopOutput) -> None:
        """Take in a row, and note what it did."""
        changes = self._take(row, output)
        cause = row["id"] if row["kind"] == MESSAGE else None
        for change in changes:
            output.changes.append(TopChange(row["offset"], cause, change))
            output.lists[change.subscription_id] = change.results

    def _take(self, row: dict[str, Any], output: TopOutput) -> list[ListChange]:
        if row["kind"] == MESSAGE:
            message = _message_or_none(row)
            return [] if message is None else self._window.publish(message)
        id, subscriptions = row["id"], self._window.subscriptions
        if row["kind"] == SUBSCRIBE_TOP:
            try:
                changes = self._window.index.subscribe(top_subscription(row))
            except (TypeError, ValueError) as error:
                output.rejects.append(
                    {"side": "subscription", "id": str(id), "reason": str(error), "row": str(row)}
                )
                return []
            output.lists[id] = subscriptions.results(id)
            return changes
        # Whatever else is said of an id, it no longer has a list.
        if id in subscriptions:
            self._window.index.unsubscribe(id)
            output.lists[id] = None
        return []


def _message_or_none(row: dict[str, Any]) -> Message | None:
    """The shards reject a row that breaks a rule, and say why; here it is nothing."""
    try:
        return message_of(row)
    except (TypeError, ValueError):
        return None
