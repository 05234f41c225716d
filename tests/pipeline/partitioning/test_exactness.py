"""Whatever the partitioning, every match is reported, and once."""

import pickle
from itertools import product
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.checks.boolean.samples import SPACES, some_messages, some_subscriptions
from nearcast.model import ANY, Box, Circle, Message, Point, Space, Subscription
from nearcast.pipeline.partitioning import Keyword, Location, hash_ids, load_partitioning
from tests.boolean.strategies import messages as message_strategy
from tests.boolean.strategies import subscriptions as subscription_strategy
from tests.pipeline.partitioning.workloads import (
    SHARDS,
    all_partitionings,
    assert_each_pair_is_reported_once,
    batches_of,
    matching_pairs,
)


@pytest.mark.parametrize("space", SPACES)
def test_every_match_is_reported_once(space):
    batches = batches_of(some_subscriptions(250, space), some_messages(150, space), space)
    pairs = matching_pairs(*batches)
    assert len(pairs) > 500
    for shards in SHARDS:
        for partitioning in all_partitionings(*batches, shards):
            assert_each_pair_is_reported_once(partitioning, *batches, pairs)


@pytest.mark.parametrize("space", SPACES)
def test_a_plan_serves_rows_that_it_has_not_seen(space):
    planned_for = batches_of(
        some_subscriptions(200, space, seed=3), some_messages(200, space, seed=4), space
    )
    batches = batches_of(some_subscriptions(150, space), some_messages(100, space), space)
    pairs = matching_pairs(*batches)
    for partitioning in all_partitionings(*planned_for, 7):
        assert_each_pair_is_reported_once(partitioning, *batches, pairs)


@st.composite
def workloads(draw):
    """Rows that like each other's borders, the antimeridian and the poles."""
    space = draw(st.sampled_from(SPACES))
    subscriptions = draw(
        st.lists(subscription_strategy(space, st.integers(0, 40)), max_size=12, unique_by=id_of)
    )
    near = [s.region for s in subscriptions if s.region is not None]
    places = draw(st.lists(message_strategy(space, near), max_size=8))
    messages = [Message(i, keywords=m.keywords, at=m.at) for i, m in enumerate(places)]
    return batches_of(subscriptions, messages, space)


def id_of(subscription):
    return subscription.id


@given(workloads(), st.sampled_from(SHARDS))
def test_every_match_is_reported_once_at_the_borders(batches, shards):
    pairs = matching_pairs(*batches)
    for partitioning in all_partitionings(*batches, shards):
        assert_each_pair_is_reported_once(partitioning, *batches, pairs)


@st.composite
def trees(draw, space, shards):
    """A `Location` that is divided at any lines, worth it or not."""
    nodes = []
    # Where regions end and places are, with high probability: the strategies prefer these.
    lines = st.sampled_from([-180.0, -90.0, -3.0, -1.0, 0.0, 0.1, 1.0, 2.0, 90.0, 180.0])

    def grow(first, last):
        number = len(nodes)
        nodes.append((2, 0.0, first, last))
        if last - first > 1 and draw(st.integers(0, 3)):
            middle = draw(st.integers(first + 1, last - 1))
            axis, line = draw(st.integers(0, 1)), draw(lines)
            nodes[number] = (axis, line, grow(first, middle), grow(middle, last))
        return number

    grow(0, shards)
    axis, split, low, high = zip(*nodes, strict=True)
    return Location(
        shards,
        np.array(axis, np.int8),
        np.array(split, np.float64),
        np.array(low, np.int32),
        np.array(high, np.int32),
    )


@given(workloads(), st.data())
def test_lines_may_be_anywhere(batches, data):
    location = data.draw(trees(batches[0].space, data.draw(st.sampled_from([2, 5, 9]))))
    assert_each_pair_is_reported_once(location, *batches, matching_pairs(*batches))


@pytest.mark.parametrize("line", [0.1, 1.0, -3.0])
@pytest.mark.parametrize("axis", [0, 1])
def test_nothing_falls_between_the_sides_of_a_line(axis, line):
    near = [line, nextafter(line, -inf), nextafter(line, inf), line - 1, line + 1]
    spots = [(at, 0.0) if axis == 0 else (0.0, at) for at in near]
    boxes = [
        Box(*low, *high)
        for low, high in product(spots, spots)
        if sorted([low, high]) == [low, high]
    ]
    subscriptions = [Subscription(i, ANY, box) for i, box in enumerate(boxes)]
    places = [*(Point(*spot) for spot in spots), *boxes]
    messages = [Message(i, keywords=[], at=at) for i, at in enumerate(places)]
    batches = batches_of(subscriptions, messages, Space.EARTH)
    halves = Location(
        2,
        np.array([axis, 2, 2], np.int8),
        np.array([line, 0.0, 0.0]),
        np.array([1, 0, 1], np.int32),
        np.array([2, 1, 2], np.int32),
    )
    assert_each_pair_is_reported_once(halves, *batches, matching_pairs(*batches))


