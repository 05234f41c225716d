"""Subscriptions to terms, in regions or around places, in shards."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.pipeline.kinds.kind import Step
from benchmarks.scale.streamed import Index, StreamedKind
from benchmarks.trending.contenders import ROOM
from benchmarks.trending.workload import Settings, make
from nearcast.batches import MessageBatch
from nearcast.pipeline import ResultSettings
from nearcast.trending import TrendingIndex
from nearcast.trending.index import AnyTrending

_LATER = 10_000_000  # no document of a pass has such a number
_SAMPLE = 40_000


class Trending(StreamedKind):
    """Terms of regions, or around places."""

    kept_messages = 10_000

    def __init__(self, subscriptions: int, messages: int, *, is_nearby: bool) -> None:
        self.name = "trending nearby" if is_nearby else "trending regions"
        self.index = "TermFields" if is_nearby else "CellRows"
        # All lists of terms around places would be in the one shard that hears everything.
        self.distributions = ("hash",) if is_nearby else ("hash", "location")
        self.tells_apart = not is_nearby  # lists around places are right within an error
        self._room = "nearby" if is_nearby else "trending"
        self.subscriptions, self.messages = subscriptions, messages
        self.kept_messages = min(self.kept_messages, 20 * messages)
        self._workload = make(
            Settings(
                subscriptions=subscriptions,
                documents=self.kept_messages,
                messages=messages,
                is_nearby=is_nearby,
            )
        )
        self.data = self._workload.source.name
        self.settings = ResultSettings(half_life=self._workload.half_life)

    def _subscription(self, n: int) -> AnyTrending:
        return self._workload.subscription(n)

    def _index(self, rows: NDArray[np.int64], past: MessageBatch) -> TrendingIndex:
        index = ROOM[self.index].make(self._workload)
        subscriptions = [self._workload.subscription(n) for n in rows.tolist()]
        if self._workload.settings.is_nearby:  # where each document concerns everybody
            index.publish_batch(past)
            index.subscribe_many(subscriptions)
        else:
            index.subscribe_many(subscriptions)
            index.publish_batch(past)
        return index

    def _past(self) -> MessageBatch:
        return self._workload.documents()

    def _step(self, number: int) -> Step:
        return Step(self._workload.stream(number))

    def _said_before(self) -> MessageBatch:
        return self._workload.source.take(_LATER, _LATER + _SAMPLE)

    def _bytes(self, index: Index) -> int:
        assert isinstance(index, TrendingIndex)
        return index.stats().bytes
