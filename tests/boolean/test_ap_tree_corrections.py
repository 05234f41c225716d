"""Every correction to what the AP-Tree papers print, pinned down by name."""

import numpy as np
import pyarrow as pa
import pytest

from nearcast.batches import SubscriptionBatch
from nearcast.boolean import (
    Adaptive,
    APTree,
    KeywordFirst,
    SpatialFirst,
    TrieQuadtree,
)
from nearcast.boolean._records import (
    RUN,
    SLOT,
)
from nearcast.boolean.ap_tree._layout import (
    CHILD_START,
    HEIGHT,
    KEYWORD_NODE,
    ROOT,
    SPATIAL_NODE,
    WIDTH,
    empty_tree,
)
from nearcast.boolean.ap_tree._update import drift
from nearcast.model import Box, Message, Point, Space, Subscription
from tests.boolean.hand_tree import Cells, Cuts, Leaf, hang_by_hand, in_alphabetical_order, match

# ---------------------------------------------------------------- cuts and dummies


def test_cut_is_entered_once_with_the_smallest_keyword():
    """Two keywords hit c[w2, w3]: its leaf is looked at once, and w3 may still be used below."""
    batch = SubscriptionBatch.from_subscriptions([Subscription("q", "w2 w3")])
    index = in_alphabetical_order(batch)
    here = Message("m", keywords=["w2", "w3"], at=Point(0, 0))
    hang_by_hand(index, Cuts(0, {("w2", "w3"): Leaf("q")}))
    assert match(index, here).candidates == 1
    hang_by_hand(index, Cuts(0, {("w2", "w3"): Cuts(1, {("w3", "w3"): Leaf("q")})}))
    index.check()
    assert match(index, here).for_message(0) == ["q"]


def test_keywords_between_cuts_are_found():
    """A later subscription may have a keyword that no cut holds."""
    index = APTree(leaf_capacity=2, fanout=4, priority=KeywordFirst(), drift_threshold=None)
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            Subscription(i, [f"b{i % 8}", f"c{i}"]) for i in range(64)
        )
    )
    live = {i: {f"b{i % 8}", f"c{i}"} for i in range(64)}
    for i in range(64, 128):
        words = [f"a{i % 5}", f"z{i % 3}"]
        index.insert(Subscription(i, words))
        live[i] = set(words)
    index.check()
    said = {"a1", "a2", "z0", "z1", "b3", "c3", "c11"}
    found = index.match(Message(1, keywords=said, at=Point(0, 0)))
    assert sorted(found) == [i for i, words in live.items() if words <= said]


def test_dummy_cut_is_always_explored():
    """w1 has no second keyword: below c[w1] it waits in the dummy cut."""
    batch = SubscriptionBatch.from_subscriptions(
        [Subscription("one", "w1"), Subscription("two", "w1 w2")]
    )
    index = in_alphabetical_order(batch)
    below = Cuts(1, {("w2", "w2"): Leaf("two")}, dummy=Leaf("one"))
    hang_by_hand(index, Cuts(0, {("w1", "w1"): below}))
    index.check()
    assert index.match(Message(1, keywords=["w1"], at=Point(0, 0))) == ["one"]
    assert sorted(index.match(Message(1, keywords=["w1", "w2"], at=Point(0, 0)))) == ["one", "two"]


@pytest.mark.parametrize(
    ("priority", "divided", "after"),
    [
        (KeywordFirst(), KEYWORD_NODE, SPATIAL_NODE),
        (SpatialFirst(), SPATIAL_NODE, KEYWORD_NODE),
    ],
)
def test_after_a_dummy_only_the_other_partition_follows(priority, divided, after):
    """Below a dummy cut there is no k-node, below a dummy cell no s-node."""
    index = APTree(leaf_capacity=2, fanout=4, priority=priority)
    subscriptions = [
        Subscription(
            i,
            [f"w{i % 7}", f"x{i % 5}", f"y{i % 3}"][: i % 3 + 1],
            Box(-180, -90, 180, 90) if i % 4 == 0 else tile(i),
        )
        for i in range(300)
    ]
    index.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions))
    below_dummy = set()
    waiting = [(int(index._tree.used[ROOT]), frozenset())]
    while waiting:
        reference, dummies = waiting.pop()
        kind = reference & 3
        if kind not in (KEYWORD_NODE, SPATIAL_NODE):
            continue
        assert kind not in dummies
        below_dummy |= {(dummy, kind) for dummy in dummies}
        *children, dummy = children_of(index, reference)
        waiting += [(child, dummies) for child in children]
        waiting.append((dummy, dummies | {kind}))
    assert (divided, after) in below_dummy


def children_of(index, reference):
    """The references of a node's children, the dummy last."""
    node = index._tree.nodes[reference >> 2].tolist()
    count = node[WIDTH] + 2 if reference & 3 == KEYWORD_NODE else node[WIDTH] * node[HEIGHT] + 1
    return index._tree.children[node[CHILD_START] : node[CHILD_START] + count].tolist()