def test_neither_antimeridian_nor_pole_nor_line_comes_between():
    regions = [
        Box(170, -10, -170, 10),
        Box(-180, -10, -175, 10),
        Box(180, 0, 180, 0),
        Circle(Point(180, 0), 1000),
        Circle(Point(12, 90), 1000),
        Box(0, 89, 1, 90),
        Box(10, 10, 20, 20),
        Box(20, 10, 30, 20),
        Box(20, 20, 20, 20),
        None,
    ]
    subscriptions = [
        Subscription(i, "tea" if region is None else ANY, region)
        for i, region in enumerate(regions)
    ]
    places = [
        *(Point(lon, lat) for lon in (-180, 180, -175, 170, 10, 20, 30) for lat in (0, 10, 20)),
        *(Point(lon, lat) for lon in (-100, 0, 100) for lat in (-90, 90)),
        Box(170, -90, -170, 90),
        Box(15, 15, 20, 20),
        Box(0, 90, 10, 90),
    ]
    messages = [Message(i, keywords=["tea"], at=at) for i, at in enumerate(places)]
    batches = batches_of(subscriptions, messages, Space.EARTH)
    pairs = matching_pairs(*batches)
    for shards in SHARDS:
        for partitioning in all_partitionings(*batches, shards):
            assert_each_pair_is_reported_once(partitioning, *batches, pairs)


def rows_of(routes):
    return [
        routes.shards[routes.start[i] : routes.start[i + 1]].tolist() for i in range(len(routes))
    ]


@pytest.mark.parametrize("space", SPACES)
def test_a_route_depends_on_the_row_alone(space):
    subscriptions, messages = batches_of(
        some_subscriptions(60, space), some_messages(60, space), space
    )
    id_hash = hash_ids(subscriptions.ids)
    backwards = np.arange(60)[::-1]
    for partitioning in all_partitionings(subscriptions, messages, 7):
        together = rows_of(partitioning.of_subscriptions(subscriptions, id_hash))
        other_lexicon = subscriptions.take(backwards)
        apart = rows_of(partitioning.of_subscriptions(other_lexicon, id_hash[backwards]))
        assert apart == together[::-1]
        together = rows_of(partitioning.of_messages(messages))
        assert rows_of(partitioning.of_messages(messages.take(backwards))) == together[::-1]
        for row in range(10):
            assert rows_of(partitioning.of_messages(messages.take([row]))) == [together[row]]


def test_a_subscription_is_where_its_removal_goes():
    subscriptions, messages = batches_of(
        some_subscriptions(60, Space.EARTH), some_messages(60, Space.EARTH), Space.EARTH
    )
    id_hash = hash_ids(subscriptions.ids)
    for partitioning in all_partitionings(subscriptions, messages, 7):
        kept = rows_of(partitioning.of_subscriptions(subscriptions, id_hash))
        removed = rows_of(partitioning.of_removals(id_hash))
        assert all(set(a) <= set(b) for a, b in zip(kept, removed, strict=True))
        if partitioning.name == "hash":
            assert kept == removed


@pytest.mark.parametrize("shards", SHARDS)
def test_it_travels_and_is_kept(shards, tmp_path):
    subscriptions, messages = batches_of(
        some_subscriptions(80, Space.EARTH), some_messages(80, Space.EARTH), Space.EARTH
    )
    id_hash = hash_ids(subscriptions.ids)
    for partitioning in all_partitionings(subscriptions, messages, shards):
        partitioning.save(tmp_path / "p.near")
        copies = [
            pickle.loads(pickle.dumps(partitioning)),
            type(partitioning).load(tmp_path / "p.near"),
            load_partitioning(tmp_path / "p.near"),
            pickle.loads(pickle.dumps(load_partitioning(tmp_path / "p.near"))),
        ]
        for copy in copies:
            assert type(copy) is type(partitioning)
            assert copy.shards == shards
            for one, other in [
                (partitioning.of_messages(messages), copy.of_messages(messages)),
                (
                    partitioning.of_subscriptions(subscriptions, id_hash),
                    copy.of_subscriptions(subscriptions, id_hash),
                ),
            ]:
                np.testing.assert_array_equal(one.start, other.start)
                np.testing.assert_array_equal(one.shards, other.shards)


@pytest.mark.parametrize("space", SPACES)
def test_nothing_is_routed_to_nowhere(space):
    nothing = batches_of([], [], space)
    for shards in SHARDS:
        for partitioning in all_partitionings(*nothing, shards):
            assert_each_pair_is_reported_once(partitioning, *nothing, set())
            some = batches_of(some_subscriptions(20, space), some_messages(20, space), space)
            assert_each_pair_is_reported_once(partitioning, *some, matching_pairs(*some))


@pytest.mark.parametrize("kind", [Location, Keyword])
def test_a_plan_needs_a_shard(kind):
    subscriptions, messages = batches_of([], [], Space.EARTH)
    with pytest.raises(ValueError, match="0 shards hold nothing"):
        kind.plan(subscriptions, hash_ids(subscriptions.ids), messages, 0)
