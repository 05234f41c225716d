"""PT-Quadtree: the paper's example, pivotal words, borders, dividing, and what changes do."""

import numpy as np
import pytest

from nearcast.batches import SubscriptionBatch
from nearcast.boolean._records import SLOT, run_count, run_start
from nearcast.boolean.lfilter import LFilter
from nearcast.boolean.pt_quadtree import CopyToLeaves, PTQuadtree, SmallestCell
from nearcast.boolean.pt_quadtree._layout import (
    BELOW,
    COVER,
    FIRST,
    MOST_WAITING,
    NODES,
    OWN,
    WITH_WORDS,
)
from nearcast.boolean.pt_quadtree._pivots import hitting_set
from nearcast.boolean.pt_quadtree._walk import visit
from nearcast.model import ANY, Box, Message, Point, Space, Subscription
from nearcast.space import place_rects
from tests.boolean.lfilter_example import (
    ANSWERS,
    LETTERS,
    M_P,
    M_R,
    PLANE,
    alphabetical,
    built,
    cell_numbers,
    ids_of,
    ranks,
)

# The cells of the example are as small as the paper's: two levels, whatever is in them.
DIVIDED = {"leaf_capacity": 1, "most_levels": 2, "most_copies": 100.0}


def example(placement=None):
    return built(PTQuadtree(space=PLANE, placement=placement, **DIVIDED))


def lettered():
    """The quadtree of the example with words in the order of the alphabet, as its ties need it."""
    return built(LFilter(space=PLANE, order=alphabetical(), **DIVIDED))


def list_of(index, cell):
    reference = int(index._quadtree.lists[cell])
    if reference == 0:
        return []
    start, count = run_start(reference), run_count(reference)
    ids = ids_of(index, index._records[start : start + count, SLOT])
    return sorted(ids, key=lambda id_: int(id_[1:]))


def words_of(index, cell, column):
    start, count = index._quadtree.nodes[cell, column : column + 2].tolist()
    return "".join(LETTERS[rank] for rank in index._quadtree.tokens[start : start + count])


def candidates(index, message):
    """The numbers of the cells whose lists a message reaches."""
    have = np.array(ranks(index, message), np.int32)
    (box,) = place_rects(message.at)
    cells, found = visit(
        index._quadtree, WITH_WORDS, have, 0, len(have), *(float(side) for side in box),
        np.empty(MOST_WAITING, np.int64), np.empty(8, np.int64),
    )  # fmt: skip
    numbers = cell_numbers(index._quadtree)
    return {numbers.index(cell) for cell in cells[:found].tolist()}


def batch(subscriptions, space=PLANE):
    return SubscriptionBatch.from_subscriptions(subscriptions, space=space)


# ------------------------------------------------------------------ the paper's example


@pytest.mark.parametrize("placement", [CopyToLeaves(), SmallestCell()], ids=repr)
@pytest.mark.parametrize("message", [M_P, M_R], ids=lambda message: message.id)
def test_answers_of_figure_1(placement, message):
    assert set(example(placement).match(message)) == ANSWERS[message.id]


@pytest.mark.parametrize("make", [example, lettered])
def test_lists_of_figure_4(make):
    index = make()
    cells = cell_numbers(index._quadtree)
    assert len(cells) == 21
    lists = {number: list_of(index, cell) for number, cell in enumerate(cells)}
    assert [lists[number] for number in (2, 3, 4, 5)] == [["s3"], ["s3"], ["s9"], ["s5"]]
    assert [lists[number] for number in (7, 10, 12, 17)] == [["s2"], ["s11"], ["s11"], ["s10"]]
    # The text has no s10 here, though it contains m_p: see `lfilter_example`.
    assert lists[18] == ["s1", "s4", "s7", "s9", "s10"]


def test_pivotal_words_of_figure_4():
    index = lettered()
    cells = cell_numbers(index._quadtree)
    # What all children share is in the parent alone.
    assert words_of(index, cells[1], COVER) == "b"
    assert words_of(index, cells[1], BELOW) == ""
    assert [words_of(index, cells[number], OWN) for number in (2, 3, 4, 5)] == ["", "", "", ""]
    assert [words_of(index, cells[number], OWN) for number in (17, 18, 19, 20)] == [
        "d",
        "bd",  # b in the text, which leaves s10 out
        "b",
        "b",
    ]
    assert words_of(index, cells[16], COVER) == ""
    assert words_of(index, cells[16], BELOW) == "bd"
    assert "d" in words_of(index, cells[0], BELOW)


