"""`SubscriptionStore` against a dict of subscriptions."""

import numpy as np
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from nearcast.batches import SubscriptionBatch
from nearcast.boolean.subscription_store import SubscriptionStore
from nearcast.model import ANY, Box, Circle, Point, Space, Subscription
from nearcast.space import RegionColumn
from nearcast.text import Idf, Random, Tf
from tests.boolean.strategies import batches
from tests.space.strategies import SPACES


class Store(RuleBasedStateMachine):
    """Subscriptions come and go, words are ordered anew; all of it can be read back."""

    @initialize(space=st.sampled_from(SPACES))
    def start(self, space):
        self.space = space
        self.store = SubscriptionStore(space)
        self.live = {}

    @rule(data=st.data())
    def add(self, data):
        new = [s for s in data.draw(batches(self.space)) if s.id not in self.live]
        batch = SubscriptionBatch.from_subscriptions(new, space=self.space)
        entries = self.store.add(batch)
        self.live.update({subscription.id: subscription for subscription in new})
        slots = self.store.ids.find(batch.ids)
        again = self.store.entries_of(slots)
        for name in ("entry", "slot", "bounds", "is_shaped", "is_shared"):
            assert np.array_equal(getattr(entries, name), getattr(again, name))

    @rule(data=st.data())
    def remove(self, data):
        if self.live:
            ids = sorted(self.live, key=repr)
            gone = data.draw(st.lists(st.sampled_from(ids), unique=True, max_size=8))
            self.store.remove(np.array([self.store.ids.slot_of(id_) for id_ in gone], np.int32))
            for id_ in gone:
                del self.live[id_]

    @rule(order=st.sampled_from([Tf(), Idf(), Random(seed=1)]))
    def order_words(self, order):
        self.store.order_words(order)
        shares = self.store.shares_by_rank()
        if isinstance(order, Tf):
            assert (np.diff(shares) <= 0).all()
        if isinstance(order, Idf):
            assert (np.diff(shares) >= 0).all()

    @rule()
    def save_and_load(self):
        arrays = {name: array.copy() for name, array in self.store.arrays().items()}
        self.store = SubscriptionStore.from_arrays(arrays, self.space)

    @invariant()
    def agrees(self):
        if not hasattr(self, "store"):
            return
        assert len(self.store) == len(self.live)
        for id_, subscription in self.live.items():
            assert self.store.subscription(self.store.ids.slot_of(id_)) == subscription
        entries = self.store.all_entries()
        clauses = self.store.clauses
        assert len(np.unique(entries.entry)) == len(entries)
        assert set(self.store.ids.list_of(np.unique(entries.slot))) == set(self.live)
        assert (clauses.slot[entries.entry] == entries.slot).all()
        assert (clauses.slot >= 0).sum() == len(entries)
        covers = RegionColumn.of_regions(
            [self.live[id_].region for id_ in self.store.ids.list_of(entries.slot)], self.space
        ).covers()
        # Each entry has one of the rectangles that cover its region, and each is had.
        rectangles = {}
        for row, bounds in zip(covers[0].tolist(), covers[1].tolist(), strict=True):
            rectangles.setdefault(int(entries.slot[row]), set()).add(tuple(bounds))
        held = {}
        for slot, bounds in zip(entries.slot.tolist(), entries.bounds.tolist(), strict=True):
            held.setdefault(slot, set()).add(tuple(bounds))
        assert held == rectangles


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=30, stateful_step_count=15)


def store_of(*subscriptions, space=Space.EARTH):
    store = SubscriptionStore(space)
    entries = store.add(SubscriptionBatch.from_subscriptions(subscriptions, space=space))
    return store, entries


def test_entries_of_clauses_and_rectangles():
    store, entries = store_of(
        Subscription(1, "a AND b", Box(0, 0, 1, 1)),
        Subscription(2, "a OR (b AND NOT c)", Box(170, 0, -170, 1)),
        Subscription(3, ANY, Circle(Point(0, 0), 10)),
        Subscription(4, "c"),
    )
    assert entries.slot.tolist() == [0, 1, 1, 1, 1, 2, 3]
    assert entries.is_shared.tolist() == [False, True, True, True, True, False, False]
    assert entries.is_shaped.tolist() == [False, False, False, False, False, True, False]
    assert entries.bounds[1:5, 0].tolist() == [170, 170, -180, -180]
    assert entries.bounds[6].tolist() == [-180, -90, 180, 90]
    assert store.clauses.required[entries.entry].tolist() == [2, 1, 1, 1, 1, 0, 1]
    assert sorted(store.clauses.forbidden[entries.entry].tolist()) == [0, 0, 0, 0, 0, 1, 1]


def test_ranks_of_words():
    store, _ = store_of(Subscription(1, "b a"), Subscription(2, "b c NOT d"))
    store.order_words(Tf())
    words = store.words_by_rank().to_pylist()
    assert words[0] == "b"
    assert store.ranks_of(["x", "b", "b", "d"]).tolist() == [-1, 0, 0, words.index("d")]


def test_new_words_come_last():
    store, _ = store_of(Subscription(1, "b a"))
    store.order_words(Idf())
    store.add(SubscriptionBatch.from_subscriptions([Subscription(2, "zz b yy")]))
    assert set(store.words_by_rank().to_pylist()[2:]) == {"yy", "zz"}
    assert store.subscription(store.ids.slot_of(2)) == Subscription(2, "zz b yy")


def test_churn_stays_bounded():
    """Always new string ids, regions and alternatives, at constant size."""
    store, _ = store_of()
    sizes, slots = [], np.empty(0, np.int32)
    for turn in range(200):
        if len(slots):
            store.remove(slots)
        fresh = [
            Subscription(
                f"subscriber {turn} {i}",
                f"a{i} AND (b{turn % 9} OR c)",
                Box(179, 0, -179, i),
            )
            for i in range(60)
        ]
        store.add(SubscriptionBatch.from_subscriptions(fresh))
        slots = store.ids.find(pa.array([s.id for s in fresh]))
        sizes.append(store.nbytes)
    assert max(sizes[100:]) <= 1.1 * max(sizes[:100])
    assert len(store.all_entries()) == 240
