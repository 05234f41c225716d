"""Subscriptions to terms, in regions or around places, in shards."""

from dataclasses import replace
from math import pi, sqrt
from time import thread_time

import numpy as np
import pyarrow as pa

from benchmarks.scale.kind import PASSES, Shard, seconds_to_load
from benchmarks.scale.partitioned import SAMPLE, Part, PartitionedKind
from benchmarks.trending.contenders import ROOM
from benchmarks.trending.workload import Settings, make
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.space import EARTH_RADIUS
from nearcast.trending import TrendingIndex

_LATER = 10_000_000  # no document of a pass has such a number
_DEGREE = pi * EARTH_RADIUS / 180.0


class Trending(PartitionedKind):
    """Terms of regions, or around places.

    Lists of regions cannot be merged from parts. So by location a region is kept in the leaf of its
    middle alone, and a document goes to all leaves in which a region that has it may be kept.
    """

    kept_messages = 10_000

    def __init__(self, subscriptions: int, messages: int, *, is_nearby: bool) -> None:
        self.name = "trending nearby" if is_nearby else "trending regions"
        self.index = "TermFields" if is_nearby else "CellRows"
        self.distributions = ("hash",) if is_nearby else ("hash", "location")
        self.tells_apart = not is_nearby  # lists around places are right within an error
        self._contender = ROOM[self.index]
        self.kept_messages = min(self.kept_messages, 20 * messages)
        self._workload = make(
            Settings(
                subscriptions=subscriptions,
                documents=self.kept_messages,
                messages=messages,
                is_nearby=is_nearby,
            )
        )
        self.data, self.messages = self._workload.source.name, messages

    def restore(self, subscriptions: int) -> tuple[int, float]:
        index = self._filled(Part(np.arange(subscriptions), subscriptions))
        return index.stats().bytes, seconds_to_load(index)

    def _measure_shard(self, part: Part) -> tuple[Shard, int]:
        index = self._filled(part)
        told, taken = [], []
        for turn in range(PASSES + 1):
            documents = self._workload.stream(turn)
            heard = documents.take(part.hears(self._reaching(documents)))
            begin = thread_time()
            told.append(int(index.publish_batch(heard).sum()))
            taken.append(thread_time() - begin)
        shard = Shard(len(part.rows), min(taken[1:]) / self.messages, index.stats().bytes)
        return shard, sum(told[1:])

    def _filled(self, part: Part) -> TrendingIndex:
        index, documents = self._contender.make(self._workload), self._workload.documents()
        heard = documents.take(part.hears(self._reaching(documents)))
        subscriptions = [self._workload.subscription(row) for row in part.rows.tolist()]
        if self._workload.settings.is_nearby:  # where each document concerns everybody
            index.publish_batch(heard)
            index.subscribe_many(subscriptions)
        else:
            index.subscribe_many(subscriptions)
            index.publish_batch(heard)
        return index

    def _routed_subscriptions(self, most: int) -> SubscriptionBatch:
        at = self._workload.at[: min(most, self._workload.settings.subscriptions)]
        west, south = at[:, 0].copy(), at[:, 1].copy()
        columns = {"west": west, "south": south, "east": west, "north": south}
        words = pa.array(["any"] * len(at))
        table = pa.table({"id": np.arange(len(at)), "keywords": words, **columns})
        return SubscriptionBatch.from_arrow(table, space=self._workload.source.space)

    def _reaching(self, messages: MessageBatch) -> MessageBatch:
        """As boxes: from where the middle of the longest region reaches them."""
        reach = 1.01 * sqrt(2e6 * self._workload.settings.area) / 2.0 / _DEGREE
        wider = np.maximum(np.cos(np.radians(np.abs(messages.at[:, 1]) + reach)), 0.01)
        half = np.stack([reach / wider, np.full(len(messages), reach)], axis=1)
        limits = np.array([180.0, 90.0])
        low = np.maximum(messages.at[:, :2] - half, -limits)
        high = np.minimum(messages.at[:, :2] + half, limits)
        return replace(
            messages, at=np.concatenate([low, high], axis=1), is_box=np.ones(len(messages), bool)
        )

    def _sample(self) -> MessageBatch:
        return self._reaching(self._workload.source.take(_LATER, _LATER + SAMPLE))
