import numpy as np

from nearcast.model import Box, Message, Point, Space, Subscription
from nearcast.pipeline.partitioning import Hash, Location, Metrics, hash_ids, measure
from nearcast.pipeline.partitioning.metrics import metrics_of
from tests.pipeline.partitioning.workloads import batches_of

# x <= 0 is shard 0, the rest shard 1.
HALVES = Location(
    2,
    np.array([0, 2, 2], np.int8),
    np.zeros(3),
    np.array([1, 0, 1], np.int32),
    np.array([2, 1, 2], np.int32),
)


def measured(partitioning, regions, places):
    subscriptions, messages = batches_of(
        [Subscription(i, "tea", region) for i, region in enumerate(regions)],
        [Message(i, keywords=["tea"], at=at) for i, at in enumerate(places)],
        Space.EARTH,
    )
    return measure(partitioning, subscriptions, hash_ids(subscriptions.ids), messages)


def test_a_worked_example():
    west, east, both = Box(-2, 0, -1, 1), Box(1, 0, 2, 1), Box(-1, 0, 1, 1)
    # Shard 0 has 3 subscriptions and 2 messages, shard 1 has 2 and 2: 6 and 4 pairs.
    metrics = measured(
        HALVES, [west, west, east, both], [Point(-1, 0), Point(1, 0), Box(-1, 0, 1, 1)]
    )
    assert metrics == Metrics(replication=5 / 4, shards_per_message=4 / 3, balance=6 / 5)


def test_hash_has_the_costs_of_table_2():
    metrics = measured(Hash(4), [None] * 5, [Point(0, 0)] * 3)
    assert (metrics.replication, metrics.shards_per_message) == (1.0, 4.0)


def test_all_work_in_one_shard_is_the_worst_balance():
    metrics = measured(HALVES, [Box(1, 0, 2, 1)] * 3, [Point(1, 0)] * 2)
    assert metrics == Metrics(replication=1.0, shards_per_message=1.0, balance=2.0)


def test_nothing_to_do_is_balanced():
    assert measured(HALVES, [], []) == Metrics(0.0, 0.0, 1.0)
    assert metrics_of(np.array([2.0, 0.0]), np.array([0.0, 3.0]), 2, 3).balance == 1.0
