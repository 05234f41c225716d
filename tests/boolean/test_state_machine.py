"""An index that is changed, asked, saved and loaded in any order always answers as ScanIndex."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from nearcast.batches import MessageBatch, SubscriptionBatch
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
    Quarters,
    RarestWordTree,
    RQTree,
    RtTree,
    ScanIndex,
    SmallestCell,
    SpatialFirst,
    TrieQuadtree,
)
from nearcast.model import Message, Point
from nearcast.text import Idf, Random
from nearcast.text.order import Tf
from tests.boolean.strategies import IDS, WORDS, batches, messages, subscriptions
from tests.space.strategies import SPACES


def with_history(index, *, space, **options):
    """Messages whose places and words are unlike those of the subscriptions."""
    past = [
        Message(i, keywords=WORDS[: i % 3 + 1], at=Point(i % 10 / 3, i % 7 / 2, space=space))
        for i in range(100)
    ]
    return index(space=space, history=MessageBatch.from_messages(past, space=space), **options)


USUAL = (
    RarestWordTree,
    partial(with_history, RarestWordTree),
)
RIVALS = (
    partial(APTree, leaf_capacity=2, fanout=4),
    partial(APTree, leaf_capacity=4, fanout=9, order=Idf(), keyword_partition=OptimalPartition()),
    partial(APTree, leaf_capacity=2, fanout=4, order=Random(seed=5), drift_threshold=None),
    partial(APTree, leaf_capacity=2, fanout=4, priority=KeywordFirst(), drift_share=0.5),
    partial(APTree, leaf_capacity=2, fanout=16, priority=SpatialFirst(), most_copies=100),
    partial(APTree, leaf_capacity=1, fanout=2, spatial_partition=Quarters()),
    partial(with_history, APTree, leaf_capacity=2, fanout=4),
    partial(with_history, APTree, leaf_capacity=4, fanout=16, priority=SpatialFirst()),
    partial(TrieQuadtree, leaf_capacity=2),
    partial(IQTree, update_cost=1e-6, most_cells=100),
    partial(with_history, IQTree, update_cost=1e-3, most_cells=4),
    partial(RQTree, list_capacity=1, update_cost=1e-6, most_cells=100),
    partial(with_history, RQTree, list_capacity=2, update_cost=0.01, most_cells=4),
    partial(RtTree, fanout=3, leaf_capacity=2),
    partial(RtTree, fanout=4, leaf_capacity=4, tokens=AllTokens()),
    partial(RtTree, fanout=2, leaf_capacity=1, tokens=OneToken()),
    partial(IRTree, fanout=3, leaf_capacity=2),
    MBRTrie,
    partial(MBRTrie, probing=ProbeTrie(), order=Tf()),
    partial(MBRTrie, probing=ProbeTokenSet()),
    partial(PTQuadtree, leaf_capacity=1, most_copies=100.0, most_levels=6),
    partial(PTQuadtree, leaf_capacity=2, placement=SmallestCell()),
    partial(LFilter, leaf_capacity=1, most_copies=100.0, most_levels=6),
    partial(LFilter, leaf_capacity=2, placement=SmallestCell()),
)


class Comparison(RuleBasedStateMachine):
    """Everything is done to the index and to the oracle."""

    indexes = USUAL

    @initialize(data=st.data(), space=st.sampled_from(SPACES))
    def start(self, data, space):
        self.space = space
        self.index = data.draw(st.sampled_from(self.indexes))(space=space)
        self.oracle = ScanIndex(space=space)
        self.seen = ()

    @rule(data=st.data())
    def insert(self, data):
        self.put(data.draw(subscriptions(self.space)))

    @rule(data=st.data())
    def change_several_unasked(self, data):
        """Coming and going of the same few ids, with no question in between."""
        few = st.integers(0, 3) | st.sampled_from(["x", "y"])
        changes = st.lists(st.tuples(subscriptions(self.space, few), st.booleans()), max_size=6)
        for subscription, comes in data.draw(changes):
            if comes:
                self.put(subscription)
            elif subscription.id in self.oracle:
                self.index.remove(subscription.id)
                self.oracle.remove(subscription.id)

    def put(self, subscription):
        self.index.insert(subscription)
        self.oracle.insert(subscription)
        self.notice(subscription)

    def notice(self, subscription):
        """Remember some regions, for messages at their borders."""
        if subscription.region is not None:
            self.seen = (*self.seen[-7:], subscription.region)

    @rule(data=st.data())
    def insert_batch(self, data):
        several = data.draw(batches(self.space))
        batch = SubscriptionBatch.from_subscriptions(several, space=self.space)
        self.index.insert_batch(batch)
        self.oracle.insert_batch(batch)
        for subscription in several:
            self.notice(subscription)

    @rule(data=st.data(), share=st.sampled_from([0.1, 0.5, 1.0]))
    @precondition(lambda self: len(self.oracle))
    def remove(self, data, share):
        live = sorted(self.oracle.ids(), key=repr)
        count = max(1, int(share * len(live)))
        for id_ in data.draw(st.permutations(live))[:count]:
            self.index.remove(id_)
            self.oracle.remove(id_)

    @rule(id_=IDS)
    def remove_unknown(self, id_):
        if id_ not in self.oracle:
            assert id_ not in self.index
            try:
                self.index.remove(id_)
            except KeyError:
                return
            raise AssertionError(f"{id_!r} was removed, and was not there")

    @rule(data=st.data())
    def match(self, data):
        message = data.draw(messages(self.space, self.seen))
        found, right = self.index.match(message), self.oracle.match(message)
        assert len(set(found)) == len(found)
        assert set(found) == set(right)

    @rule(data=st.data(), threads=st.integers(1, 3))
    def match_batch(self, data, threads):
        drawn = data.draw(st.lists(messages(self.space, self.seen), max_size=6))
        several = [
            Message(row, keywords=message.keywords, at=message.at)
            for row, message in enumerate(drawn)
        ]
        batch = MessageBatch.from_messages(several, space=self.space)
        matches = self.index.match_batch(batch, threads=threads)
        for row, message in enumerate(several):
            found = matches.for_message(row)
            # A column has one type: integers beside strings are told as strings.
            assert sorted(map(str, found)) == sorted(map(str, self.oracle.match(message)))

    @rule(data=st.data())
    @precondition(lambda self: len(self.oracle))
    def look_up(self, data):
        id_ = data.draw(st.sampled_from(sorted(self.oracle.ids(), key=repr)))
        assert self.index.subscription(id_) == self.oracle.subscription(id_)

    @rule()
    def save_and_load(self):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "index.near"
            self.index.save(path)
            self.index = type(self.index).load(path)

    @invariant()
    def holds_together(self):
        if hasattr(self, "index"):
            self.index.check()
            assert len(self.index) == len(self.oracle)
            assert set(self.index.ids()) == set(self.oracle.ids())


class ComparisonOfRivals(Comparison):
    """The same with the others."""

    indexes = RIVALS


TestComparison = Comparison.TestCase
TestComparison.settings = settings(stateful_step_count=40, max_examples=20)
TestRivals = pytest.mark.thorough(ComparisonOfRivals.TestCase)
TestRivals.settings = settings(stateful_step_count=40)
