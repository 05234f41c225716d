"""The R^t-trees: the example of ICDE 2015, token filters, and the R-tree that IRTree shares."""

from itertools import pairwise

import numpy as np
import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import ScanIndex
from nearcast.boolean.ir_tree import IRTree
from nearcast.boolean.r_tree._divide import divide
from nearcast.boolean.r_tree._layout import GARBAGE, HEIGHT, LEAVES, NODES, ROOT, ROWS
from nearcast.boolean.rt_tree import AllTokens, OneToken, RtTree, SeveralTokens
from nearcast.model import ANY, Box, Message, Point, Space, Subscription
from tests.boolean.hand_r_tree import hang_by_hand, token_sets
from tests.boolean.hand_tree import match
from tests.boolean.test_ap_tree import O1, O2, SUBSCRIPTIONS

# ---------------------------------------------------------------- the example of ICDE 2015, Fig. 5

# What the text says of the tree, whose figure is lost: R6 is pruned by its tokens, R4 by place.
FIGURE_5 = [[["q1", "q8", "q6"], ["q3", "q9"]], [["q2", "q7"], ["q4", "q5"]]]


def running_example(tokens):
    index = RtTree(tokens=tokens)
    index.insert_batch(SubscriptionBatch.from_subscriptions(SUBSCRIPTIONS))
    return hang_by_hand(index, FIGURE_5)


def test_section_2c_of_ap_tree():
    """o1 verifies q1, q8, q6, q2 and q7 in an R^t-Tree, and reports q7."""
    index = running_example(AllTokens())
    index.check()
    root = int(index._tree.used[ROOT])
    right = int(index._tree.children[root * index._settings.fanout + 1])
    assert token_sets(index, right)[1] == {"w1", "w5", "w6"}
    matches = match(index, O1)
    assert matches.candidates == 5
    assert matches.for_message(0) == ["q7"]


@pytest.mark.parametrize("tokens", [AllTokens(), OneToken(), SeveralTokens()])
def test_section_2c_of_ap_tree_with_each_filter(tokens):
    index = running_example(tokens)
    index.check()
    assert index.match(O1) == ["q7"]
    assert sorted(index.match(O2)) == ["q1", "q4"]


def test_section_2c_of_ap_tree_representatives_spare_verification():
    """More representatives, fewer to verify: with two, o1 looks at q7 alone."""
    looked_at = [match(running_example(t), O1).candidates for t in (OneToken(), SeveralTokens())]
    assert 5 > looked_at[0] > looked_at[1] == 1


# ---------------------------------------------------------------- what a filter demands

EVERYWHERE = Box(-10, -10, 10, 10)


def crowd(count=2_000):
    """Each has a word of its own, one that a tenth has, and one that all have."""
    return SubscriptionBatch.from_subscriptions(
        Subscription(i, ["all", f"tenth{i % 10}", f"own{i}"], EVERYWHERE) for i in range(count)
    )


@pytest.mark.parametrize(
    ("make_index", "words", "looked_at"),
    [
        (RtTree, ["own7"], 0),
        (RtTree, ["own7", "tenth8"], 0),
        (RtTree, ["own7", "tenth7"], 0),  # a level higher it is represented by "all"
        (RtTree, ["own7", "tenth7", "all"], 1),
        (IRTree, ["own7", "tenth7"], 0),  # two words are too few for any entry
        (IRTree, ["own7", "tenth8", "all"], 0),
        (IRTree, ["own7", "tenth7", "all"], 1),
        (lambda: RtTree(tokens=OneToken()), ["own7"], 1),
        (lambda: RtTree(tokens=OneToken()), ["tenth7", "all"], 0),
    ],
)
def test_a_message_needs_the_representatives_of_each_level(make_index, words, looked_at):
    index = make_index()
    index.insert_batch(crowd())
    assert index._tree.nodes[index._tree.used[ROOT], HEIGHT] == 2
    matches = match(index, Message("m", keywords=words, at=Point(0, 0)))
    assert matches.candidates == looked_at
    assert matches.for_message(0) == ([7] if "all" in words and looked_at else [])


# ---------------------------------------------------------------- edges

INDEXES = (RtTree, IRTree, lambda **k: RtTree(tokens=AllTokens(), **k))
indexes = pytest.mark.parametrize("make_index", INDEXES, ids=["RtTree", "IRTree", "R^t"])


