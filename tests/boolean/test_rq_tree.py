"""The worked example through an RQ-tree, and lists that become long."""

import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean._quad._cells import CHILDREN
from nearcast.boolean.rq_tree import RQTree
from nearcast.model import Box, Message, Point, Subscription
from tests.boolean.hand_tree import match
from tests.boolean.test_ap_tree import O1, O2, SUBSCRIPTIONS, WORDS

# ---------------------------------------------------------------- the worked example


@pytest.mark.parametrize(("list_capacity", "verified"), [(1, 3), (32, 5)])
def test_running_example_of_ap_tree(list_capacity, verified):
    """Divided, the lists of o1's words hold q1, q2 and q7 in its cells, as those of an IQ-tree.

    Whole, they hold all whose rarest word is w2, w3 or w4.
    """
    index = RQTree(list_capacity=list_capacity)
    index.insert_batch(SubscriptionBatch.from_subscriptions(SUBSCRIPTIONS))
    index.check()
    words = index._store.words_by_rank().to_pylist()
    rarest = {id_: max(own, key=words.index) for id_, own in WORDS.items()}
    assert rarest["q7"] == "w4"
    if list_capacity == 32:
        assert verified == sum(word in O1.keywords for word in rarest.values())
    matches = match(index, O1)
    assert matches.candidates == verified
    assert matches.for_message(0) == ["q7"]
    assert sorted(index.match(O2)) == ["q1", "q4"]


# ---------------------------------------------------------------- lists


def square(i, word):
    return Subscription(i, word, Box(i % 16, i // 16, i % 16 + 0.5, i // 16 + 0.5))


def tea_list(index):
    rank = int(index._store.ranks_of(["tea"])[0])
    return index._lists.roots[rank + 1]


def test_a_short_list_is_one_run_and_a_long_one_has_a_quadtree():
    index = RQTree(list_capacity=100)
    index.insert_batch(SubscriptionBatch.from_subscriptions(square(i, "tea") for i in range(100)))
    assert tea_list(index)[CHILDREN] == 0
    here = Message(1, text="tea", at=Point(3.2, 3.2))
    assert match(index, here).candidates == 100
    index.insert_batch(SubscriptionBatch.from_subscriptions(square(i, "tea") for i in range(200)))
    assert tea_list(index)[CHILDREN] > 0
    assert match(index, here).candidates < 20
    index.check()


def test_a_list_that_becomes_long_is_divided_in_place():
    index = RQTree(list_capacity=10)
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(square(i, f"word{i}") for i in range(256))
    )
    for i in range(11):
        assert len(index) == 256 + i
        index.insert(square(300 + i, "tea"))
        assert len(index) == 257 + i
        assert (tea_list(index)[CHILDREN] > 0) == (i == 10)
    assert index._changes == 11
    index.check()
    assert index.match(Message(1, text="tea", at=Point(300 % 16, 300 // 16))) == [300]


def test_a_list_that_becomes_short_is_whole_again_when_all_is_built():
    index = RQTree(list_capacity=10)
    index.insert_batch(SubscriptionBatch.from_subscriptions(square(i, "tea") for i in range(256)))
    assert tea_list(index)[CHILDREN] > 0
    for i in range(250):
        index.remove(i)
        if i % 20 == 0:
            index.check()
    index.rebuild()
    assert tea_list(index)[CHILDREN] == 0
    index.check()


def test_a_message_that_is_a_box_finds_the_cells_it_touches():
    index = RQTree(list_capacity=4)
    index.insert_batch(SubscriptionBatch.from_subscriptions(square(i, "tea") for i in range(256)))
    messages = [
        Message(1, text="tea", at=Box(2.6, 2.6, 4.2, 3.2)),
        Message(2, text="tea", at=Box(-180, -90, 180, 90)),
        Message(3, text="tea", at=Box(170, 0, 0.2, 0.2)),
    ]
    matches = index.match_batch(MessageBatch.from_messages(messages))
    assert sorted(matches.for_message(0)) == [3 * 16 + 3, 3 * 16 + 4]
    assert len(matches.for_message(1)) == 256
    assert matches.for_message(2) == [0]
