"""The IR-tree turned around; the R-tree itself is tested in `test_rt_tree`."""

import numpy as np
import pytest

from nearcast.batches import SubscriptionBatch
from nearcast.boolean.ir_tree import IRTree
from nearcast.boolean.r_tree._layout import LIST_ROOM, LIST_START, ROOT
from nearcast.boolean.r_tree._lists import COUNTED_WORDS, children_spoken_to
from nearcast.boolean.r_tree._seen import see
from nearcast.model import Box, Message, Point, Subscription
from tests.boolean.hand_r_tree import hang_by_hand, token_sets
from tests.boolean.hand_tree import match
from tests.boolean.test_ap_tree import O1, O2, SUBSCRIPTIONS
from tests.boolean.test_rt_tree import FIGURE_5

# The twelve subscriptions of CIKM 2015, Fig. 1, are lost but for s4, so the example of ICDE 2015,
# of which every word is known, is hung in an IR-tree.


def test_running_example_of_ap_tree_in_an_ir_tree():
    index = IRTree()
    index.insert_batch(SubscriptionBatch.from_subscriptions(SUBSCRIPTIONS))
    hang_by_hand(index, FIGURE_5).check()
    root = int(index._tree.used[ROOT])
    assert token_sets(index, root) == [
        {"w1", "w2", "w3", "w4", "w5", "w6"},
        {"w1", "w3", "w4", "w5", "w6"},
    ]
    matches = match(index, O1)
    assert matches.candidates == 1
    assert matches.for_message(0) == ["q7"]
    assert sorted(index.match(O2)) == ["q1", "q4"]


def test_section_2_of_lfilter():
    """The point message of the text reaches s4 in a place where s3 is not."""
    index = IRTree()
    index.insert(Subscription("s3", "b c d", Box(20, 32, 35, 35)))
    index.insert(Subscription("s4", "b c d", Box(20, 10, 28, 18)))
    point = Message("mp", keywords=["b", "c", "d", "e", "f"], at=Point(26, 14))
    assert index.match(point) == ["s4"]


REGION = Box(0, 0, 1, 1)
LEAVES = [["one"], ["two"], ["three"], ["mixed", "other"]]
ENTRIES = {
    "one": "a",
    "two": "a b",
    "three": "a b c",
    "mixed": "a d",
    "other": "b c e",
}


@pytest.mark.parametrize(
    ("words", "visited"),
    [
        ("", set()),
        ("a", {0}),
        ("b", set()),
        ("b c", set()),
        ("a b", {0, 1, 3}),  # in the last leaf they are words of different entries
        ("a d", {0, 3}),
        ("b c d", {3}),
        ("b c e", {3}),
        ("a b c", {0, 1, 2, 3}),
        ("b e", set()),
    ],
)
def test_a_child_needs_as_many_words_as_its_entries_have(words, visited):
    index = IRTree()
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            Subscription(id_, words, REGION) for id_, words in ENTRIES.items()
        )
    )
    hang_by_hand(index, LEAVES).check()
    have = np.sort(index._store.ranks_of(words.split()))
    seen = np.zeros(4096, np.uint8)
    see(seen, have, 0, len(have))
    start, room = index._tree.nodes[index._tree.used[ROOT], [LIST_START, LIST_ROOM]]
    bits = children_spoken_to(
        index._tree.lists, start, room, COUNTED_WORDS, have, 0, len(have), seen
    )
    assert {child for child in range(4) if bits >> child & 1} == visited