def test_candidates_of_section_4_2():
    index = lettered()
    assert candidates(index, M_R) == {7, 10, 12, 17} | {18}  # 18 because of s10
    assert candidates(index, M_P) == {18}
    assert 3 not in candidates(index, Message(1, keywords=["c"], at=Point(25, 33, space=PLANE)))


# ------------------------------------------------------------------ pivotal words


def test_pivotal_words_are_a_greedy_hitting_set():
    sets = ["a b", "b c", "b d", "c d", "e"]
    index = PTQuadtree(space=PLANE)
    index.insert_batch(batch([Subscription(i, words.split()) for i, words in enumerate(sets)]))
    index.rebuild()
    chosen = hitting_set(index._store.clauses, index._records[: len(sets)], np.zeros(9, np.int32))
    words = index._store.words_by_rank().to_pylist()
    names = {words[rank] for rank in chosen}
    assert {"b", "e"} < names
    assert len(names) == 3
    assert names & {"c", "d"}


def test_a_leaf_is_a_candidate_by_its_own_words():
    """Algorithm 2 as printed adds leaves only below a cover word."""
    index = PTQuadtree(space=PLANE, **DIVIDED)
    corners = [(0, 0, "a"), (9, 0, "b"), (0, 9, "c"), (9, 9, "d")]
    index.insert_batch(
        batch([Subscription(w, [w], Box(x, y, x + 1, y + 1, space=PLANE)) for x, y, w in corners])
    )
    index.rebuild()
    assert index._quadtree.nodes[WITH_WORDS, FIRST] > 0
    for x, y, word in corners:
        assert index.match(Message(1, keywords=[*"abcd"], at=Point(x, y, space=PLANE))) == [word]


def test_words_prune_whole_quadrants():
    rng = np.random.default_rng(3)
    index = PTQuadtree(space=PLANE, leaf_capacity=4)
    rows = []
    for i, (x, y) in enumerate(rng.random((200, 2)).tolist()):
        word = "east" if x > 0.5 else "west"
        rows.append(Subscription(i, [word, f"w{i}"], Box(x, y, x, y, space=PLANE)))
    index.insert_batch(batch(rows))
    everywhere = Box(0, 0, 1, 1, space=PLANE)
    index.match(Message(1, keywords=["west"], at=everywhere))
    assert 0 < index.stats().candidates < 150


def test_any_is_found_beside_words_and_prunes_nothing_else():
    index = PTQuadtree(space=PLANE, leaf_capacity=1)
    index.insert_batch(
        batch(
            [
                Subscription(i, ANY if i == 99 else [f"w{i}"], Box(i % 30, 0, 40, 9, space=PLANE))
                for i in (*range(30), 99)
            ]
        )
    )
    index.check()
    assert index.match(Message(1, keywords=[], at=Point(12, 1, space=PLANE))) == [99]
    found = index.match(Message(1, keywords=["w5"], at=Point(12, 1, space=PLANE)))
    assert sorted(found) == [5, 99]


# ------------------------------------------------------------------ borders and dividing


@pytest.mark.parametrize("placement", [CopyToLeaves(), SmallestCell()], ids=repr)
def test_regions_and_messages_on_the_lines(placement):
    index = PTQuadtree(space=PLANE, leaf_capacity=1, most_copies=64.0, placement=placement)
    boxes = [Box(x, y, x + 2, y + 2, space=PLANE) for x in range(0, 15, 2) for y in range(0, 15, 2)]
    subscriptions = [Subscription(i, ["tea"], box) for i, box in enumerate(boxes)]
    index.insert_batch(batch(subscriptions))
    index.check()
    assert index._quadtree.used[NODES] > 20
    for x in np.arange(-1, 18, 1.0):
        for y in (-1.0, 0.0, 4.0, 8.0, 9.0, 16.0, 17.0):
            message = Message(1, keywords=["tea"], at=Point(x, y, space=PLANE))
            right = {
                i
                for i, box in enumerate(boxes)
                if box.west <= x <= box.east and box.south <= y <= box.north
            }
            found = index.match(message)
            assert len(set(found)) == len(found)
            assert set(found) == right


