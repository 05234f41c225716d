import numpy as np
import pyarrow as pa
import pytest

from nearcast.datasets import Tweets, subscriptions_from
from nearcast.model import Box, Message, Point, Space, Subscription
from nearcast.pipeline.partitioning import Hash, Location, hash_ids, measure
from nearcast.pipeline.partitioning.metrics import rows_a_shard
from tests.pipeline.partitioning.workloads import batches_of


def planned(regions, places, shards, space=Space.EARTH, **totals):
    subscriptions, messages = batches_of(
        [Subscription(i, "tea", region) for i, region in enumerate(regions)],
        [Message(i, keywords=["tea"], at=at) for i, at in enumerate(places)],
        space,
    )
    id_hash = hash_ids(subscriptions.ids)
    location = Location.plan(subscriptions, id_hash, messages, shards, **totals)
    return location, (subscriptions, id_hash, messages)


def spot(x, y):
    return Box(x, y, x, y)


def leaves(location):
    return [
        (int(low), int(high))
        for axis, low, high in zip(location.axis, location.low, location.high, strict=True)
        if axis == 2
    ]


def test_lines_balance_subscriptions_times_messages():
    # 30 subscriptions and 10 messages in the west, 10 and 30 in the east: 300 pairs on each side
    # of a line between them, where a line that halves the subscriptions would be in the west.
    regions = [spot(-10 - i / 100, 0) for i in range(30)] + [
        spot(10 + i / 100, 0) for i in range(10)
    ]
    places = [Point(-10 - i / 100, 0) for i in range(10)] + [
        Point(10 + i / 100, 0) for i in range(30)
    ]
    # So many that only pairs count.
    location, rows = planned(regions, places, 2, total_subscriptions=10**9, total_messages=10**9)
    assert location.axis.tolist() == [0, 2, 2]
    assert -10 <= location.split[0] < 10
    kept, visited = rows_a_shard(location, *rows)
    assert (kept * visited).tolist() == [300.0, 300.0]


def test_the_better_axis_is_divided():
    regions = [Box(-100, y, 100, y + 0.5) for y in range(40)]
    places = [Point(x, y + 0.2) for x in (-50, 50) for y in range(40)]
    location, rows = planned(regions, places, 4)
    assert set(location.axis.tolist()) == {1, 2}
    assert measure(location, *rows).replication == 1.0


@pytest.mark.parametrize("shards", [2, 3, 4, 5, 7, 8, 13, 16])
def test_a_plain_is_divided_evenly(shards):
    random = np.random.default_rng(1)
    points = random.uniform(-80, 80, (4000, 2)).tolist()
    location, rows = planned(
        [spot(x, y) for x, y in points[:2000]], [Point(x, y) for x, y in points[2000:]], shards
    )
    assert sorted(leaves(location)) == [(s, s + 1) for s in range(shards)]
    metrics = measure(location, *rows)
    assert metrics.replication < 1.01  # covers are rounded outward, some across a line
    assert metrics.shards_per_message == 1.0
    assert metrics.balance < 1.25


@pytest.mark.parametrize("shards", [2, 3, 7])
@pytest.mark.parametrize("region", [spot(2.35, 48.86), Box(2, 48, 3, 49), None])
def test_everybody_at_one_spot_is_dealt_out_by_id(region, shards):
    location, rows = planned([region] * 3000, [Point(2.35, 48.86)] * 50, shards)
    assert leaves(location) == [(0, shards)]
    kept = location.of_subscriptions(rows[0], rows[1])
    np.testing.assert_array_equal(
        kept.shards, Hash(shards).of_subscriptions(rows[0], rows[1]).shards
    )
    assert measure(location, *rows).balance < 1.5


def test_regions_that_are_everywhere_are_not_copied():
    random = np.random.default_rng(2)
    places = [Point(x, y) for x, y in random.uniform(-80, 80, (1000, 2)).tolist()]
    for regions in ([None] * 500, [Box(-180, -90, 180, 90)] * 500):
        location, _ = planned(regions, places, 4)
        assert leaves(location) == [(0, 4)]
    location, _ = planned([None] * 500, [Point(0, 0, space=Space.PLANE)] * 5, 8, Space.PLANE)
    assert leaves(location) == [(0, 8)]


def test_few_subscriptions_are_broadcast_to_many_messages():
    random = np.random.default_rng(2)
    places = [Point(x, y) for x, y in random.uniform(-80, 80, (1000, 2)).tolist()]
    location, rows = planned([None] * 50, places, 8, total_subscriptions=1000, total_messages=10**8)
    metrics = measure(location, *rows)
    assert (metrics.replication, metrics.shards_per_message) == (8.0, 1.0)
    assert metrics.balance < 1.1


def test_a_hot_spot_has_several_shards_and_the_plain_around_it_its_own():
    random = np.random.default_rng(3)
    plain = random.uniform(-80, 80, (2000, 2)).tolist()
    crowd = [(2.35, 48.86)] * 1000
    regions = [spot(x, y) for x, y in [*plain[:1000], *crowd]]
    places = [Point(x, y) for x, y in [*plain[1000:], *crowd]]
    location, rows = planned(regions, places, 8)
    sizes = [last - first for first, last in leaves(location)]
    assert len(sizes) > 1
    assert max(sizes) > 1
    kept, visited = rows_a_shard(location, *rows)
    undivided, all_visited = rows_a_shard(Hash(8), *rows)
    assert (kept * visited).max() < 0.75 * (undivided * all_visited).max()


def test_copies_are_weighed_against_messages():
    # Long strips: any line across copies half of them.
    random = np.random.default_rng(4)
    strips = [Box(x, 0, x + 100, 1) for x in random.uniform(-150, 50, 2000).tolist()]
    places = [Point(x, 0.5) for x in random.uniform(-150, 150, 2000).tolist()]
    few_messages, _ = planned(strips, places, 4, total_subscriptions=10**7, total_messages=1000)
    assert leaves(few_messages) == [(0, 4)]
    many_messages, _ = planned(strips, places, 4, total_subscriptions=10**4, total_messages=10**8)
    assert len(leaves(many_messages)) == 4


@pytest.mark.parametrize("shards", [2, 3, 8, 16])
def test_tweets(shards):
    stream = Tweets(vocabulary=1000)
    tweets = stream.batch(8000)
    subscriptions = subscriptions_from(tweets, 4000, bounds=stream.bounds)
    id_hash = hash_ids(subscriptions.ids)
    location = Location.plan(subscriptions, id_hash, tweets, shards)
    metrics = measure(location, subscriptions, id_hash, tweets)
    assert metrics.replication < 1.6
    assert metrics.shards_per_message < 1.3
    assert metrics.balance < 1.5


def test_ids_may_be_strings():
    subscriptions, messages = batches_of(
        [Subscription(f"s{i}", "tea", spot(0, 0)) for i in range(100)],
        [Message("m", keywords=["tea"], at=Point(0, 0))],
        Space.EARTH,
    )
    id_hash = hash_ids(pa.array([f"s{i}" for i in range(100)]))
    location = Location.plan(subscriptions, id_hash, messages, 4)
    kept = location.of_subscriptions(subscriptions, id_hash)
    assert set(kept.shards.tolist()) == {0, 1, 2, 3}
