"""Leaves that split, nodes that merge, structures that follow a changing workload, memory."""

from math import log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import APTree, ScanIndex, TrieQuadtree
from nearcast.boolean.ap_tree._layout import (
    GARBAGE,
    RECORDS,
    empty_tree,
)
from nearcast.boolean.ap_tree._update import drift
from nearcast.model import Box, Message, Point, Polygon, Subscription


def workload(count, *, seed, words, where, first_id=0):
    """Two words and a small box each, around one longitude."""
    random = np.random.default_rng(seed)
    keywords = [[words[i], words[j]] for i, j in random.integers(0, len(words), (count, 2))]
    corner = np.column_stack([random.normal(where, 8, count), random.normal(0, 8, count)])
    boxes = np.hstack([corner, corner + random.uniform(0.1, 1, (count, 1))])
    table = pa.table(
        {
            "id": np.arange(first_id, first_id + count),
            "keywords": keywords,
            **{name: boxes[:, i] for i, name in enumerate(["west", "south", "east", "north"])},
        }
    )
    return SubscriptionBatch.from_arrow(table)


def messages(count, *, seed, words, where):
    random = np.random.default_rng(seed)
    chosen = random.integers(0, len(words), (count, 5))
    places = np.column_stack([random.normal(where, 8, count), random.normal(0, 8, count)])
    return MessageBatch.from_messages(
        Message(i, keywords=[words[j] for j in row], at=Point(*places[i]))
        for i, row in enumerate(chosen)
    )


OLD_WORDS = [f"old{i}" for i in range(60)]
NEW_WORDS = [f"new{i}" for i in range(60)]


def insert_in_pieces(index, batch, pieces=20):
    """So small that none of them has the whole tree built."""
    for rows in np.array_split(np.arange(len(batch)), pieces):
        index.insert_batch(batch.take(rows))


def same_answers(one, other, batch):
    a, b = one.match_batch(batch), other.match_batch(batch)
    return all(
        sorted(a.for_message(i)) == sorted(b.for_message(i)) for i in range(len(batch))
    )  # fmt: skip


# ---------------------------------------------------------------- splitting and merging


def test_leaves_split_and_nodes_merge():
    index = APTree(leaf_capacity=4, fanout=16)
    batch = workload(400, seed=1, words=OLD_WORDS, where=0)
    assert index.stats().nodes == 0
    nodes = []
    for row in range(400):
        index.insert(batch.subscription(row))
        if row in (3, 50, 399):
            nodes.append(index.stats().nodes)
            index.check()
    assert nodes[0] == 0 < nodes[1] < nodes[2]
    for row in range(398):
        index.remove(row)
        if row % 40 == 0:
            index.check()
    index.check()
    assert index.stats().nodes == 0
    assert sorted(index.ids()) == [398, 399]


def test_leaf_that_cannot_be_split_grows():
    index = APTree(leaf_capacity=4)
    for number in range(100):
        index.insert(Subscription(number, "tea", Box(0, 0, 1, 1)))
        index.check()
    assert index.stats().nodes == 0
    index.insert_batch(workload(30, seed=2, words=OLD_WORDS, where=100, first_id=1000))
    index.check()
    assert len(index.match(Message(1, text="tea", at=Point(0, 0)))) == 100


@pytest.mark.parametrize("make_index", [APTree, TrieQuadtree])
@pytest.mark.parametrize("leaf_capacity", [2, 10])
def test_one_by_one_or_at_once(make_index, leaf_capacity):
    batch = workload(600, seed=3, words=OLD_WORDS, where=0)
    asked = messages(150, seed=4, words=OLD_WORDS, where=0)
    at_once, singly = (make_index(leaf_capacity=leaf_capacity) for _ in range(2))
    at_once.insert_batch(batch)
    insert_in_pieces(singly, batch, 100)
    singly.check()
    oracle = ScanIndex()
    oracle.insert_batch(batch)
    assert same_answers(at_once, oracle, asked)
    assert same_answers(singly, oracle, asked)


# ---------------------------------------------------------------- drift


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=9))
def test_drift(weights):
    """D_KL(w_old | w), both with one added to each weight and divided by their sums."""
    tree = empty_tree()
    tree.weights[3 : 3 + len(weights)] = weights
    old_sum = sum(old + 1 for _, old in weights)
    new_sum = sum(new + 1 for new, _ in weights)
    expected = sum(
        (old + 1) / old_sum * log((old + 1) / old_sum * new_sum / (new + 1)) for new, old in weights
    )
    assert drift(tree, 3, len(weights)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("removing", [False, True])
def test_index_follows_a_workload_that_moves(removing):
    """Built for one place and vocabulary, then fed with others; only one of the two rebuilds."""
    before = workload(1500, seed=5, words=OLD_WORDS, where=-60)
    after = workload(1500, seed=6, words=NEW_WORDS, where=60, first_id=5000)
    asked = messages(300, seed=7, words=NEW_WORDS, where=60)
    adaptive = APTree(leaf_capacity=10, fanout=64)
    rigid = APTree(leaf_capacity=10, fanout=64, drift_threshold=None)
    oracle = ScanIndex()
    for index in (adaptive, rigid, oracle):
        index.insert_batch(before)
        insert_in_pieces(index, after)
        if removing:
            for row in range(0, 1500, 2):
                index.remove(row)
        index.check()
    assert same_answers(adaptive, oracle, asked)
    assert same_answers(rigid, oracle, asked)
    looked_at = [index.match_batch(asked).candidates for index in (adaptive, rigid)]
    assert looked_at[0] < 0.8 * looked_at[1]
    fresh = APTree(leaf_capacity=10, fanout=64)
    fresh.insert_batch(after)
    assert looked_at[0] < 3 * fresh.match_batch(asked).candidates


def test_removals_alone_can_be_drift():
    """All that is left of one word: the root is built again while subscriptions go."""
    index = APTree(leaf_capacity=4, fanout=4)
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            Subscription(i, [f"w{i % 10}"], Box(i % 37, i % 17, i % 37 + 1, i % 17 + 1))
            for i in range(400)
        )
    )
    live = set(range(400))
    for number in sorted(live, key=lambda i: i % 10):
        index.remove(number)
        live.remove(number)
        if len(live) % 7 == 0:
            index.check()
            assert set(index.ids()) == live
    assert index.stats().nodes == 0


