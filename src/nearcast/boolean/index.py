"""The contract of the room: what every index that answers "who wants this message?" can do."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from nearcast.batches import Matches, MessageBatch, SubscriptionBatch
from nearcast.model import Message, Space, Subscription
from nearcast.model.ids import check_id


@dataclass(frozen=True, slots=True)
class IndexStats:
    """What an index holds and what it has done.

    - `subscriptions`: how many are live
    - `bytes`: memory of its arrays in use, without room kept for growth
    - `nodes`: inner nodes of its structure, 0 where it has none
    - `copies`: records held for an average clause, spare room included
    - `candidates`, `matches`: looked at, and found, since the index was made
    """

    subscriptions: int
    bytes: int
    nodes: int
    copies: float
    candidates: int
    matches: int


class BooleanIndex(ABC):
    """Finds, for each message, the subscriptions whose words and region it satisfies.

    Not safe to call from several threads at once; `match_batch` uses several of its own on request.
    Found ids come in no particular order, each once.
    """

    space: Space

    @abstractmethod
    def insert_batch(self, batch: SubscriptionBatch) -> None:
        """Add subscriptions; those whose id is live replace the old ones.  All or none."""

    @abstractmethod
    def remove(self, subscription_id: int | str) -> None:
        """Take a live subscription out; KeyError for an unknown id."""

    @abstractmethod
    def match_batch(self, messages: MessageBatch, *, threads: int = 1) -> Matches:
        """The subscriptions each message of the batch reaches, the same for any thread count."""

    @abstractmethod
    def subscription(self, subscription_id: int | str) -> Subscription:
        """A live subscription, its expression in minimal form; KeyError for an unknown id."""

    def subscriptions(self, ids: pa.Array) -> SubscriptionBatch:
        """Live subscriptions as columns, in this order; KeyError for an unknown id."""
        rows = [self.subscription(id_) for id_ in ids.to_pylist()]
        return SubscriptionBatch.from_subscriptions(rows, space=self.space)

    @abstractmethod
    def ids(self) -> list[int | str]:
        """The live ids, in no particular order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __contains__(self, subscription_id: object) -> bool: ...

    @abstractmethod
    def stats(self) -> IndexStats:
        """What the index holds and has done."""

    @abstractmethod
    def check(self) -> None:
        """Assert every invariant of the structure; for tests, slow."""

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, all or nothing."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved index; it answers at once, can be changed, and never changes the file."""

    def insert(self, subscription: Subscription) -> None:
        """Add one subscription, or replace the live one of the same id."""
        region = subscription.region
        if region is not None:
            check_space(f"subscription {subscription.id!r} is", region.space, self.space)
        self.insert_batch(SubscriptionBatch.from_subscriptions([subscription], space=self.space))

    def match(self, message: Message) -> list[int | str]:
        """The ids of the subscriptions that want this message: a batch of one."""
        batch = MessageBatch.from_messages([message], space=self.space)
        return self.match_batch(batch).for_message(0)


def check_threads(threads: int) -> None:
    """Refuse fewer than one thread."""
    if threads < 1:
        raise ValueError(f"threads {threads} is too few; give at least 1")


def possible_id(subscription_id: object) -> int | str:
    """The id as subscriptions have it; one that none can have is a KeyError like any unknown."""
    try:
        return check_id(subscription_id, "subscription")
    except (TypeError, ValueError):
        raise KeyError(subscription_id) from None


def check_space(owner: str, space: Space, index: Space) -> None:
    """Refuse what lies in another space than the index."""
    if space is not index:
        raise ValueError(f"{owner} in {space}, the index in {index}; use one space for both")
