"""The worked examples of the AP-Tree papers, and every correction to what they print.

The running example of ICDE 2015 (Fig. 3-7) is not reproduced here. These subscriptions and
messages are consistent with every statement of the two texts about them:

| id | keywords | region                | what is said of it                                       |
|----|----------|-----------------------|----------------------------------------------------------|
| q1 | w1 w2    | around o1 and o2      | its keywords; o1 is in it; o2 matches; first keyword w1  |
| q2 | w1 w3    | around o1             | o1 is in it; first keyword w1                            |
| q3 | w2 w3    | south-east            | matches o1 by keywords only                              |
| q4 | w1 w5    | the north-west and on | o1 is in it; o2 matches; contains the region of s3-node  |
| q5 | w1 w5 w6 | north-east            | first keyword w1; with q4 it is R6, of tokens w1 w5 w6   |
| q6 | w4 w5    | north-east            | the R^t-tree verifies it; below s2-node, not o1's cell   |
| q7 | w3 w4    | around o1             | its keywords; matches o1; w4 is its rarest keyword       |
| q8 | w2 w6    | south-west            | the R^t-tree verifies it; below s1-node, not o1's cell   |
| q9 | w5 w6    | south-east            | w5 is the first keyword of some subscription             |

o1 has w2 w3 w4 and is in the north-west; o2 has w1 w2 w5 and is in the north-east.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import (
    Adaptive,
    APTree,
    HeuristicPartition,
    KeywordFirst,
    OptimalPartition,
    SpatialFirst,
    TrieQuadtree,
)
from nearcast.boolean.ap_tree._layout import (
    CHILD_START,
    HEIGHT,
    KEYWORD_NODE,
    LEAF,
    ROOT,
    SLOT,
    SPATIAL_NODE,
    WIDTH,
    empty_tree,
)
from nearcast.boolean.ap_tree._partition import even_cuts, heuristic_cuts, optimal_cuts
from nearcast.boolean.ap_tree._plan import Statistics, plan_cuts
from nearcast.boolean.ap_tree._update import drift
from nearcast.boolean.ap_tree.tree import records_of
from nearcast.model import Box, Message, Point, Space, Subscription
from nearcast.space import is_in
from tests.boolean.hand_tree import Cells, Cuts, Leaf, hang_by_hand, in_alphabetical_order

QUERIES = {
    "q1": ("w1 w2", Box(-90, 10, 50, 60)),
    "q2": ("w1 w3", Box(-120, 20, -30, 70)),
    "q3": ("w2 w3", Box(40, -60, 100, -20)),
    "q4": ("w1 w5", Box(-180, 0, 60, 90)),
    "q5": ("w1 w5 w6", Box(20, 40, 110, 80)),
    "q6": ("w4 w5", Box(90, 20, 150, 60)),
    "q7": ("w3 w4", Box(-80, 30, -40, 50)),
    "q8": ("w2 w6", Box(-150, -70, -90, -20)),
    "q9": ("w5 w6", Box(80, -80, 140, -30)),
}
SUBSCRIPTIONS = [Subscription(id_, *rest) for id_, rest in QUERIES.items()]
WORDS = {id_: words.split() for id_, (words, _) in QUERIES.items()}
REGION = {id_: region for id_, (_, region) in QUERIES.items()}
O1 = Message("o1", keywords=["w2", "w3", "w4"], at=Point(-60, 40))
O2 = Message("o2", keywords=["w1", "w2", "w5"], at=Point(30, 30))
NORTH_WEST = Box(-180, 0, 0, 90)

INDEXES = (
    APTree,
    lambda: APTree(leaf_capacity=1, fanout=4),
    lambda: APTree(leaf_capacity=1, fanout=4, priority=KeywordFirst()),
    lambda: APTree(leaf_capacity=1, fanout=4, priority=SpatialFirst()),
    lambda: APTree(leaf_capacity=1, fanout=4, keyword_partition=OptimalPartition()),
    lambda: TrieQuadtree(leaf_capacity=1),
)


def running_example(**options):
    return in_alphabetical_order(SubscriptionBatch.from_subscriptions(SUBSCRIPTIONS), **options)


def match(index, *messages):
    return index.match_batch(MessageBatch.from_messages(messages, space=index.space))


def reach(message):
    """The subscriptions in whose region the message is."""
    return {id_ for id_, region in REGION.items() if is_in(message.at, region)}


def spoken_to(message):
    """The subscriptions all of whose keywords the message has."""
    return {id_ for id_, words in WORDS.items() if set(words) <= set(message.keywords)}


# ---------------------------------------------------------------- the worked examples


def test_example_2_of_ap_tree():
    assert reach(O1) == {"q1", "q2", "q4", "q7"}
    assert reach(O1) & spoken_to(O1) == {"q7"}
    for make_index in INDEXES:
        index = make_index()
        index.insert_batch(SubscriptionBatch.from_subscriptions(SUBSCRIPTIONS))
        assert index.match(O1) == ["q7"]
        assert sorted(index.match(O2)) == ["q1", "q4"]


def test_section_2c_of_ap_tree_iq_tree():
    """The IQ-tree keeps each query under its rarest keyword, and o1 verifies three of them."""
    often = Counter(word for words in WORDS.values() for word in words)
    rarest = {id_: min(words, key=often.__getitem__) for id_, words in WORDS.items()}
    assert rarest["q7"] == "w4"
    cell = Box(-90, 22.5, -45, 45)  # of a quadtree of depth three; o1 is in it
    assert is_in(O1.at, cell)
    lists = {id_ for id_ in QUERIES if rarest[id_] in O1.keywords and is_in(cell, REGION[id_])}
    assert lists == {"q1", "q2", "q7"}


def test_section_2c_of_ap_tree_rt_tree():
    """The R^t-tree prunes R4 by place and R6 by tokens, and verifies the five others."""
    leaves = {"R3": ["q1", "q8", "q6"], "R4": ["q3", "q9"], "R5": ["q2", "q7"], "R6": ["q4", "q5"]}
    tokens = {name: {word for id_ in ids for word in WORDS[id_]} for name, ids in leaves.items()}
    near = {name for name, ids in leaves.items() if is_in(O1.at, bounding_box(ids))}
    assert tokens["R6"] == {"w1", "w5", "w6"}
    assert near == {"R3", "R5", "R6"}
    verified = [
        id_ for name, ids in leaves.items() for id_ in ids
        if name in near and tokens[name] & set(O1.keywords)
    ]  # fmt: skip
    assert verified == ["q1", "q8", "q6", "q2", "q7"]


def bounding_box(ids):
    boxes = np.array([(r.west, r.south, r.east, r.north) for r in map(REGION.get, ids)])
    return Box(*boxes[:, :2].min(axis=0), *boxes[:, 2:].max(axis=0))


def test_figure_6_of_ap_tree_ordered_keyword_trie():
    """By keywords alone o1 finds q3 and q7."""
    assert spoken_to(O1) == {"q3", "q7"}
    index = TrieQuadtree(leaf_capacity=1)
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            Subscription(s.id, s.expression) for s in SUBSCRIPTIONS
        )
    )
    matches = match(index, O1)
    assert sorted(matches.for_message(0)) == ["q3", "q7"]
    assert matches.candidates == 2


def plan(index, ids, offset, **settings):
    """What a k-node at `offset` does with these subscriptions: the cuts and who is in each."""
    store = index._store
    records = records_of(store.all_entries())
    names = store.ids.list_of(records[:, SLOT])
    arena = records[np.isin(names, ids)]
    order, without, key, run, first, cost = plan_cuts(
        store.clauses, Statistics(np.zeros(1), np.empty((0, 2)), False),
        index._settings._replace(**settings), arena, 0, len(arena), offset,
    )  # fmt: skip
    words = store.words_by_rank().to_pylist()
    assert without == 0
    cuts = {}
    for low, high in pairwise(first):
        members = store.ids.list_of(arena[order[run[low] : run[high]], SLOT])
        cuts[words[key[low]], words[key[high - 1]]] = set(members)
    return cuts, cost


@pytest.mark.parametrize("partition", [HeuristicPartition(), OptimalPartition()])
def test_example_3_of_ap_tree_first_node(partition):
    index = running_example()
    cuts, cost = plan(index, list(QUERIES), 0, fanout=3, keyword_partition=partition.code)
    assert cuts == {
        ("w1", "w1"): {"q1", "q2", "q4", "q5"},
        ("w2", "w3"): {"q3", "q7", "q8"},
        ("w4", "w5"): {"q6", "q9"},
    }
    # Keywords occur 4, 3, 3, 2 and 4 times among the queries: Eq. 1 with p(w) = freq(w) / 16.
    assert cost == pytest.approx((4 * 4 + 3 * 6 + 2 * 6) / 16)


def test_example_3_of_ap_tree_second_node():
    cuts, _ = plan(running_example(), ["q1", "q2", "q4", "q5"], 1, fanout=3)
    assert cuts == {("w2", "w2"): {"q1"}, ("w3", "w3"): {"q2"}, ("w5", "w5"): {"q4", "q5"}}


def test_example_3_of_ap_tree_by_each_algorithm():
    weight, chance = np.array([4, 2, 1, 1, 1]), np.array([4, 3, 3, 2, 4]) / 16
    for first in (
        even_cuts(weight, 3),
        heuristic_cuts(weight, chance, 3),
        optimal_cuts(weight, chance, 3),
    ):
        assert first.tolist() == [0, 1, 3, 5]


def figure_7a():
    """Keyword partition only."""
    return Cuts(
        0,
        {
            ("w1", "w1"): Cuts(
                1,
                {
                    ("w2", "w2"): Leaf("q1"),
                    ("w3", "w3"): Leaf("q2"),
                    ("w5", "w5"): Leaf("q4", "q5"),
                },
            ),
            ("w2", "w3"): Cuts(
                1, {("w3", "w3"): Leaf("q3"), ("w4", "w4"): Leaf("q7"), ("w6", "w6"): Leaf("q8")}
            ),
            ("w4", "w5"): Cuts(1, {("w5", "w5"): Leaf("q6"), ("w6", "w6"): Leaf("q9")}),
        },
    )


def test_figure_7a_of_ap_tree():
    index = hang_by_hand(running_example(), figure_7a())
    index.check()
    # q3 is found by the way c[w2, w3], c[w3], which only counts from the smallest keyword, w2.
    assert match(index, O1).candidates == 2
    assert index.match(O1) == ["q7"]
    assert sorted(index.match(O2)) == ["q1", "q4"]


def test_example_4_of_ap_tree():
    """Spatial partition only; q4 contains the region of s3-node and is in its dummy cell."""
    assert all(is_in(Point(*corner), REGION["q4"]) for corner in [(-180, 0), (0, 90)])
    s3_node = Cells(
        [-100], [35],
        {
            (0, 0): Leaf("q2"),
            (1, 0): Leaf("q1", "q2", "q7"),
            (0, 1): Leaf("q2"),
            (1, 1): Leaf("q1", "q2", "q7"),
        },
        dummy=Leaf("q4"),
    )  # fmt: skip
    index = hang_by_hand(
        running_example(),
        Cells(
            [0], [0],
            {
                (0, 0): Leaf("q8"),
                (1, 0): Leaf("q3", "q9"),
                (0, 1): s3_node,
                (1, 1): Leaf("q1", "q4", "q5", "q6"),
            },
        ),
    )  # fmt: skip
    index.check()
    assert is_in(O1.at, NORTH_WEST)
    assert match(index, O1).candidates == 4
    assert index.match(O1) == ["q7"]
    assert sorted(index.match(O2)) == ["q1", "q4"]


def figure_7c(below_s1=None, below_s2=None):
    """k1-node over k2-node, s1-node and s2-node."""
    return Cuts(
        0,
        {
            ("w1", "w1"): Cuts(
                1,
                {
                    ("w2", "w2"): Leaf("q1"),
                    ("w3", "w3"): Leaf("q2"),
                    ("w5", "w5"): Leaf("q4", "q5"),
                },
            ),
            ("w2", "w3"): Cells(
                [0], [0], {(0, 1): below_s1 or Leaf("q7"), (1, 0): Leaf("q3"), (0, 0): Leaf("q8")}
            ),
            ("w4", "w5"): Cells([0], [0], {(1, 1): below_s2 or Leaf("q6"), (1, 0): Leaf("q9")}),
        },
    )


def test_example_6_of_ap_tree():
    """o1 verifies one query, q7, and reports it."""
    index = hang_by_hand(running_example(), figure_7c())
    index.check()
    matches = match(index, O1)
    assert matches.for_message(0) == ["q7"]
    assert matches.candidates == 1


def test_example_6_of_ap_tree_other_message():
    """o2 reaches q1, q4 and q5 by w1, and q6 in its cell of s2-node by w5."""
    matches = match(hang_by_hand(running_example(), figure_7c()), O2)
    assert sorted(matches.for_message(0)) == ["q1", "q4"]
    assert matches.candidates == 4


def test_example_6_of_ap_tree_s1_node_is_entered_at_position_2():
    """From the second keyword on, w3 and w4 can still hit cuts below s1-node."""
    below = Cuts(1, {("w3", "w4"): Leaf("q7")})
    index = hang_by_hand(running_example(), figure_7c(below_s1=below))
    index.check()
    assert match(index, O1).candidates == 1
    only_w3 = Message("m", keywords=["w2", "w3"], at=O1.at)
    assert match(index, only_w3).candidates == 1  # w3 is after w2, with which the cut is entered
    only_w2 = Message("m", keywords=["w2"], at=O1.at)
    assert match(index, only_w2).candidates == 0


def test_example_6_of_ap_tree_s2_node_is_entered_at_position_4():
    """o1 has no fourth keyword: w4, with which s2-node is entered, hits nothing below it."""
    below = Cuts(1, {("w4", "w5"): Leaf("q6")})
    index = hang_by_hand(running_example(), figure_7c(below_s2=below))
    index.check()
    there = Point(100, 30)
    assert match(index, Message("m", keywords=O1.keywords, at=there)).candidates == 0
    more = Message("m", keywords=[*O1.keywords, "w5"], at=there)
    assert match(index, more).for_message(0) == ["q6"]


# ---------------------------------------------------------------- corrections: cuts and dummies


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


# ---------------------------------------------------------------- corrections: cells


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
        if kind == LEAF:
            start, count = reference >> 28, (reference >> 2) & 0x3FFFFFF
            rows += index._tree.records[start : start + count].tolist()
        elif kind:
            waiting += children_of(index, reference)
    return rows


# ---------------------------------------------------------------- corrections: when to stop

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


# ---------------------------------------------------------------- corrections: found once


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


# ---------------------------------------------------------------- corrections: drift


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
