"""`Distribution`: the contract of all ways to divide top-k subscriptions among shards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from nearcast.batches import MessageBatch
from nearcast.model import Id, TopKSubscription
from nearcast.topk.distributions.placement import Placement
from nearcast.topk.index import Scoring
from nearcast.topk.word_statistics import WordStatistics

Targets = NDArray[np.bool_]
"""bool[messages, shards]: where each message goes."""


class Distribution(ABC):
    """Says which shards a message goes to, and which shards a subscription has to be in.

    Every message that counts for a subscription is in a shard that the subscription is in, or its
    score is bounded by the `Placement`. So the lists of a subscription in its shards, merged, are
    its list. A distribution never changes.
    """

    name: ClassVar[str]
    shards: int

    @classmethod
    @abstractmethod
    def plan(
        cls,
        subscriptions: Sequence[TopKSubscription],
        messages: MessageBatch,
        shards: int,
        scoring: Scoring,
        total_subscriptions: int,
    ) -> Self:
        """The one that suits what is to come, so many subscriptions, of which these are samples."""

    @abstractmethod
    def placement(self, subscription: TopKSubscription, statistics: WordStatistics) -> Placement:
        """Where a subscription is kept."""

    def targets(self, messages: MessageBatch, statistics: WordStatistics) -> Targets:
        """Where messages go: everywhere, unless they are told apart."""
        return np.ones((len(messages), self.shards), bool)

    @abstractmethod
    def row(self) -> dict[str, Any]:
        """All of it, as JSON."""

    @classmethod
    @abstractmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        """The distribution whose `row` this is."""


def hash_of_id(id: Id) -> int:
    """The same in every process; 7 and "7" are different ids."""
    return xxh3_64_intdigest(repr(id).encode())


def hash_of_word(word: str) -> int:
    """The same in every process."""
    return xxh3_64_intdigest(word.encode())


def check_shards(shards: int) -> None:
    """Refuse a number of shards that is none.

    >>> check_shards(0)
    Traceback (most recent call last):
    ValueError: 0 shards hold nothing; give at least 1
    """
    if shards < 1:
        raise ValueError(f"{shards} shards hold nothing; give at least 1")