def tile(i):
    return Box(i % 17 * 10, i % 8 * 10, i % 17 * 10 + 10, i % 8 * 10 + 10)


# ---------------------------------------------------------------- cells


def test_cells_are_half_open():
    """A point on a line is in the cell above it alone, and closed regions go where they touch."""
    batch = SubscriptionBatch.from_subscriptions(
        [
            Subscription("left", "w", Box(-10, -10, 0, 10)),
            Subscription("right", "w", Box(0.5, -10, 10, 10)),
        ]
    )
    index = in_alphabetical_order(batch)
    # `left` touches the line at 0, so it is in both cells; a point on the line looks right only.
    hang_by_hand(index, Cells([0], [], {(0, 0): Leaf("left"), (1, 0): Leaf("left", "right")}))
    index.check()
    on_line = match(index, Message(1, keywords=["w"], at=Point(0, 0)))
    assert on_line.for_message(0) == ["left"]
    assert on_line.candidates == 2
    before = match(index, Message(1, keywords=["w"], at=Point(-1e-9, 0)))
    assert before.candidates == 1


@pytest.mark.parametrize("space", [Space.EARTH, Space.PLANE])
@pytest.mark.parametrize("priority", [Adaptive(), SpatialFirst()])
def test_points_on_borders_are_found_once(space, priority):
    """Tiles share borders, and the grid's lines fall on them: each corner belongs to four tiles."""
    index = APTree(space=space, leaf_capacity=2, fanout=16, priority=priority)
    tiles = [
        Subscription(10 * row + column, "w", Box(column, row, column + 1, row + 1, space=space))
        for row in range(10)
        for column in range(10)
    ]
    index.insert_batch(SubscriptionBatch.from_subscriptions(tiles, space=space))
    assert index.stats().nodes > 1
    lines = set(index._tree.edges.tolist())
    assert lines & {float(i) for i in range(11)}
    for row in range(1, 10):
        for column in range(1, 10):
            corner = Message(1, keywords=["w"], at=Point(column, row, space=space))
            first = 10 * (row - 1) + column - 1
            assert sorted(index.match(corner)) == [first, first + 1, first + 10, first + 11]


def test_message_outside_the_root_region():
    """The outermost cells have no end: later and larger regions are reached beyond all others."""
    plane = Space.PLANE
    index = APTree(space=plane, leaf_capacity=2, fanout=16, priority=SpatialFirst())
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            [Subscription(i, "w", Box(i, i, i + 1, i + 1, space=plane)) for i in range(100)],
            space=plane,
        )
    )
    index.insert(Subscription("far", "w", Box(-1e6, -1e6, -1e5, 1e6, space=plane)))
    index.insert(Subscription("all", "w"))
    index.check()
    assert sorted(index.match(at(-5e5, 7))) == ["all", "far"]
    assert index.match(at(5e20, -5e20)) == ["all"]
    assert sorted(map(str, index.match(at(50.5, 50.5)))) == ["50", "all"]


def at(x, y):
    return Message(1, keywords=["w"], at=Point(x, y, space=Space.PLANE))


def test_dummy_cell_holds_what_contains_the_node():
    """Regions as large as the world are stored once, however fine the grid."""
    index = APTree(leaf_capacity=2, fanout=100, priority=SpatialFirst())
    small = [Subscription(i, "w", tile(i)) for i in range(136)]
    large = [Subscription(1000 + i, "w", Box(-180, -90, 180, 90)) for i in range(20)]
    index.insert_batch(SubscriptionBatch.from_subscriptions(small + large))
    index.check()
    records = sum(row[SLOT] >= 136 for row in live_records(index))
    assert records == 20
    assert len(index.match(Message(1, keywords=["w"], at=Point(-100, -50)))) == 20


def live_records(index):
    """The records of all leaves."""
    waiting, rows = [int(index._tree.used[ROOT])], []
    while waiting:
        reference = waiting.pop()
        kind = reference & 3
        if kind == RUN:
            start, count = reference >> 28, (reference >> 2) & 0x3FFFFFF
            rows += index._tree.records[start : start + count].tolist()
        elif kind:
            waiting += children_of(index, reference)
    return rows


# ---------------------------------------------------------------- when to stop

