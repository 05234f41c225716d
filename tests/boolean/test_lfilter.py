"""LFilter: the paper's example, its corrections, and that it costs no more than its parts."""

import numpy as np
import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import ScanIndex
from nearcast.boolean._records import SLOT, run_count, run_start
from nearcast.boolean.lfilter import LFilter
from nearcast.boolean.lfilter._cost import GRID, Costs, expected_lists, quadtree_cost, trie_cost
from nearcast.boolean.lfilter._walk import hybrid_prune, open_lists, prune
from nearcast.boolean.mbr_trie import ProbeTrie
from nearcast.boolean.mbr_trie import _build as trie_build
from nearcast.boolean.mbr_trie._walk import COST_BASED
from nearcast.boolean.pt_quadtree import SmallestCell
from nearcast.model import ANY, Box, Message, Point, Subscription
from tests.boolean.lfilter_example import (
    ANSWERS,
    M_P,
    M_R,
    PLANE,
    alphabetical,
    built,
    cell_numbers,
    ids_of,
    ranks,
    trie_numbers,
)

DIVIDED = {"leaf_capacity": 1, "most_levels": 2, "most_copies": 100.0}

# Costs that leave the model no choice.
TRIE_ALONE = Costs(cell=1e12, check=1e9)
VERIFY_LISTS = Costs(record=1e6, key_step=1e6, check=1e-6, check_word=0.0)
PRUNE_LISTS = Costs(list_step=1e-6, record=1e3, node=0.01, key_step=1e-6, cell=0.0, check=1e4)
CHOICES = {"trie": TRIE_ALONE, "verify": VERIFY_LISTS, "prune": PRUNE_LISTS, "model": Costs()}


def example(costs=None, **options):
    index = built(LFilter(space=PLANE, order=alphabetical(), **(DIVIDED | options)))
    index._costs = costs or Costs()
    return index


def batch(subscriptions, space=PLANE):
    return SubscriptionBatch.from_subscriptions(subscriptions, space=space)


def opened(index, *numbers):
    """The lists of some cells of the example, as parts."""
    cells = np.array([cell_numbers(index._quadtree)[number] for number in numbers])
    return open_lists(index._quadtree, cells, np.empty((1, 3), np.int64))


def held(index, parts):
    """The subscriptions in some parts, in the order of their IDs."""
    slots = [index._records[begin:end, SLOT] for begin, end, _ in parts.tolist()]
    return ids_of(index, np.concatenate(slots)) if slots else []


# ------------------------------------------------------------------ the paper's example


