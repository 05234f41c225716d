"""What is refused, with the value, the rule and the row; the index stays as it was."""

import numpy as np
import pyarrow as pa
import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import APTree, RarestWordTree, ScanIndex, TrieQuadtree
from nearcast.checks.boolean.samples import assert_answers, some_messages, some_subscriptions
from nearcast.model import ANY, Box, Message, Point, Space, Subscription

INDEXES = {
    "ScanIndex": ScanIndex,
    "RarestWordTree": RarestWordTree,
    "APTree": APTree,
    "APTree, small": lambda: APTree(leaf_capacity=2, fanout=4),
    "TrieQuadtree": TrieQuadtree,
}
GOOD = {"id": 1, "keywords": "tea", "west": 0.0, "south": 0.0, "east": 1.0, "north": 1.0}
NAN, INFINITY = float("nan"), float("inf")


@pytest.fixture(params=INDEXES.values(), ids=INDEXES)
def index(request):
    """An index that must be the same after the test as before."""
    index = request.param()
    subscriptions = some_subscriptions(40, Space.EARTH)
    index.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions))
    yield index
    assert_answers(index, subscriptions, some_messages(20, Space.EARTH))


def table_of(*rows):
    names = {name: None for row in rows for name in row}
    return pa.table({name: [row.get(name) for row in rows] for name in names})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"west": NAN}, "nan"),
        ({"east": INFINITY}, "inf"),
        ({"north": -INFINITY}, "-inf"),
        ({"north": 95.2}, r"95\.2 is outside \[-90, 90\]; did you swap"),
        ({"west": -180.5}, r"-180\.5 is outside \[-180, 180\]"),
        ({"south": 3.0}, r"3\.0 is beyond north 1\.0"),
        ({"west": None}, "west"),
        ({"keywords": ""}, "empty|no word"),
        ({"keywords": "tea AND"}, "column"),
        ({"keywords": "(tea"}, "column"),
        ({"keywords": "NOT tea"}, "NOT|positive"),
        ({"keywords": "tea AND NOT tea"}, "tea"),
        ({"keywords": "!!!"}, "!!!"),
        ({"id": 0}, "0"),
    ],
)
def test_bad_row_of_a_batch(index, change, says):
    good = GOOD | {"id": 0}
    table = table_of(good, GOOD | {"id": 5}, GOOD | {"id": 1} | change)
    with pytest.raises(ValueError, match="row 2") as raised:
        index.insert_batch(SubscriptionBatch.from_arrow(table))
    assert raised.match(says)
    assert [row for row, _ in raised.value.rejects] == [2]


def test_unknown_and_missing_columns(index):
    with pytest.raises(ValueError, match="radius"):
        index.insert_batch(SubscriptionBatch.from_arrow(table_of(GOOD | {"radius": 3})))
    with pytest.raises(ValueError, match="keywords"):
        index.insert_batch(SubscriptionBatch.from_arrow(table_of({"id": 1})))


def test_duplicate_ids_in_one_batch(index):
    twice = [Subscription("x", "tea"), Subscription("y", "tea"), Subscription("x", "cake")]
    with pytest.raises(ValueError, match=r"row 2.*'x'"):
        index.insert_batch(SubscriptionBatch.from_subscriptions(twice))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Subscription(1, ""), "empty|no word"),
        (lambda: Subscription(1, []), "no keywords"),
        (lambda: Subscription(1, "tea OR"), "column 7"),
        (lambda: Subscription(1, ANY), "region"),
        (lambda: Subscription(2**63, "tea"), "9223372036854775808"),
        (lambda: Subscription(1, "tea", Box(NAN, 0, 1, 1)), "nan"),
        (lambda: Subscription(1, "tea", Box(0, -91, 1, 1)), "-91"),
    ],
)
def test_subscription_that_cannot_be(index, make, says):
    with pytest.raises(ValueError, match=says):
        index.insert(make())


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Message(1, text="tea", at=Point(0, 90.5)), r"90\.5"),
        (lambda: Message(1, text="tea", at=Point(NAN, 0)), "nan"),
        (lambda: Message(1, text="tea", at=Point(0, INFINITY)), "inf"),
        (lambda: Message(2**64, text="tea", at=Point(0, 0)), "18446744073709551616"),
    ],
)
def test_message_that_cannot_be(index, make, says):
    with pytest.raises(ValueError, match=says):
        index.match(make())


def test_bad_row_of_a_message_batch(index):
    table = pa.table({"id": [1, 2], "text": ["tea", "tea"], "lon": [0.0, 1.0], "lat": [0.0, NAN]})
    with pytest.raises(ValueError, match=r"row 1, message 2.*nan"):
        index.match_batch(MessageBatch.from_arrow(table))


def test_clause_with_more_words_than_can_be_counted():
    words = [f"w{i}" for i in range(2**16)]
    index = RarestWordTree()
    index.insert(Subscription(1, "tea"))
    with pytest.raises(ValueError, match="65536 words"):
        index.insert(Subscription(2, words))
    with pytest.raises(ValueError, match="65536 words"):
        index.insert_batch(SubscriptionBatch.from_subscriptions([Subscription(2, words)]))
    index.insert(Subscription(3, words[1:]))
    index.check()
    assert sorted(index.ids()) == [1, 3]
    assert index.match(Message(1, keywords=words, at=Point(0, 0))) == [3]


def test_numpy_ids_are_ids():
    index = RarestWordTree()
    index.insert(Subscription(np.int64(5), "tea"))
    assert len(index) == 1
    assert np.int64(5) in index
    assert index.subscription(np.int32(5)).id == 5
    index.remove(np.int64(5))
    assert len(index) == 0
    index.insert(Subscription(6, "tea"))
    index.remove(np.uint8(6))
    assert index.ids() == []