def test_workload_that_stays_is_not_rebuilt():
    """The same distribution at the same size: the root that was built is the root there is."""
    words = OLD_WORDS[:4]
    index = APTree(leaf_capacity=10, fanout=16, drift_threshold=0.5)
    index.insert_batch(workload(2000, seed=8, words=words, where=0))
    rebuilt = []
    index.rebuild = lambda: rebuilt.append(True)
    for number in range(200):
        index.remove(number)
    index.insert_batch(workload(200, seed=9, words=words, where=0))
    index.check()
    assert not rebuilt


# ---------------------------------------------------------------- memory


def churned(index, make_subscription, rounds=40, size=400):
    """Bytes after the first rounds and the most after the others, at constant size."""
    number = 0
    early, late = [], []
    for turn in range(rounds):
        fresh = [make_subscription(number + i) for i in range(size // 4)]
        number += len(fresh)
        index.insert_batch(SubscriptionBatch.from_subscriptions(fresh))
        ids = index.ids()
        for id_ in sorted(ids, key=lambda id_: int(str(id_)))[: max(0, len(ids) - size)]:
            index.remove(id_)
        (early if turn < rounds // 2 else late).append(index.stats().bytes)
    index.check()
    assert len(index) == size
    return max(early), max(late)


CHURN = {
    "integers": lambda i: Subscription(i, [f"w{i % 90}"], Box(i % 90, 0, i % 90 + 2, 9)),
    "strings": lambda i: Subscription(str(i), [f"w{i % 90}"], Box(i % 90, 0, i % 90 + 2, 9)),
    "expressions": lambda i: Subscription(i, f"w{i % 9} AND (x{i % 7} OR y{i % 5} NOT z)"),
    "across": lambda i: Subscription(i, [f"w{i % 90}"], Box(179, -i % 90, -179, 90)),
    "polygons": lambda i: Subscription(
        i, [f"w{i % 9}"], Polygon([[(x, (x * x + i) % 80) for x in range(30)]])
    ),
    "new words": lambda i: Subscription(i, [f"word{i}", f"w{i % 9}"]),
}


@pytest.mark.parametrize("name", CHURN)
def test_memory_stays_bounded_while_subscriptions_come_and_go(name):
    early, late = churned(APTree(leaf_capacity=10), CHURN[name])
    assert late <= 1.5 * early


@pytest.mark.parametrize("make_index", [APTree, TrieQuadtree])
def test_words_that_nobody_wants_any_more_are_forgotten_each_time(make_index):
    """Thirty subscriptions with 36,000 words one after the other, 60 at a time."""
    index = make_index()
    most = []
    for turn in range(600):
        index.insert_batch(
            SubscriptionBatch.from_subscriptions(
                Subscription(i, f"word{turn * 30 + i} OR other{turn * 30 + i}") for i in range(30)
            )
        )
        most.append(index._store.words)
    assert max(most) <= 4000
    index.check()


def test_replacing_the_same_few_stays_bounded():
    index = APTree(leaf_capacity=4)
    sizes = []
    for number in range(3000):
        index.insert(Subscription(number % 20, [f"w{number % 7}"], Box(0, 0, number % 50, 1)))
        if number % 100 == 99:
            sizes.append(index.stats().bytes)
    assert max(sizes) <= 2 * sizes[0]
    index.check()


def test_garbage_is_packed_away():
    index = APTree(leaf_capacity=4, fanout=16, drift_threshold=None)
    batch = workload(3000, seed=10, words=OLD_WORDS, where=0)
    insert_in_pieces(index, batch, 300)
    for row in range(0, 3000, 2):
        index.remove(row)
    index.check()
    used = index._tree.used
    assert used[GARBAGE] <= 1024 + used[RECORDS] // 2 + 64


def test_bytes_of_a_subscription():
    """Simple subscriptions stay far below 200 bytes each."""
    count = 20_000
    batch = workload(count, seed=11, words=[f"w{i}" for i in range(5000)], where=0)
    index = APTree()
    index.insert_batch(batch)
    assert index.stats().bytes < 200 * count


def test_long_clauses_that_agree_are_not_counted_word_by_word():
    """All entries share a long prefix: the build steps over it, once a word."""
    words = [f"w{i:05}" for i in range(3000)]
    index = APTree(leaf_capacity=4)
    for i in range(20):
        index.insert(Subscription(i, [*words, f"x{i}"], Box(i, 0, i + 1, 1)))
    index.check()
    assert index.match(Message(1, keywords=[*words, "x7"], at=Point(7.5, 0.5))) == [7]


def test_replacing_everything_builds_once_and_answers_right():
    index = APTree(leaf_capacity=4)
    for shift in (0, 5):
        index.insert_batch(
            SubscriptionBatch.from_subscriptions(
                Subscription(i, f"w{i % 7}", Box(shift, 0, shift + 1, 1)) for i in range(500)
            )
        )
    index.check()
    assert index.match(Message(1, text="w3", at=Point(0.5, 0.5))) == []
    assert len(index.match(Message(1, text="w3", at=Point(5.5, 0.5)))) == 71
