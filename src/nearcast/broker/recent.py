"""`RecentMessages`: what a kind of subscription that nobody has yet may be asked for later."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from nearcast.batches import MessageBatch
from nearcast.model import Box, Message, Point, Space


class RecentMessages:
    """The last so many messages, in the order in which they came.

    >>> recent = RecentMessages(2, Space.EARTH)
    >>> for id in (1, 2, "three"):
    ...     recent.append(Message(id, text="tea", at=Point(0, 0)))
    >>> [batch.ids.to_pylist() for batch in recent.batches()]
    [[2], ['three']]
    """

    def __init__(self, size: int, space: Space) -> None:
        self._size, self._space = size, space
        self._kept: deque[Message | MessageBatch] = deque()
        self._count = 0

    def append(self, message: Message) -> None:
        """One more.  O(1)."""
        self._kept.append(message)
        self._count += 1
        self._forget()

    def append_batch(self, messages: MessageBatch) -> None:
        """Many more.  O(1), amortised."""
        self._kept.append(messages)
        self._count += len(messages)
        self._forget()

    def _forget(self) -> None:
        while self._kept and self._count - _length(self._kept[0]) >= self._size:
            self._count -= _length(self._kept.popleft())

    def batches(self) -> Iterator[MessageBatch]:
        """All of them; those that came one by one in runs of different ids of one type."""
        for is_single, run in groupby(self._last(), key=lambda each: isinstance(each, Message)):
            if is_single:
                yield from self._runs([each for each in run if isinstance(each, Message)])
            else:
                yield from (each for each in run if isinstance(each, MessageBatch))

    def _last(self) -> Iterator[Message | MessageBatch]:
        """What is kept, without what the oldest batch has too much."""
        excess = max(0, self._count - self._size)
        for each in self._kept:
            if excess and isinstance(each, MessageBatch):
                each = each.take(np.arange(excess, len(each)))
            excess = 0
            yield each

    def _runs(self, messages: list[Message]) -> Iterator[MessageBatch]:
        for _, typed in groupby(messages, key=lambda message: type(message.id)):
            run: dict[Any, Message] = {}
            for message in typed:
                if message.id in run:
                    yield MessageBatch.from_messages([*run.values()], space=self._space)
                    run = {}
                run[message.id] = message
            yield MessageBatch.from_messages([*run.values()], space=self._space)

    def rows(self) -> list[list[Any]]:
        """All of them as JSON."""
        rows = []
        for batch in self.batches():
            rows += [_row(batch.message(number)) for number in range(len(batch))]
        return rows

    def take_rows(self, rows: list[list[Any]]) -> None:
        """Have what `rows` gave."""
        for id, keywords, place, time, expires in rows:
            shape = Box if len(place) == 4 else Point
            at = shape(*place, space=self._space)
            self.append(Message(id, keywords=keywords, at=at, time=time, expires=expires))


def _length(kept: Message | MessageBatch) -> int:
    return len(kept) if isinstance(kept, MessageBatch) else 1


def _row(message: Message) -> list[Any]:
    at = message.at
    place = [at.west, at.south, at.east, at.north] if isinstance(at, Box) else [at.lon, at.lat]
    return [message.id, list(message.keywords), place, message.time, message.expires]
