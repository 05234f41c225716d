"""`ByHash`: subscriptions are dealt out by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from nearcast.batches import MessageBatch
from nearcast.model import TopKSubscription
from nearcast.topk.distributions.distribution import Distribution, check_shards, hash_of_id
from nearcast.topk.distributions.placement import Placement
from nearcast.topk.index import Scoring
from nearcast.topk.word_statistics import WordStatistics


@dataclass(frozen=True)
class ByHash(Distribution):
    """A subscription is in one shard, by the hash of its id; a message goes to all of them.

    Balanced whatever comes; the price is a copy of each message, and of the window, for each shard
    (DSkype, section 7.3.1).

    >>> from nearcast.model import Point
    >>> tea = TopKSubscription("s", "tea", Point(0, 0))
    >>> len(ByHash(5).placement(tea, WordStatistics()).shards)
    1
    """

    name: ClassVar[str] = "hash"
    shards: int

    def __post_init__(self) -> None:
        check_shards(self.shards)

    @classmethod
    def plan(
        cls,
        subscriptions: Sequence[TopKSubscription],
        messages: MessageBatch,
        shards: int,
        scoring: Scoring,
        total_subscriptions: int,
    ) -> Self:
        return cls(shards)

    def placement(self, subscription: TopKSubscription, statistics: WordStatistics) -> Placement:
        return Placement.at(hash_of_id(subscription.id) % self.shards)

    def row(self) -> dict[str, Any]:
        return {"shards": self.shards}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        return cls(row["shards"])
