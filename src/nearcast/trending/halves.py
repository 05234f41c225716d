"""`Halves`: an index on two cores, each with a half of the subscriptions."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.model import Id, Message
from nearcast.trending.index import AnyTrending, TrendingIndex, TrendingStats
from nearcast.trending.terms_change import Terms, TermsChange, terms_change
from nearcast.trending.terms_changes import TermsChanges

_Result = TypeVar("_Result")
HALVES = 2


class Halves(TrendingIndex):
    """Two indexes: each half has its own subscriptions, and all documents.

    What a document costs is mostly what it does to lists, and that is shared; documents and terms
    are there twice. Answers are those of one index.
    """

    half: ClassVar[type[TrendingIndex]]
    """What each half is."""

    @staticmethod
    @abstractmethod
    def half_of(subscription: Any) -> int:
        """0 or 1, the same for a subscription in every process."""

    def _begin(self) -> None:
        settings = self.settings()
        self._halves = [self.half.from_settings(settings) for _ in range(HALVES)]
        self._threads = ThreadPoolExecutor(HALVES - 1)

    def subscribe(self, subscription: AnyTrending) -> list[TermsChange]:
        self.check_many([subscription])
        id, number = subscription.id, self.half_of(subscription)
        half, other = self._halves[number], self._halves[1 - number]
        if id not in other:
            return half.subscribe(subscription)
        before = tuple(term for term, _ in other.top(id))
        other.unsubscribe(id)
        others = [change for change in half.subscribe(subscription) if change.subscription_id != id]
        change = terms_change(id, before, half.top(id))
        return [change, *others] if change else others

    def subscribe_many(self, subscriptions: list[Any]) -> None:
        self.check_many(subscriptions)
        mine: dict[int, list[Any]] = {half: [] for half in range(HALVES)}
        for subscription in subscriptions:
            mine[self.half_of(subscription)].append(subscription)
        self._both(lambda half, number: _move_house(half, mine[number], mine[1 - number]))

    def check_many(self, subscriptions: list[Any]) -> None:
        self._halves[0].check_many(subscriptions)

    def unsubscribe(self, subscription_id: Id) -> None:
        self._half_with(subscription_id).unsubscribe(subscription_id)

    def publish(self, message: Message) -> list[TermsChange]:
        now = self._checked_time(message)
        told = self._both(lambda half, _: half.publish(message))
        self.now = now
        return [change for changes in told for change in changes]

    def publish_batch(self, messages: MessageBatch) -> NDArray[np.int32]:
        times = self.check_batch(messages)
        counts = self._both(lambda half, _: half.publish_batch(messages))
        if len(times):
            self.now = float(times[-1])
        return counts[0] + counts[1]

    def publish_as_columns(self, messages: MessageBatch) -> TermsChanges:
        times = self.check_batch(messages)
        told = self._both(lambda half, _: half.publish_as_columns(messages))
        if len(times):
            self.now = float(times[-1])
        return TermsChanges.joined(told)

    def advance(self, now: float) -> list[TermsChange]:
        now = self._checked_now(now)
        told = self._both(lambda half, _: half.advance(now))
        self.now = now
        return [change for changes in told for change in changes]

    def top(self, subscription_id: Id, now: float | None = None) -> Terms:
        return self._half_with(subscription_id).top(subscription_id, now)

    def subscription(self, subscription_id: Id) -> AnyTrending:
        return self._half_with(subscription_id).subscription(subscription_id)

    def ids(self) -> list[Id]:
        return [id for half in self._halves for id in half.ids()]

    def __len__(self) -> int:
        return sum(len(half) for half in self._halves)

    def __contains__(self, subscription_id: object) -> bool:
        return any(subscription_id in half for half in self._halves)

    def stats(self) -> TrendingStats:
        one, other = (half.stats() for half in self._halves)
        return TrendingStats(
            subscriptions=one.subscriptions + other.subscriptions,
            documents=one.documents,
            terms=one.terms,
            bytes=one.bytes + other.bytes,
            candidates=one.candidates + other.candidates,
            updated=one.updated + other.updated,
            computed=one.computed + other.computed,
            refilled=one.refilled + other.refilled,
            cycles=one.cycles + other.cycles,
            updating_cycles=one.updating_cycles + other.updating_cycles,
        )

    def count_cycles(self) -> None:
        for half in self._halves:
            half.count_cycles()

    def check(self) -> None:
        for number, half in enumerate(self._halves):
            assert half.now == self.now
            assert all(self.half_of(half.subscription(id)) == number for id in half.ids())
            half.check()

    def save(self, path: str | os.PathLike[str]) -> None:
        with storage.writing_parts(path, type(self).__name__) as part_path:
            for number, half in enumerate(self._halves):
                half.save(part_path(str(number)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        halves = [cls.half.load(storage.PartPath(path, str(n))) for n in range(HALVES)]
        index = cls.from_settings(halves[0].settings())
        index._halves = halves
        index.now = max(-inf, *(half.now for half in halves))
        return index

    def _half_with(self, subscription_id: Id) -> TrendingIndex:
        return self._halves[subscription_id in self._halves[1]]

    def _both(self, call: Callable[[TrendingIndex, int], _Result]) -> list[_Result]:
        """One half in another thread, which kernels do not keep waiting, and one here."""
        other = self._threads.submit(call, self._halves[1], 1)
        try:
            return [call(self._halves[0], 0), other.result()]
        finally:
            other.exception()  # whatever happened here, the other one is done


def _move_house(half: TrendingIndex, coming: list[Any], going: list[Any]) -> None:
    """A half has those that come, and no longer those that are in the other half from now on."""
    for subscription in going:
        if subscription.id in half:
            half.unsubscribe(subscription.id)
    half.subscribe_many(coming)
