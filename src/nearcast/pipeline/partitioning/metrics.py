"""`Metrics`: how good a partitioning is for given subscriptions and messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.pipeline.partitioning.hashing import Hashes
from nearcast.pipeline.partitioning.partitioning import Partitioning
from nearcast.pipeline.partitioning.routes import Routes


@dataclass(frozen=True, slots=True)
class Metrics:
    """The replication ratio and communication cost of DSkype (Tables 2 and 5), and the balance.

    - `replication`: copies of subscriptions, for each subscription
    - `shards_per_message`: copies of messages, for each message
    - `balance`: the work of the busiest shard over the mean of all shards, where the work of a
      shard is its subscriptions times its messages; 1 is perfect, the number of shards the worst

    Both ratios are 0 where there are no rows, and the balance is 1 where there is no work.
    """

    replication: float
    shards_per_message: float
    balance: float


def measure(
    partitioning: Partitioning,
    subscriptions: SubscriptionBatch,
    id_hash: Hashes,
    messages: MessageBatch,
) -> Metrics:
    """Route everything and count.  O(rows + copies).

    >>> from nearcast.datasets import Tweets, subscriptions_from
    >>> from nearcast.pipeline.partitioning import Hash, hash_ids
    >>> tweets = Tweets(vocabulary=100).batch(50)
    >>> subscriptions = subscriptions_from(tweets, 30)
    >>> metrics = measure(Hash(2), subscriptions, hash_ids(subscriptions.ids), tweets)
    >>> metrics.replication, metrics.shards_per_message
    (1.0, 2.0)
    """
    counts = rows_a_shard(partitioning, subscriptions, id_hash, messages)
    return metrics_of(*counts, len(subscriptions), len(messages))


def rows_a_shard(
    partitioning: Partitioning,
    subscriptions: SubscriptionBatch,
    id_hash: Hashes,
    messages: MessageBatch,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many subscriptions, and how many messages, each shard gets.  O(rows + copies)."""
    return (
        _counts(partitioning.of_subscriptions(subscriptions, id_hash), partitioning.shards),
        _counts(partitioning.of_messages(messages), partitioning.shards),
    )


def metrics_of(
    subscriptions_a_shard: NDArray[np.float64],
    messages_a_shard: NDArray[np.float64],
    subscriptions: int,
    messages: int,
) -> Metrics:
    """The metrics, given what each shard gets of how many rows.

    >>> metrics_of(np.array([3.0, 1.0]), np.array([2.0, 2.0]), 4, 2)
    Metrics(replication=1.0, shards_per_message=2.0, balance=1.5)
    """
    work = subscriptions_a_shard * messages_a_shard
    return Metrics(
        float(subscriptions_a_shard.sum()) / max(subscriptions, 1),
        float(messages_a_shard.sum()) / max(messages, 1),
        float(work.max() / work.mean()) if work.any() else 1.0,
    )


def _counts(routes: Routes, shards: int) -> NDArray[np.float64]:
    return np.bincount(routes.shards, minlength=shards).astype(np.float64)
