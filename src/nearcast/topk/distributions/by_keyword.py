"""`ByKeyword`: each shard has a part of the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from nearcast.batches import MessageBatch
from nearcast.model import TopKSubscription
from nearcast.topk.distributions.distribution import Distribution, Targets
from nearcast.topk.distributions.placement import Placement
from nearcast.topk.distributions.word_ranges import WordRanges
from nearcast.topk.index import Scoring
from nearcast.topk.word_statistics import WordStatistics


@dataclass(frozen=True)
class ByKeyword(Distribution):
    """A subscription is in the shards of all its words, and a message goes to those of its own.

    A message without words goes nowhere. Few copies of messages, several of subscriptions
    (DSkype, section 7.3.3). Use `plan`.

    >>> from nearcast.model import Point
    >>> keyword = ByKeyword(3, WordRanges({"tea": 2, "cake": 0}, (1,)))
    >>> both = TopKSubscription("s", "tea cake", Point(0, 0))
    >>> keyword.placement(both, WordStatistics()).shards
    (0, 2)
    """

    name: ClassVar[str] = "keyword"
    shards: int
    words: WordRanges

    @classmethod
    def plan(
        cls,
        subscriptions: Sequence[TopKSubscription],
        messages: MessageBatch,
        shards: int,
        scoring: Scoring,
        total_subscriptions: int,
    ) -> Self:
        """Divide the words by their cost, given samples of what is to come."""
        wanted = [each.keywords for each in subscriptions]
        words_by_shard = WordRanges.plan(wanted, messages, shards, total_subscriptions)
        return cls(shards, words_by_shard)

    def placement(self, subscription: TopKSubscription, statistics: WordStatistics) -> Placement:
        return Placement.at(*sorted({self.words.shard_of(word) for word in subscription.keywords}))

    def targets(self, messages: MessageBatch, statistics: WordStatistics) -> Targets:
        shard_of = np.array([self.words.shard_of(word) for word in messages.lexicon.to_pylist()])
        targets = np.zeros((len(messages), self.shards), bool)
        if len(messages.words):
            row = np.repeat(np.arange(len(messages)), np.diff(messages.word_start))
            targets[row, shard_of[messages.words]] = True
        return targets

    def row(self) -> dict[str, Any]:
        return {"shards": self.shards, "words": self.words.row()}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        return cls(row["shards"], WordRanges.of_row(row["words"]))