@pytest.mark.parametrize("options", [{}, {"placement": SmallestCell()}, {"probing": ProbeTrie()}])
@pytest.mark.parametrize("costs", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("message", [M_P, M_R], ids=lambda message: message.id)
def test_answers_of_figure_1(message, costs, options):
    found = example(costs, **options).match(message)
    assert len(set(found)) == len(found)
    assert set(found) == ANSWERS[message.id]


def test_list_pruning_of_section_5_2():
    index = example()
    trie = index._trie
    node = {number: node for node, number in trie_numbers(trie)[0].items()}
    parts, count = opened(index, 18)
    assert held(index, parts[:count]) == ["s1", "s4", "s7", "s9", "s10"]
    for number, right in ((8, ["s4", "s7", "s9"]), (26, []), (1, ["s1"]), (23, ["s10"])):
        parts, to = prune(index._lists.ids, parts, 0, 1, *trie.spans[node[number]], 1)
        assert held(index, parts[1:to]) == right


def test_correction_of_hybridprune_a_leaf_gives_what_is_still_on_its_lists():
    """Line 3 verifies the subscriptions of the leaf on the pruned lists, not the whole leaf.

    s3 and s4 have the same words; s3 is far from m_p, in none of its lists.
    """
    index = example(PRUNE_LISTS)
    have = np.array(ranks(index, M_P), np.int32)
    parts, count = opened(index, 18)
    room = np.empty((64, 4), np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    *_, runs, total = hybrid_prune(
        index._trie, index._lists.ids, PRUNE_LISTS, have, 0, len(have), COST_BASED,
        *np.array([26, 14, 26, 14], np.float32), parts, count, *room, np.empty(8, np.int64), 0,
    )  # fmt: skip
    slots = [
        index._records[run_start(run) : run_start(run) + run_count(run), SLOT]
        for run in runs[:total].tolist()
    ]
    assert sorted(ids_of(index, np.concatenate(slots))) == ["s10", "s4", "s7"]


def test_correction_of_list_pruning_ids_have_gaps_and_are_renumbered(monkeypatch):
    """Sets that always come before the last one use a gap up; both structures follow."""
    calls = []
    renumber = trie_build.renumber
    monkeypatch.setattr(trie_build, "renumber", lambda trie: calls.append(1) or renumber(trie))
    words = [f"w{i:03}" for i in range(100)]
    index = LFilter(space=PLANE, leaf_capacity=20)
    index.insert_batch(batch([Subscription(i, [word]) for i, word in enumerate(words)]))
    for i in range(98, 0, -1):
        index.insert(Subscription(1000 + i, [words[0], words[i]]))
        index.check()
    assert len(calls) in range(1, 6)
    index._costs = PRUNE_LISTS
    everything = Message(1, keywords=words, at=Point(0, 0, space=PLANE))
    assert len(index.match(everything)) == 198


# ------------------------------------------------------------------ the cost model


def some_subscriptions(rng, count, side):
    words = [f"w{i}" for i in range(80)]
    for i, (x, y) in enumerate(rng.random((count, 2)).tolist()):
        chosen = rng.choice(words, rng.integers(1, 4), replace=False).tolist()
        yield Subscription(
            i, ANY if i % 50 == 7 else chosen, Box(x, y, x + side, y + side, space=PLANE)
        )


def some_messages(rng, count, words, side):
    names = [f"w{i}" for i in range(80)]
    for i, (x, y) in enumerate(rng.random((count, 2)).tolist()):
        at = Box(x, y, x + side, y + side, space=PLANE) if side else Point(x, y, space=PLANE)
        yield Message(i, keywords=rng.choice(names, words).tolist(), at=at)


@pytest.mark.parametrize("costs", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("placement", [None, SmallestCell()], ids=repr)
def test_every_choice_gives_the_same_answers(placement, costs):
    rng = np.random.default_rng(8)
    index = LFilter(space=PLANE, leaf_capacity=8, placement=placement)
    oracle = ScanIndex(space=PLANE)
    rows = list(some_subscriptions(rng, 400, 0.2))
    for each in (index, oracle):
        each.insert_batch(batch(rows[:300]))
        for row in rows[300:]:  # into the tails of lists
            each.insert(row)
        for id_ in range(0, 300, 4):  # dead in the lists
            each.remove(id_)
    index._costs = costs
    index.check()
    for words, side in ((2, 0), (30, 0), (2, 0.3), (30, 0.3)):
        for message in some_messages(rng, 30, words, side):
            found = index.match(message)
            assert len(set(found)) == len(found)
            assert set(found) == set(oracle.match(message))


def test_each_choice_is_taken():
    """Without a choice, fewer candidates are looked at the more the lists are pruned."""
    rng = np.random.default_rng(9)
    index = LFilter(space=PLANE, leaf_capacity=8)
    index.insert_batch(batch(some_subscriptions(rng, 2000, 0.1)))
    messages = MessageBatch.from_messages(list(some_messages(rng, 100, 10, 0)), space=PLANE)
    looked_at = {}
    for name, costs in CHOICES.items():
        index._costs = costs
        looked_at[name] = index.match_batch(messages).candidates
    assert looked_at["prune"] < looked_at["trie"]
    assert looked_at["prune"] < looked_at["verify"]


def test_large_ranges_go_to_the_trie_and_points_to_the_quadtree():
    rng = np.random.default_rng(10)
    index = LFilter(space=PLANE, leaf_capacity=8)
    index.insert_batch(batch(some_subscriptions(rng, 2000, 0.01)))
    costs, estimates = index._costs, index._estimates
    children = int(index._trie.rows[0, 1])
    here = expected_lists(estimates, 0.5, 0.5, 0.5, 0.5)
    assert here == 1
    all_of_it = expected_lists(estimates, 0.0, 0.0, 1.01, 1.01)
    leaves = np.count_nonzero(index._quadtree.lists)
    assert 0.5 * leaves < all_of_it < 2 * leaves
    assert quadtree_cost(costs, estimates, children, 100, here) < trie_cost(
        costs, estimates, children, 100
    )
    assert quadtree_cost(costs, estimates, children, 3, all_of_it) > trie_cost(
        costs, estimates, children, 3
    )


@pytest.mark.parametrize(
    "box",
    [(0.2, 0.2, 0.2, 0.9), (-5, -5, -4, -4), (9, 9, 10, 10), (-np.inf, 0.1, np.inf, 0.2)],
)
def test_expected_lists_of_odd_ranges(box):
    index = LFilter(space=PLANE, leaf_capacity=8)
    index.insert_batch(batch(some_subscriptions(np.random.default_rng(2), 500, 0.05)))
    assert index._estimates.leaves.shape == (GRID, GRID)
    leaves = np.count_nonzero(index._quadtree.lists[cell_numbers(index._quadtree)])
    assert np.isclose(index._estimates.leaves.sum(), leaves)
    assert 1 <= expected_lists(index._estimates, *(float(side) for side in box)) < np.inf


# ------------------------------------------------------------------ coming and going


def test_churn_keeps_memory_bounded():
    rng = np.random.default_rng(1)
    index = LFilter(space=PLANE, leaf_capacity=8)
    index.insert_batch(batch(some_subscriptions(rng, 300, 0.1)))
    size = index.stats().bytes
    for _ in range(20):
        for row in some_subscriptions(rng, 300, 0.1):
            index.insert(row)
    index.check()
    assert index.stats().bytes < 4 * size


def test_a_saved_filter_answers_as_before(tmp_path):
    rng = np.random.default_rng(4)
    index = LFilter(space=PLANE, leaf_capacity=8, probing=ProbeTrie())
    index.insert_batch(batch(some_subscriptions(rng, 500, 0.1)))
    index.save(tmp_path / "filter")
    again = LFilter.load(tmp_path / "filter")
    again.check()
    assert again._settings == index._settings
    assert again._probing == ProbeTrie()
    assert again._estimates[:4] == index._estimates[:4]
    for message in some_messages(rng, 40, 8, 0):
        assert set(again.match(message)) == set(index.match(message))
