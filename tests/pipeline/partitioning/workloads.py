"""What the tests of partitionings share: making them, and asking the oracle."""

from collections import Counter

import numpy as np

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import ScanIndex
from nearcast.pipeline.partitioning import Hash, Keyword, Location, first_common, hash_ids

SHARDS = (1, 2, 3, 7, 70)


def all_partitionings(subscriptions, messages, shards):
    """One of each class, planned for these rows."""
    id_hash = hash_ids(subscriptions.ids)
    yield Hash(shards)
    yield Location.plan(subscriptions, id_hash, messages, shards)
    yield Keyword.plan(subscriptions, id_hash, messages, shards)
    # A table so small that most words are hashed.
    yield Keyword.plan(subscriptions, id_hash, messages, shards, most_words=2)


def batches_of(subscriptions, messages, space):
    """Both as columns."""
    return (
        SubscriptionBatch.from_subscriptions(subscriptions, space=space),
        MessageBatch.from_messages(messages, space=space),
    )


def matching_pairs(subscriptions, messages):
    """(subscription row, message row) of every match, by the oracle."""
    index = ScanIndex(space=subscriptions.space)
    index.insert_batch(subscriptions)
    row_of = {id_: row for row, id_ in enumerate(subscriptions.ids.to_pylist())}
    return {
        (row_of[id_], row)
        for row in range(len(messages))
        for id_ in index.match(messages.message(row))
    }


def assert_each_pair_is_reported_once(partitioning, subscriptions, messages, pairs):
    """Every shard matches what it was sent and reports the pairs of which it is the lowest."""
    kept = partitioning.of_subscriptions(subscriptions, hash_ids(subscriptions.ids))
    visited = partitioning.of_messages(messages)
    assert_well_formed(kept, len(subscriptions), partitioning.shards)
    assert_well_formed(visited, len(messages), partitioning.shards)
    kept_masks, visited_masks = (r.masks(partitioning.shards) for r in (kept, visited))
    messages_of = dict(visited.by_shard())
    reported = Counter()
    for shard, subscription_rows in kept.by_shard():
        here = set(subscription_rows.tolist()), set(messages_of.get(shard, np.empty(0)).tolist())
        found = [pair for pair in pairs if pair[0] in here[0] and pair[1] in here[1]]
        if found:
            s, m = np.array(found).T
            is_first = first_common(kept_masks[s], visited_masks[m]) == shard
            reported.update(pair for pair, mine in zip(found, is_first, strict=True) if mine)
    assert reported == Counter(pairs)


def assert_well_formed(routes, rows, shards):
    """Every row goes somewhere, to shards that exist, ascending and distinct."""
    assert routes.start.dtype == np.int64
    assert routes.shards.dtype == np.int32
    assert len(routes) == rows
    assert routes.start[0] == 0
    assert routes.start[-1] == len(routes.shards)
    for row in range(rows):
        mine = routes.shards[routes.start[row] : routes.start[row + 1]].tolist()
        assert mine
        assert mine == sorted(set(mine))
        assert 0 <= mine[0] <= mine[-1] < shards
