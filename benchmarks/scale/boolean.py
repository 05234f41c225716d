"""Boolean subscriptions in shards."""

import numpy as np
from numpy.typing import NDArray

from benchmarks import workloads
from benchmarks.contenders import DEFAULT, ROOM
from benchmarks.scale.kind import PASSES, Shard, core_seconds, seconds_to_load
from benchmarks.scale.partitioned import SAMPLE, Part, PartitionedKind
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import BooleanIndex


class Boolean(PartitionedKind):
    """Expressions over regions."""

    name, index = "boolean", DEFAULT
    distributions = ("hash", "location", "keyword")
    kept_messages = 0

    def __init__(self, subscriptions: int, messages: int) -> None:
        settings = workloads.Settings(subscriptions=subscriptions, messages=messages)
        self._workload = workloads.make(settings)
        self.data, self.messages = self._workload.data, messages

    def restore(self, subscriptions: int) -> tuple[int, float]:
        index = self._filled(np.arange(subscriptions))
        return index.stats().bytes, seconds_to_load(index)

    def _measure_shard(self, part: Part) -> tuple[Shard, int]:
        index, messages = self._filled(part.rows), self._workload.messages
        heard = messages.take(part.hears(messages))
        told = PASSES * len(index.match_batch(heard))
        taken = min(core_seconds(lambda: index.match_batch(heard)) for _ in range(PASSES))
        return Shard(len(part.rows), taken / len(messages), index.stats().bytes), told

    def _filled(self, rows: NDArray[np.int64]) -> BooleanIndex:
        index = ROOM[DEFAULT].make(self._workload.history)
        index.insert_batch(self._workload.subscriptions.take(rows))
        return index

    def _routed_subscriptions(self, most: int) -> SubscriptionBatch:
        batch = self._workload.subscriptions
        return batch.take(np.arange(min(most, len(batch))))

    def _sample(self) -> MessageBatch:
        history = self._workload.history
        return history.take(np.arange(min(SAMPLE, len(history))))