@indexes
def test_entries_that_want_any_word_are_never_pruned(make_index):
    index = make_index(fanout=3, leaf_capacity=2)
    index.insert_batch(crowd(50))
    index.insert(Subscription("any", ANY, EVERYWHERE))
    index.check()
    assert index.match(Message("m", keywords=["unheard"], at=Point(0, 0))) == ["any"]
    assert index.match(Message("m", keywords=[], at=Point(0, 0))) == ["any"]
    index.remove("any")
    index.check()
    assert index.match(Message("m", keywords=[], at=Point(0, 0))) == []


@indexes
def test_a_clause_of_more_words_than_can_be_marked(make_index):
    words = [f"w{i}" for i in range(100)]
    index = make_index(fanout=2, leaf_capacity=1)
    for number in range(4):
        index.insert(Subscription(number, words[number:], EVERYWHERE))
    index.check()
    assert sorted(index.match(Message("m", keywords=words[1:], at=Point(0, 0)))) == [1, 2, 3]
    assert index.match(Message("m", keywords=words[:-1], at=Point(0, 0))) == []


@indexes
def test_messages_of_a_thousand_words(make_index):
    """Then the words of a node are asked about, not those of the message."""
    index = make_index()
    index.insert_batch(crowd())
    words = [f"own{i}" for i in range(1, 1_000)] + [f"x{i}" for i in range(300)]
    matches = match(index, Message("m", keywords=[*words, "all", "tenth3"], at=Point(0, 0)))
    assert sorted(matches.for_message(0)) == list(range(3, 1_000, 10))


@indexes
def test_many_of_the_same_are_divided_all_the_same(make_index):
    index = make_index(fanout=4, leaf_capacity=4)
    same = [Subscription(i, "tea", EVERYWHERE) for i in range(300)]
    index.insert_batch(SubscriptionBatch.from_subscriptions(same[:100]))
    for subscription in same[100:]:
        index.insert(subscription)
    index.check()
    assert sorted(index.match(Message("m", text="tea", at=Point(10, 10)))) == list(range(300))


@indexes
def test_far_and_infinite_bounds_stay_reckonable(make_index):
    """float32 has no more room for some of these, so their bounds are infinite."""
    ends = [-1e60, -1e38, -1.0, 0.0, 1.0, 3e38, 1e60]
    boxes = [
        Box(west, south, east, north, space=Space.PLANE)
        for west, east in pairwise(ends)
        for south, north in [(-1e60, 1e60), (0.0, 0.0), (-1.0, 1e38)]
    ]
    subscriptions = [Subscription(i, "tea", box) for i, box in enumerate(boxes)]
    subscriptions.append(Subscription("all", "tea"))
    index, oracle = (
        make_index(space=Space.PLANE, fanout=2, leaf_capacity=1),
        ScanIndex(space=Space.PLANE),
    )
    for subscription in subscriptions:
        index.insert(subscription)
        oracle.insert(subscription)
        index.check()
    for rebuilt in (False, True):
        for x in [*ends, 5e37, -2e50]:
            message = Message("m", text="tea", at=Point(x, 0.0, space=Space.PLANE))
            assert set(index.match(message)) == set(oracle.match(message)), (x, rebuilt)
        index.rebuild()
        index.check()


def test_large_boxes_among_small_ones_come_together():
    """Divided by place alone, both halves would be as large as the world."""
    small = [[x, y, x + 1, y + 1] for x in range(8) for y in range(8)]
    boxes = np.array([*small, *[[-180, -90, 180, 90]] * 64], np.float32)
    order = np.random.default_rng(1).permutation(len(boxes))
    divide(boxes, order, 64)
    assert set(order[:64].tolist()) in (set(range(64)), set(range(64, 128)))


