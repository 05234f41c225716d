"""Every class and variant of the room keeps the contract of `nearcast.checks`."""

from functools import partial

import pytest

from nearcast.boolean import (
    AllTokens,
    APTree,
    IQTree,
    IRTree,
    KeywordFirst,
    LFilter,
    MBRTrie,
    OneToken,
    OptimalPartition,
    ProbeTokenSet,
    ProbeTrie,
    PTQuadtree,
    RarestWordTree,
    RQTree,
    RtTree,
    ScanIndex,
    SmallestCell,
    SpatialFirst,
    TrieQuadtree,
)
from nearcast.checks import boolean_checks, check_boolean_index
from nearcast.checks.boolean.samples import message_batch_of, some_messages
from nearcast.text import Idf, Random
from nearcast.text.order import Tf


def with_history(index, *, space, **options):
    history = message_batch_of(some_messages(200, space, seed=9), space)
    return index(space=space, history=history, **options)


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
    "APTree, with history": partial(with_history, APTree, leaf_capacity=4, fanout=9),
    "TrieQuadtree": TrieQuadtree,
    "TrieQuadtree, small": partial(TrieQuadtree, leaf_capacity=2),
    "RarestWordTree": RarestWordTree,
    "RarestWordTree, with history": partial(with_history, RarestWordTree),
    "IQTree": IQTree,
    "IQTree, small cells": partial(IQTree, update_cost=1e-6, most_cells=25),
    "IQTree, few cells, with history": partial(
        with_history, IQTree, update_cost=0.01, most_cells=4
    ),
    "RQTree": RQTree,
    "RQTree, small cells": partial(RQTree, list_capacity=1, update_cost=1e-6, most_cells=25),
    "RQTree, few cells, with history": partial(with_history, RQTree, list_capacity=2, most_cells=4),
    "RtTree": RtTree,
    "RtTree, narrow": partial(RtTree, fanout=2, leaf_capacity=1),
    "RtTree, all tokens": partial(RtTree, fanout=4, leaf_capacity=4, tokens=AllTokens()),
    "RtTree, one token": partial(RtTree, fanout=4, leaf_capacity=4, tokens=OneToken()),
    "IRTree": IRTree,
    "IRTree, small": partial(IRTree, fanout=3, leaf_capacity=2),
    "MBRTrie": MBRTrie,
    "MBRTrie, words probe, Tf": partial(MBRTrie, probing=ProbeTrie(), order=Tf()),
    "MBRTrie, children probe": partial(MBRTrie, probing=ProbeTokenSet()),
    "PTQuadtree": PTQuadtree,
    "PTQuadtree, many copies": partial(
        PTQuadtree, leaf_capacity=1, most_copies=100.0, most_levels=6
    ),
    "PTQuadtree, smallest cell": partial(PTQuadtree, leaf_capacity=2, placement=SmallestCell()),
    "LFilter": LFilter,
    "LFilter, small": partial(LFilter, leaf_capacity=2),
    "LFilter, smallest cell": partial(LFilter, leaf_capacity=2, placement=SmallestCell()),
}


# Those with settings are also in the state machine.
CASES = [
    pytest.param(make_index, id=name, marks=[pytest.mark.thorough] * ("," in name))
    for name, make_index in INDEXES.items()
]


@pytest.mark.parametrize("check", boolean_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("make_index", CASES)
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
