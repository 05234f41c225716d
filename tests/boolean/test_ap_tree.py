"""The worked examples of the AP-Tree papers.

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
import pytest

from nearcast.batches import SubscriptionBatch
from nearcast.boolean import (
    APTree,
    HeuristicPartition,
    KeywordFirst,
    OptimalPartition,
    SpatialFirst,
    TrieQuadtree,
)
from nearcast.boolean._records import (
    SLOT,
    records_of,
)
from nearcast.boolean.ap_tree._partition import even_cuts, heuristic_cuts, optimal_cuts
from nearcast.boolean.ap_tree._plan import Statistics, plan_cuts
from nearcast.model import Box, Message, Point, Subscription
from nearcast.space import is_in
from tests.boolean.hand_tree import (
    Cells,
    Cuts,
    Leaf,
    hang_by_hand,
    in_alphabetical_order,
    match,
)

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


def reach(message):
    """The subscriptions in whose region the message is."""
    return {id_ for id_, region in REGION.items() if is_in(message.at, region)}


def spoken_to(message):
    """The subscriptions all of whose keywords the message has."""
    return {id_ for id_, words in WORDS.items() if set(words) <= set(message.keywords)}


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
