"""Kinds that the partitionings of the pipeline divide."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.kind import Division, Kind, Measured, Shard
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.pipeline.partitioning import Partitioning, hash_ids, plan_for
from nearcast.pipeline.partitioning.metrics import rows_a_shard

SAMPLE = 100_000  # subscriptions, and messages, that plans are made from
_MESSAGES = 10_000_000_000  # a day of the stream: beside it subscriptions come for nothing


@dataclass(frozen=True)
class Part:
    """What one shard gets; without a `rule` it gets everything.

    - `rows`: the subscriptions that it keeps at first, of the first `total`
    """

    rows: NDArray[np.int64]
    total: int
    rule: Partitioning | None = None
    shard: int = 0

    def hears(self, messages: MessageBatch) -> NDArray[np.int64]:
        """Which of these messages come here."""
        if self.rule is None:
            return np.arange(len(messages))
        return self.rule.of_messages(messages).rows_of(self.shard)

    def keeps(self, subscriptions: SubscriptionBatch) -> NDArray[np.bool_]:
        """Which of these subscriptions are kept here."""
        kept = np.ones(len(subscriptions), bool)
        if self.rule is not None:
            routes = self.rule.of_subscriptions(subscriptions, hash_ids(subscriptions.ids))
            kept[:] = False
            kept[routes.rows_of(self.shard)] = True
        return kept


class PartitionedKind(Kind):
    """Shards get the rows that a `Partitioning` sends there."""

    def plan(self, distribution: str, shards: int, subscriptions: int) -> Division:
        kept, said = self._routed_subscriptions(SAMPLE), self._sample()
        hashes = hash_ids(kept.ids)
        rule = plan_for(
            distribution, kept, hashes, said,
            total_subscriptions=subscriptions, total_messages=_MESSAGES, shards=shards,
        ).partitioning  # fmt: skip
        by_shard = rows_a_shard(rule, kept, hashes, said)
        return Division(distribution, by_shard[0] / len(kept), by_shard[1] / len(said), rule)

    def measure(self, subscriptions: int, division: Division) -> Measured:
        found = [self._measure_shard(part) for part in self._parts(subscriptions, division)]
        return Measured([shard for shard, _ in found], sum(told for _, told in found))

    def _parts(self, subscriptions: int, division: Division) -> list[Part]:
        if division.rule is None:
            return [Part(np.arange(subscriptions), subscriptions)]
        batch = self._routed_subscriptions(subscriptions)
        routes = division.rule.of_subscriptions(batch, hash_ids(batch.ids))
        return [
            Part(routes.rows_of(shard), subscriptions, division.rule, shard)
            for shard in range(division.shards)
        ]

    @abstractmethod
    def _measure_shard(self, part: Part) -> tuple[Shard, int]:
        """Fill an index with these subscriptions, let messages come: and what it told."""

    @abstractmethod
    def _routed_subscriptions(self, most: int) -> SubscriptionBatch:
        """The first subscriptions, as partitionings see them."""

    @abstractmethod
    def _sample(self) -> MessageBatch:
        """Messages before those that are measured, as partitionings see them."""