def test_divide_puts_as_many_as_asked_in_each_group():
    random = np.random.default_rng(2)
    for size in (2, 3, 7, 1000):
        corner = random.integers(0, 5, (size, 2))
        boxes = np.hstack([corner, corner + 1]).astype(np.float32)
        for cut in {1, size // 2, size - 1}:
            order = np.arange(size)
            divide(boxes, order, cut)
            assert sorted(order.tolist()) == list(range(size))


# ---------------------------------------------------------------- coming and going


def some(count, *, seed, first_id=0):
    """Words of which some are frequent, boxes of every size."""
    random = np.random.default_rng(seed)
    corner = random.uniform(-80, 70, (count, 2))
    size = random.choice([0.0, 0.5, 5.0], (count, 2))
    ranks = np.minimum(random.geometric(0.05, (count, 3)), 80)
    return [
        Subscription(
            first_id + i, [f"w{w}" for w in ranks[i, : 1 + i % 3]],
            Box(*corner[i], *(corner[i] + size[i])),
        )
        for i in range(count)
    ]  # fmt: skip


def some_messages(count, *, seed):
    random = np.random.default_rng(seed)
    places = random.uniform(-80, 75, (count, 2))
    ranks = np.minimum(random.geometric(0.05, (count, 8)), 80)
    return MessageBatch.from_messages(
        Message(i, keywords=[f"w{w}" for w in ranks[i]], at=Point(*places[i])) for i in range(count)
    )


@indexes
def test_trees_grow_and_shrink_in_place(make_index):
    index, oracle = make_index(fanout=4, leaf_capacity=3), ScanIndex()
    heights = []
    for i, subscription in enumerate(some(400, seed=1)):
        index.insert(subscription)
        oracle.insert(subscription)
        if i % 100 == 0:
            index.check()
            heights.append(int(index._tree.nodes[index._tree.used[ROOT], HEIGHT]))
    assert heights[0] == 1
    assert heights == sorted(heights)
    assert heights[-1] >= 4
    messages = some_messages(50, seed=2)
    for low in range(0, 400, 100):
        found, right = index.match_batch(messages), oracle.match_batch(messages)
        for row in range(len(messages)):
            assert sorted(found.for_message(row)) == sorted(right.for_message(row))
        for i in range(low, low + 100):
            index.remove(i)
            oracle.remove(i)
        index.check()
    assert index._tree.nodes[index._tree.used[ROOT], HEIGHT] == 1
    index.insert(some(1, seed=3)[0])
    index.check()


@indexes
def test_memory_stays_bounded_under_churn(make_index):
    index = make_index(fanout=8, leaf_capacity=8)
    index.insert_batch(SubscriptionBatch.from_subscriptions(some(1_500, seed=4)))
    bytes_at_first = index.stats().bytes
    garbage = []
    for turn in range(8):
        newcomers = some(1_500, seed=5 + turn, first_id=1_500 * (turn + 1))
        for old, new in zip(range(1_500 * turn, 1_500 * (turn + 1)), newcomers, strict=True):
            index.remove(old)
            index.insert(new)
        used = index._tree.used
        garbage.append(used[GARBAGE] / used[ROWS])
    index.check()
    assert len(index) == 1_500
    assert index.stats().bytes < 2.5 * bytes_at_first
    assert max(garbage) <= 0.7


def test_a_tree_filled_one_by_one_is_as_good_as_one_built():
    """It is built again each time it has doubled, so it cannot be much worse."""
    subscriptions, messages = some(6_000, seed=6), some_messages(200, seed=7)
    built, grown = RtTree(leaf_capacity=16), RtTree(leaf_capacity=16)
    built.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions))
    for subscription in subscriptions:
        grown.insert(subscription)
    assert grown.stats().nodes <= 2.5 * built.stats().nodes
    assert int(grown._tree.used[LEAVES]) <= 2.5 * int(built._tree.used[LEAVES])
    looked_at = [index.match_batch(messages).candidates for index in (built, grown)]
    assert looked_at[1] <= 1.2 * looked_at[0]


@indexes
def test_a_loaded_tree_goes_on_as_the_saved_one(make_index, tmp_path):
    index = make_index(fanout=4, leaf_capacity=4)
    index.insert_batch(SubscriptionBatch.from_subscriptions(some(200, seed=8)))
    for i in range(0, 200, 3):
        index.remove(i)
    index.save(tmp_path / "a.near")
    loaded = type(index).load(tmp_path / "a.near")
    for each in (index, loaded):
        for subscription in some(300, seed=9, first_id=1_000):
            each.insert(subscription)
        each.check()
    assert loaded._settings == index._settings
    assert loaded._tree.used.tolist() == index._tree.used.tolist()
    assert loaded._tree.used[NODES] > 1
    messages = some_messages(50, seed=10)
    a, b = index.match_batch(messages), loaded.match_batch(messages)
    assert a.candidates == b.candidates


@pytest.mark.parametrize("make_index", [RtTree, IRTree])
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("fanout", 1, ValueError),
        ("fanout", 32, ValueError),
        ("fanout", 8.0, TypeError),
        ("leaf_capacity", 0, ValueError),
        ("leaf_capacity", "64", TypeError),
    ],
)
def test_settings_out_of_range_are_refused(make_index, name, value, error):
    with pytest.raises(error, match=f"{name} {value!r}"):
        make_index(**{name: value})
