"""Keywords whose entries the default index finds by place."""

import numpy as np
import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import RarestWordTree, ScanIndex
from nearcast.boolean.rarest_word_tree._choice import better_by_place
from nearcast.boolean.rarest_word_tree._layout import BY_PLACE
from nearcast.model import Box, Message, Point, Space, Subscription

WORDS = ["tea", "cake", "bread", "milk", "iced"]


def tiny_boxes(count, first=0):
    """Subscriptions of one to three words, each at a place of its own, some with any word."""
    draw = np.random.default_rng(first)
    for i in range(first, first + count):
        x, y = draw.uniform(0, 90, 2).round(4)
        words = " ".join(draw.choice(WORDS[:4], draw.integers(1, 4), replace=False))
        yield Subscription(
            i, f"{words} NOT iced" if i % 7 == 0 else words, Box(x, y, x + 0.01, y + 0.01)
        )


def said_at(subscriptions, words=WORDS):
    """A message at a corner of each, with some of the words."""
    draw = np.random.default_rng(1)
    for i, each in enumerate(subscriptions):
        some = draw.choice(words, draw.integers(1, len(words)), replace=False).tolist()
        yield Message(i, keywords=some, at=Point(each.region.west, each.region.north))


def is_by_place(index):
    return (index._tree.root == BY_PLACE).any()


@pytest.fixture
def subscriptions():
    return list(tiny_boxes(2_000))


def indexes(subscriptions, history=None):
    index, oracle = RarestWordTree(history=history), ScanIndex()
    for each in (index, oracle):
        each.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions))
    return index, oracle


def assert_equal(index, oracle, messages):
    batch = MessageBatch.from_messages(messages)
    mine, right = (each.match_batch(batch).to_arrow() for each in (index, oracle))
    columns = [(name, "ascending") for name in right.column_names]
    assert mine.sort_by(columns) == right.sort_by(columns)


def test_small_regions_are_found_by_place(subscriptions):
    index, oracle = indexes(subscriptions)
    assert is_by_place(index)
    messages = list(said_at(subscriptions))
    assert_equal(index, oracle, messages)
    index.check()
    assert index.stats().candidates < 50 * len(messages)


def test_they_come_and_go_there(subscriptions, tmp_path):
    index, oracle = indexes(subscriptions)
    index.match(Message(0, keywords=["tea"], at=Point(0, 0)))
    by_word = Subscription(9_999, "cider", Box(0, 0, 90, 90))
    newcomers = [*tiny_boxes(300, first=5_000), by_word]
    for each in newcomers:
        index.insert(each)
    oracle.insert_batch(SubscriptionBatch.from_subscriptions(newcomers))
    for id in range(0, 2_000, 3):
        index.remove(id)
        oracle.remove(id)
    index.check()
    assert is_by_place(index)
    messages = [*said_at(subscriptions), Message(9_999, keywords=["cider"], at=Point(1, 1))]
    assert_equal(index, oracle, messages)
    index.save(tmp_path / "index")
    assert_equal(RarestWordTree.load(tmp_path / "index"), oracle, messages)
    for id in index.ids():
        index.remove(id)
    index.check()
    assert len(index) == 0


def test_wide_messages_leave_small_regions_to_their_words(subscriptions):
    """The history says how wide messages are."""
    draw = np.random.default_rng(2)
    corner = draw.uniform(0, 60, (200, 2))
    boxes = [Box(x, y, x + 30, y + 30) for x, y in corner]
    wide = [Message(i, keywords=WORDS, at=box) for i, box in enumerate(boxes)]
    index, oracle = indexes(subscriptions, MessageBatch.from_messages(wide))
    assert not is_by_place(index)
    assert_equal(index, oracle, wide)


def test_large_regions_are_found_by_their_words():
    large = [Subscription(i, WORDS[i % 4], Box(0, 0, 90, 80 + i / 1_000)) for i in range(2_000)]
    index, _ = indexes(large)
    assert not is_by_place(index)


def test_what_is_estimated():
    """A hundred words with small regions here and there, and one whose regions are large."""
    first = np.concatenate([np.repeat(np.arange(101), 1_000), [-1]])
    area = np.where(first == 100, 0.5, 1e-9)
    chance = np.full(102, 0.2, np.float32)
    assert np.flatnonzero(better_by_place(first, area, chance)).tolist() == list(range(100))


def test_nothing_is_found_by_place_where_nothing_is():
    nobody = np.empty(0, np.int64), np.empty(0), np.empty(0, np.float32)
    assert better_by_place(*nobody).tolist() == []
    assert RarestWordTree(space=Space.PLANE).match(
        Message(1, keywords=["tea"], at=Point(0, 0, space=Space.PLANE))
    ) == []  # fmt: skip
