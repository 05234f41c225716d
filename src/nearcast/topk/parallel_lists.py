"""`ParallelLists`: subscriptions divided among threads, each message for all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.model import Id, Message, Space, TopKSubscription
from nearcast.model._checks import positive_count
from nearcast.topk.index import TopKIndex, TopKStats
from nearcast.topk.list_change import ListChange, ListChanges, Ranked
from nearcast.topk.windows import Window
from nearcast.topk.word_lists import WordLists
from nearcast.topk.word_statistics import WordStatistics

_Answer = TypeVar("_Answer")


class ParallelLists(TopKIndex):
    """`WordLists` on several cores: `parts` of them, each with a share of the subscriptions.

    Every part has the whole window, a few hundred bytes a message, and finds whom a message
    concerns among its own. Lists are the same whatever the number of parts. A thread costs some ten
    microseconds a call, so it is worth having for hundreds of thousands of subscriptions, or for
    batches.

    >>> from nearcast.model import Point
    >>> from nearcast.topk import CountWindow
    >>> index = ParallelLists(CountWindow(100), parts=2)
    >>> index.subscribe_many([TopKSubscription(n, "tea", Point(n, 0), k=1) for n in range(10)])
    >>> sorted(change.subscription_id for change in index.publish(
    ...     Message("m", text="tea", at=Point(3, 0))))
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    def __init__(
        self,
        window: Window,
        *,
        parts: int = 2,
        space: Space = Space.EARTH,
        max_dist: float | None = None,
        statistics: WordStatistics | None = None,
        lateness: float = 0.0,
    ) -> None:
        self._number_of_parts = positive_count(parts, "parts")
        super().__init__(
            window, space=space, max_dist=max_dist, statistics=statistics, lateness=lateness
        )

    def _begin(self) -> None:
        self._use(
            [
                WordLists(
                    self.window,
                    space=self.space,
                    max_dist=self.scoring.max_dist,
                    statistics=self.scoring.statistics,
                    lateness=self.lateness,
                )
                for _ in range(self._number_of_parts)
            ]
        )

    def _use(self, parts: list[WordLists]) -> None:
        self._parts = parts
        self._threads = ThreadPoolExecutor(len(parts), thread_name_prefix="nearcast-lists")

    # ------------------------------------------------------------------ subscriptions

    def subscribe(self, subscription: TopKSubscription) -> list[ListChange]:
        self._check_subscription(subscription)
        return self._part_of(subscription.id).subscribe(subscription)

    def subscribe_many(self, subscriptions: list[TopKSubscription]) -> None:
        """Add subscriptions of different ids, or replace live ones; look their lists up later."""
        self._parts[0].check_many(subscriptions)
        shares: list[list[TopKSubscription]] = [[] for _ in self._parts]
        for subscription in subscriptions:
            shares[self._number_of(subscription.id)].append(subscription)
        waiting = [
            self._threads.submit(part.subscribe_many, share)
            for part, share in zip(self._parts, shares, strict=True)
        ]
        for each in waiting:
            each.result()

    def unsubscribe(self, subscription_id: Id) -> None:
        self._part_of(subscription_id).unsubscribe(subscription_id)

    # ------------------------------------------------------------------ messages

    def publish(self, message: Message) -> list[ListChange]:
        self._checked_time(message)
        return self._changes(lambda part: part.publish(message))

    def publish_batch(self, messages: MessageBatch) -> NDArray[np.int32]:
        """Many messages in their order, with new ids: how many lists each has changed."""
        counts = self._from_all(lambda part: part.publish_batch(messages))
        return np.sum(counts, axis=0, dtype=np.int32)

    def publish_as_columns(self, messages: MessageBatch) -> ListChanges:
        """As `publish_batch`: the lists that are others than before, each once, as columns."""
        return ListChanges.joined(self._from_all(lambda part: part.publish_as_columns(messages)))

    def advance(self, now: float) -> list[ListChange]:
        return self._changes(lambda part: part.advance(now))

    def _changes(self, ask: Callable[[WordLists], list[ListChange]]) -> list[ListChange]:
        return [change for changes in self._from_all(ask) for change in changes]

    # ------------------------------------------------------------------ looking things up

    def results(self, subscription_id: Id) -> Ranked:
        return self._part_of(subscription_id).results(subscription_id)

    def subscription(self, subscription_id: Id) -> TopKSubscription:
        return self._part_of(subscription_id).subscription(subscription_id)

    def ids(self) -> list[Id]:
        return [id for part in self._parts for id in part.ids()]

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __contains__(self, subscription_id: object) -> bool:
        return any(subscription_id in part for part in self._parts)

    def stats(self) -> TopKStats:
        """Of all parts together; of times, those of the slowest."""
        parts = [part.stats() for part in self._parts]
        return TopKStats(
            subscriptions=len(self),
            messages=parts[0].messages,
            bytes=sum(part.bytes for part in parts),
            buffered=sum(part.buffered for part in parts),
            candidates=sum(part.candidates for part in parts),
            affected=sum(part.affected for part in parts),
            reevaluations=sum(part.reevaluations for part in parts),
            postings=sum(part.postings for part in parts),
            arriving=max(part.arriving for part in parts),
            expiring=max(part.expiring for part in parts),
        )

    def check(self) -> None:
        for part in self._parts:
            part.check()
            assert part.now == self.now
            assert part.stats().messages == self._parts[0].stats().messages

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        metas: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        for number, part in enumerate(self._parts):
            meta, own = part.state()
            metas.append(meta)
            arrays |= {f"{number}/{name}": array for name, array in own.items()}
        storage.write_arrays(path, type(self).__name__, {"parts": metas}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        saved, arrays = storage.read_arrays(path, cls.__name__)
        parts = [
            WordLists.from_state(meta, storage.part(arrays, f"{number}/"))
            for number, meta in enumerate(saved["parts"])
        ]
        first = parts[0]
        index = cls(
            first.window,
            parts=1,
            space=first.space,
            max_dist=first.scoring.max_dist,
            statistics=first.scoring.statistics,
            lateness=first.lateness,
        )
        index._number_of_parts = len(parts)
        index._use(parts)
        index.now = first.now
        return index

    # ------------------------------------------------------------------ private

    def _number_of(self, subscription_id: object) -> int:
        return xxh3_64_intdigest(str(subscription_id).encode()) % len(self._parts)

    def _part_of(self, subscription_id: object) -> WordLists:
        return self._parts[self._number_of(subscription_id)]

    def _from_all(self, ask: Callable[[WordLists], _Answer]) -> list[_Answer]:
        """What all parts answer, which are alike: if one refuses, all do, and nothing changes."""
        waiting = [self._threads.submit(ask, part) for part in self._parts]
        answers = [each.result() for each in waiting]
        self.now = self._parts[0].now
        return answers
