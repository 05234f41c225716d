"""MBRTrie: the paper's example, the corrected algorithm, and what insertions and removals do."""

import numpy as np
import pytest

from nearcast.batches import SubscriptionBatch
from nearcast.boolean._records import SLOT
from nearcast.boolean.mbr_trie import CostBasedProbe, MBRTrie, ProbeTokenSet, ProbeTrie, trie
from nearcast.boolean.mbr_trie._build import renumber
from nearcast.boolean.mbr_trie._layout import (
    COUNT,
    FIRST,
    GAP,
    GARBAGE,
    NODES,
    RUN_COUNT,
    RUN_START,
)
from nearcast.boolean.mbr_trie._update import id_between
from nearcast.boolean.mbr_trie._walk import COST_BASED, looks_words_up, visit
from nearcast.model import ANY, Box, Message, Point, Space, Subscription
from nearcast.space import place_rects
from nearcast.text import Random, Tf
from nearcast.text.order import TermOrder
from tests.boolean.lfilter_example import (
    ANSWERS,
    M_P,
    M_P_WITH_A,
    M_R,
    PLANE,
    alphabetical,
    built,
    ids_of,
    ranks,
    trie_numbers,
)

PROBINGS = (ProbeTokenSet(), ProbeTrie(), CostBasedProbe())
PRINTED = {*range(5), *range(8, 12), *range(16, 19), *range(23, 26)}


def example(**options):
    return built(MBRTrie(space=PLANE, order=alphabetical(), **options))


def visited(index, message, probing=COST_BASED):
    """The numbers of the nodes and leaves that a message visits."""
    have = np.array(ranks(index, message), np.int32)
    (box,) = place_rects(message.at)
    room = np.empty(64, np.int64), np.empty(64, np.int64)
    queue, _, count = visit(
        index._trie, have, 0, len(have), probing, *np.array(box, np.float32), *room
    )
    numbers, leaves = trie_numbers(index._trie)
    nodes = set(queue[:count].tolist())
    return {numbers[node] for node in nodes} | {leaves[node] for node in nodes & set(leaves)}


# ------------------------------------------------------------------ the paper's example


@pytest.mark.parametrize("probing", PROBINGS, ids=repr)
@pytest.mark.parametrize("message", [M_P, M_R], ids=lambda message: message.id)
def test_answers_of_figure_1(probing, message):
    assert set(example(probing=probing).match(message)) == ANSWERS[message.id]


def test_nodes_of_figure_2():
    index = example()
    rows = index._trie.rows
    numbers, leaves = trie_numbers(index._trie)
    node = {number: node for node, number in numbers.items()}
    assert len(numbers) + len(leaves) == 31
    assert rows.view(np.float32)[node[1], 4:8].tolist() == [10, 0, 30, 40]
    first, count = rows[0, FIRST], rows[0, COUNT]
    assert [numbers[child] for child in range(first, first + count)] == [1, 8, 23, 26]
    assert list_below(index, node[1]) == ["s1", "s2"]
    assert list_below(index, node[8]) == [f"s{i}" for i in range(3, 10)]
    assert list_below(index, node[26]) == ["s11", "s12"]


def list_below(index, node):
    """The subscriptions whose ID is in the span of a node, in the order of their IDs."""
    _, rows, spans, used = index._trie
    low, high = spans[node]
    found = []
    for other in range(used[NODES]):
        start, count = rows[other, RUN_START], rows[other, RUN_COUNT]
        if count and low <= spans[other, 0] <= high:
            slots = index._records[start : start + count, SLOT]
            found.append((spans[other, 0], ids_of(index, slots)))
    return [id_ for _, ids in sorted(found) for id_ in sorted(ids)]


@pytest.mark.parametrize("probing", PROBINGS, ids=repr)
def test_visited_nodes_of_section_3_3(probing):
    index = example(probing=probing)
    assert visited(index, M_P_WITH_A, probing.code) == PRINTED
    assert visited(index, M_P, probing.code) == PRINTED - {1, 2, 3, 4}


def test_the_root_of_the_example_is_probed_with_its_children():
    assert not looks_words_up(COST_BASED, 4, 5)  # 4 children, 5 words
    assert looks_words_up(COST_BASED, 4, 3)


def test_correction_of_selectpair_a_child_is_entered_when_boxes_meet():
    """Lines 5 and 8 print `= φ` where `≠ φ` is meant."""
    index = MBRTrie(space=PLANE)
    index.insert_batch(
        batch([Subscription(i, ["tea"], Box(i, 0, i + 1, 1, space=PLANE)) for i in range(40)])
    )
    inside, outside = Point(5.5, 0.5, space=PLANE), Point(5.5, 2, space=PLANE)
    assert index.match(Message(1, keywords=["tea"], at=inside)) == [5]
    before = index.stats().candidates
    assert index.match(Message(1, keywords=["tea"], at=outside)) == []
    assert index.stats().candidates == before  # the box kept it from the whole list