def test_what_cannot_be_divided_is_one_long_list():
    index = PTQuadtree()
    index.insert_batch(batch([Subscription(i, "tea") for i in range(3000)], Space.EARTH))
    assert index.stats().nodes == 2
    index = PTQuadtree(most_levels=5)
    box = Box(1, 1, 1, 1)
    index.insert_batch(batch([Subscription(i, "tea", box) for i in range(3000)], Space.EARTH))
    assert index.stats().nodes <= 2 + 4 * 5
    assert index.stats().copies < 2
    index.check()


def test_copies_are_bounded():
    rng = np.random.default_rng(5)
    rows = [
        Subscription(i, ["tea", f"w{i}"], Box(x, y, x + 0.2, y + 0.2, space=PLANE))
        for i, (x, y) in enumerate(rng.random((2000, 2)).tolist())
    ]
    for most_copies in (1.5, 4.0):
        index = PTQuadtree(space=PLANE, leaf_capacity=2, most_copies=most_copies)
        index.insert_batch(batch(rows))
        assert index.stats().copies < 1.2 * most_copies
    once = PTQuadtree(space=PLANE, leaf_capacity=2, placement=SmallestCell())
    once.insert_batch(batch(rows))
    assert once.stats().copies < 1.6  # spare room included


# ------------------------------------------------------------------ coming and going


@pytest.mark.parametrize("placement", [CopyToLeaves(), SmallestCell()], ids=repr)
def test_churn_keeps_memory_bounded(placement):
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(60)]
    index = PTQuadtree(space=PLANE, leaf_capacity=8, placement=placement)

    def some(id_):
        chosen = rng.choice(words, rng.integers(1, 5), replace=False).tolist()
        x, y = rng.random(2).tolist()
        return Subscription(id_, chosen, Box(x, y, x + 0.1, y + 0.1, space=PLANE))

    index.insert_batch(batch([some(i) for i in range(300)]))
    size = index.stats().bytes
    for i in range(6000):
        index.insert(some(i % 300))
        if i % 500 == 0:
            index.check()
    index.check()
    assert index.stats().bytes < 4 * size


def test_a_long_list_keeps_its_order_while_it_changes():
    """More comes than a tail holds, and more goes than may stay dead."""
    index = PTQuadtree(leaf_capacity=10_000)
    index.insert_batch(batch([Subscription(i, f"tea w{i}") for i in range(400)], Space.EARTH))
    for i in range(0, 400, 3):
        index.remove(i)
        index.insert(Subscription(1000 + i, "tea"))
        if i % 30 == 0:
            index.check()
    assert len(index.match(Message(1, keywords=["tea"], at=Point(0, 0)))) == 134


def test_a_leaf_divides_when_it_is_full():
    index = PTQuadtree(space=PLANE, leaf_capacity=4, most_copies=64.0)
    for i in range(200):
        x, y = i % 14 / 14 * 300 - 150, i // 14 / 15 * 160 - 80
        index.insert(Subscription(i, [f"w{i % 7}", "tea"], Box(x, y, x + 1, y + 1, space=PLANE)))
        len(index)
        if i % 20 == 0:
            index.check()
    index.check()
    assert index.stats().nodes > 50


def test_a_saved_quadtree_keeps_its_settings(tmp_path):
    index = PTQuadtree(leaf_capacity=3, most_levels=4, most_copies=2.5, placement=SmallestCell())
    index.insert(Subscription("x", "tea cake OR sale"))
    index.save(tmp_path / "quadtree")
    again = PTQuadtree.load(tmp_path / "quadtree")
    assert again._settings == index._settings == (3, 4, 2.5, True)
    again.check()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"leaf_capacity": 0}, ValueError, "leaf_capacity 0 is too small"),
        ({"leaf_capacity": 2.5}, TypeError, "leaf_capacity 2.5 is not a whole number"),
        ({"most_levels": -1}, ValueError, "most_levels -1 is too small"),
        ({"most_levels": 25}, ValueError, "most_levels 25 is too large"),
        ({"most_copies": 0.5}, ValueError, "most_copies 0.5 is too small"),
        ({"most_copies": float("nan")}, ValueError, "most_copies nan is too small"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, error, text):
    for index in (PTQuadtree, LFilter):
        with pytest.raises(error, match=text):
            index(**options)