SAME = {
    "identical subscriptions": lambda i: ("tea cake", Box(0, 0, 1, 1)),
    "identical points": lambda i: ("tea", Box(1, 1, 1, 1)),
    "points on one line": lambda i: ("tea", Box(1, i % 50, 1, i % 50)),
    "regions as large as the world": lambda i: ("tea", Box(-180, -90, 180, 90)),
    "no regions": lambda i: ("tea", None),
    "one word in all": lambda i: (f"tea other{i % 50}", None),
    "large regions": lambda i: ("tea", Box(-(i % 170), -(i % 80), 10 + i % 150, i % 85)),
    "nested regions": lambda i: ("tea", Box(-i / 100, -i / 200, i / 100, i / 200)),
    "stripes that cross": lambda i: (
        "tea", Box(-180, i % 90, 180, i % 90) if i % 2 else Box(i % 180, -90, i % 180, 90),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("priority", [Adaptive(), KeywordFirst(), SpatialFirst()])
def test_construction_ends_where_nothing_separates(name, priority):
    """The printed construction recurses for ever, or multiplies the replicas, on each of these."""
    index = APTree(leaf_capacity=4, fanout=16, priority=priority)
    subscriptions = [Subscription(i, *SAME[name](i)) for i in range(1500)]
    index.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions[:1000]))
    for subscription in subscriptions[1000:]:
        index.insert(subscription)
    index.check()
    stats = index.stats()
    assert stats.copies <= 9  # most_copies, and the room leaves keep
    assert stats.nodes <= 3000
    for subscription in subscriptions[::2]:
        index.remove(subscription.id)
    index.check()


@pytest.mark.parametrize("name", ["identical subscriptions", "identical points", "no regions"])
def test_quadtree_ends_where_nothing_separates(name):
    index = TrieQuadtree(leaf_capacity=4)
    subscriptions = [Subscription(i, *SAME[name](i)) for i in range(1500)]
    index.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions))
    index.check()
    assert index.stats().nodes <= 100


def test_a_hundred_thousand_identical_subscriptions():
    """One leaf holds them all; building takes no longer and no more than for others."""
    count = 100_000
    one = SubscriptionBatch.from_subscriptions([Subscription(0, "tea cake", Box(0, 0, 1, 1))])
    always = np.zeros(count, np.int64)
    batch = SubscriptionBatch(
        pa.array(np.arange(count)), one.expressions.take(always), one.regions.take(always)
    )
    index = APTree()
    index.insert_batch(batch)
    stats = index.stats()
    assert stats.nodes <= 2
    assert stats.bytes < 200 * count
    here = Message(1, keywords=["cake", "tea"], at=Point(0.5, 0.5))
    assert len(index.match(here)) == count
    index.insert(Subscription(count, "tea cake", Box(0, 0, 1, 1)))
    index.remove(5)
    assert len(index.match(here)) == count


@pytest.mark.parametrize("most_copies", [1, 2, 8])
def test_most_copies_bounds_memory(most_copies):
    index = APTree(leaf_capacity=2, fanout=400, most_copies=most_copies, priority=SpatialFirst())
    random = np.random.default_rng(1)
    corners = random.uniform(-40, 40, (3000, 2))
    subscriptions = [
        Subscription(i, "tea", Box(x, y, x + 40, y + 40)) for i, (x, y) in enumerate(corners)
    ]
    index.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions))
    index.check()
    assert len(live_records(index)) <= 1.25 * most_copies * 3000


# ---------------------------------------------------------------- found once


def test_clauses_of_one_subscription_are_found_once():
    """Every clause matches, in several leaves, over both rectangles of the region."""
    index = APTree(leaf_capacity=1, fanout=4)
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            Subscription(i, "w1 OR w2 OR (w3 AND w4)", Box(170, -10 - i, -170, 10))
            for i in range(9)
        )
    )
    words = ["w1", "w2", "w3", "w4"]
    for place in (Point(175, 0), Point(180, 0), Box(160, -5, -160, 5), Box(-180, -90, 180, 90)):
        found = index.match(Message(1, keywords=words, at=place))
        assert sorted(found) == list(range(9))


def test_replicas_met_by_a_range_message_are_found_once():
    index = APTree(leaf_capacity=2, fanout=16, priority=SpatialFirst())
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            Subscription(i, "w", Box(i % 13, i % 7, i % 13 + 5, i % 7 + 5)) for i in range(200)
        )
    )
    assert index.stats().copies > 1.5
    found = index.match(Message(1, keywords=["w"], at=Box(-1, -1, 20, 20)))
    assert sorted(found) == list(range(200))


# ---------------------------------------------------------------- drift


def test_kl_divergence_is_of_normalised_weights_with_zeros_smoothed():
    """Twice as many of each is no drift; a cut that empties or fills is finite drift."""
    tree = weighed([(20, 10), (40, 20), (60, 30)])
    assert drift(tree, 0, 3) < 0.001
    assert drift(weighed([(5, 5), (0, 0)]), 0, 2) == 0
    for weights in ([(0, 50), (50, 50)], [(50, 0), (50, 50)], [(0, 100), (100, 0)]):
        assert 0.1 < drift(weighed(weights), 0, 2) < 10


def weighed(weights):
    tree = empty_tree()
    tree.weights[: len(weights)] = weights
    return tree
