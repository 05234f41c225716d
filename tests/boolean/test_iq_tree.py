"""The worked example of the IQ-tree, and the tables of its cells."""

import numpy as np

from nearcast.batches import SubscriptionBatch
from nearcast.boolean._quad._cells import CONTENT
from nearcast.boolean.iq_tree import IQTree
from nearcast.boolean.iq_tree._kernels import SLOTS
from nearcast.model import ANY, Message, Point, Subscription
from tests.boolean.hand_tree import match
from tests.boolean.test_ap_tree import O1, O2, SUBSCRIPTIONS

# ---------------------------------------------------------------- the worked example


def running_example():
    """The nine queries of ICDE 2015, Fig. 3; what the figure shows is told in test_ap_tree."""
    index = IQTree()
    index.insert_batch(SubscriptionBatch.from_subscriptions(SUBSCRIPTIONS))
    return index


def test_section_2c_of_ap_tree():
    """o1 retrieves q1, q2 and q7 from the lists of its words, verifies three, and q7 gets it.

    The cells of Fig. 4 are lost, so that "cell 9" cannot be told from the others.
    """
    index = running_example()
    index.check()
    matches = match(index, O1)
    assert matches.candidates == 3
    assert matches.for_message(0) == ["q7"]
    assert sorted(index.match(O2)) == ["q1", "q4"]


def test_section_2c_of_ap_tree_q7_is_in_the_list_of_w4():
    index = running_example()
    words = [ANY, *index._store.words_by_rank().to_pylist()]
    q7 = index._store.ids.slot_of("q7")
    lists = {words[number] for (number, _), rows in index._held().items() if q7 in rows[:, 1]}
    assert lists == {"w4"}


def test_section_2c_of_ap_tree_several_cells_cover_a_region():
    """q4, the largest, is attached to cells of different sizes."""
    index = running_example()
    q4 = index._store.ids.slot_of("q4")
    levels = [code >> 30 for (_, code), rows in index._held().items() if q4 in rows[:, 1]]
    assert len(set(levels)) > 1


# ---------------------------------------------------------------- tables


def lists_in_root(index):
    return int(index._cells.nodes[0, CONTENT] >> 5) & 0xFFFFFFF


def test_a_table_grows_and_its_lists_leave_again():
    """Everywhere and a word each: all lists are in the root's table."""
    index = IQTree()
    subscriptions = [Subscription(i, f"word{i}") for i in range(500)]
    for count, subscription in enumerate(subscriptions, 1):
        index.insert(subscription)
        assert len(index) == count
        assert lists_in_root(index) == count
    index.check()
    order = np.random.default_rng(4).permutation(500).tolist()
    for left, i in zip(range(499, -1, -1), order, strict=True):
        index.remove(i)
        assert len(index) == left
        assert lists_in_root(index) == left
        if left % 50 == 0:
            index.check()
        assert index.match(Message(1, keywords=[f"word{i}"], at=Point(0, 0))) == []


def test_a_table_of_one_cell_does_not_grow_by_coming_and_going():
    index = IQTree()
    index.insert_batch(SubscriptionBatch.from_subscriptions([Subscription(0, "tea")]))
    slots = set()
    for _ in range(50):
        index.insert(Subscription(1, "cake"))
        assert len(index) == 2
        index.remove(1)
        assert len(index) == 1
        slots.add(int(index._cells.used[SLOTS]))
    assert slots == {4}
