"""Every class and variant of the room keeps the contract of `nearcast.checks`."""

from functools import partial

import pytest

from nearcast.boolean import (
    APTree,
    KeywordFirst,
    OptimalPartition,
    ScanIndex,
    SpatialFirst,
    TrieQuadtree,
)
from nearcast.checks import boolean_checks, check_boolean_index
from nearcast.checks.boolean.samples import message_batch_of, some_messages
from nearcast.text import Idf, Random


def with_history(*, space, **options):
    history = message_batch_of(some_messages(200, space, seed=9), space)
    return APTree(space=space, history=history, **options)


INDEXES = {
    "ScanIndex": ScanIndex,
    "APTree": APTree,
    "APTree, small": partial(APTree, leaf_capacity=2, fanout=4),
    "APTree, narrow": partial(APTree, leaf_capacity=1, fanout=2),
    "APTree, optimal, Idf": partial(
        APTree, leaf_capacity=4, fanout=9, keyword_partition=OptimalPartition(), order=Idf()
    ),
    "APTree, keywords first": partial(
        APTree, leaf_capacity=4, fanout=4, priority=KeywordFirst(), order=Random(seed=3)
    ),
    "APTree, space first": partial(APTree, leaf_capacity=4, fanout=16, priority=SpatialFirst()),
    "APTree, never rebuilt": partial(APTree, leaf_capacity=4, fanout=4, drift_threshold=None),
    "APTree, with history": partial(with_history, leaf_capacity=4, fanout=9),
    "TrieQuadtree": TrieQuadtree,
    "TrieQuadtree, small": partial(TrieQuadtree, leaf_capacity=2),
}


@pytest.mark.parametrize("check", boolean_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("make_index", INDEXES.values(), ids=INDEXES)
def test_contract(make_index, check):
    check(make_index)


class Forgetful(ScanIndex):
    """An index that never reports the subscription it got first."""

    def match(self, message):
        first = min(self.ids(), key=str, default=None)
        return [id_ for id_ in super().match(message) if id_ != first]


def test_checks_notice_a_wrong_index():
    with pytest.raises(AssertionError) as raised:
        check_boolean_index(Forgetful)
    assert any("while running check_" in note for note in raised.value.__notes__)