# ------------------------------------------------------------------ coming and going


def batch(subscriptions, space=PLANE):
    return SubscriptionBatch.from_subscriptions(subscriptions, space=space)


def answers_like_a_new_one(index, subscriptions, messages):
    other = MBRTrie(space=index.space)
    other.insert_batch(batch(subscriptions, index.space))
    for message in messages:
        assert set(index.match(message)) == set(other.match(message))


class ByLetter(TermOrder):
    """A fixed order, so that new sets can be aimed at a gap."""

    def order(self, frequency):
        return np.arange(len(frequency))


def test_ids_are_renumbered_when_a_gap_is_used_up(monkeypatch):
    """Sets that always come before the last one halve the same gap, which ends after 32 of them."""
    calls = []
    monkeypatch.setattr(trie, "renumber", lambda tree: calls.append(1) or renumber(tree))
    words = [f"w{i:03}" for i in range(100)]
    index = MBRTrie(space=PLANE, order=ByLetter())
    index.insert_batch(batch([Subscription(i, [word]) for i, word in enumerate(words)]))
    for i in range(98, 0, -1):
        index.insert(Subscription(1000 + i, [words[0], words[i]]))
        index.check()
    assert len(calls) == 3
    everything = Message(1, keywords=words, at=Point(0, 0, space=PLANE))
    assert len(index.match(everything)) == 198


def test_ids_between_two_others():
    assert id_between(10, 12, False) == 11
    assert id_between(10, 11, False) == 0
    assert id_between(GAP, 2 * GAP, False) == GAP + GAP // 2
    assert id_between(GAP, 2 * GAP, True) == GAP + (1 << 16)
    assert id_between(GAP, 1 << 62, True) == 2 * GAP


def test_nodes_without_anything_go():
    index = MBRTrie()
    index.insert(Subscription(1, "a b c d"))
    index.insert(Subscription(2, "a b"))
    index.check()
    nodes = index.stats().nodes
    index.remove(1)
    index.check()
    assert index.stats().nodes == nodes - 2
    index.remove(2)
    assert index.stats().nodes == 1
    index.insert(Subscription(3, ANY, Box(0, 0, 1, 1)))
    index.check()
    assert index.match(Message(1, keywords=[], at=Point(1, 1))) == [3]


def test_churn_keeps_memory_bounded():
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(60)]
    index = MBRTrie(space=PLANE)

    def some(id_):
        chosen = rng.choice(words, rng.integers(1, 5), replace=False).tolist()
        x, y = rng.random(2).tolist()
        return Subscription(id_, chosen, Box(x, y, x + 0.1, y + 0.1, space=PLANE))

    live = {i: some(i) for i in range(300)}
    index.insert_batch(batch(live.values()))
    size = index.stats().bytes
    for i in range(6000):
        live[i % 300] = some(i % 300)
        index.insert(live[i % 300])
    index.check()
    assert index.stats().bytes < 4 * size
    used = index._trie.used
    assert used[GARBAGE] <= 1024 + used[NODES] // 2
    messages = [
        Message(i, keywords=rng.choice(words, 12).tolist(), at=Point(*rng.random(2), space=PLANE))
        for i in range(50)
    ]
    answers_like_a_new_one(index, live.values(), messages)


def test_many_identical_subscriptions_are_one_list():
    index = MBRTrie()
    index.insert_batch(batch([Subscription(i, "tea cake", None) for i in range(2000)], Space.EARTH))
    assert index.stats().nodes == 3
    assert len(index.match(Message(1, text="tea and cake", at=Point(0, 0)))) == 2000
    for i in range(0, 2000, 7):
        index.remove(i)
    index.check()


@pytest.mark.parametrize("order", [Tf(), Random(seed=4)], ids=repr)
def test_a_saved_trie_keeps_its_settings(order, tmp_path):
    index = MBRTrie(order=order, probing=ProbeTrie())
    index.insert(Subscription("x", "tea cake OR sale"))
    index.save(tmp_path / "trie")
    again = MBRTrie.load(tmp_path / "trie")
    assert (again._order, again._probing) == (order, ProbeTrie())
    again.check()


def test_an_order_of_ones_own_cannot_be_saved(tmp_path):
    index = MBRTrie(order=ByLetter())
    assert index.stats().subscriptions == 0
    with pytest.raises(TypeError, match="cannot be saved; use Tf"):
        index.save(tmp_path / "trie")
