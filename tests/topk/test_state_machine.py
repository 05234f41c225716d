"""Any order of events: every index keeps the lists of the oracle."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from nearcast.model import Box, Message, Point, Space, TopKSubscription
from nearcast.topk import CountWindow, ScanTopK, TimeWindow, WordLists, WordStatistics
from tests.topk.indexes import INDEXES, SMALL
from tests.topk.lists import assert_same_lists

WORDS = ["tea", "cake", "jazz", "bus", "naïve"]
IDS = st.one_of(st.integers(0, 4), st.sampled_from(["a", "b"]))
WINDOWS = st.one_of(
    st.builds(CountWindow, st.sampled_from([1, 2, 5, 20])),
    st.builds(TimeWindow, st.sampled_from([1, 4, 20])),
)
LONGITUDES = st.sampled_from([-180.0, -179.99, 0.0, 0.01, 10.0, 180.0])
LATITUDES = st.sampled_from([-90.0, 0.0, 0.01, 5.0, 90.0])
ALPHAS = st.sampled_from([0.0, 0.3, 0.5, 1.0])


class Comparison(RuleBasedStateMachine):
    """The same calls to the oracle and to an index of a kind."""

    kind = WordLists

    @initialize(
        window=WINDOWS,
        space=st.sampled_from(Space),
        frequencies=st.one_of(
            st.none(), st.dictionaries(st.sampled_from(WORDS), st.integers(0, 10))
        ),
        lateness=st.sampled_from([0.0, 3.0]),
        max_dist=st.sampled_from([5.0, 1e6, 2e7]),
    )
    def make(self, window, space, frequencies, lateness, max_dist):
        statistics = None if frequencies is None else WordStatistics(10, frequencies)
        options = {
            "space": space,
            "max_dist": max_dist,
            "statistics": statistics,
            "lateness": lateness,
        }
        self.space, self.lateness = space, lateness
        self.oracle = ScanTopK(window, **options)
        self.index = self.kind(window, **options, **self.small())
        self.subscribed, self.published, self.now = set(), 0, 0.0
        self.ids_before = {}

    def small(self):
        """Settings with which a few subscriptions are many."""
        return SMALL[self.kind]

    def point(self, lon, lat):
        return Point(lon, lat, space=self.space)

    @rule(
        id=IDS,
        words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
        lon=LONGITUDES,
        lat=LATITUDES,
        k=st.sampled_from([1, 2, 3, 30]),
        alpha=ALPHAS,
    )
    def subscribe(self, id, words, lon, lat, k, alpha):
        subscription = TopKSubscription(id, words, self.point(lon, lat), k, alpha)
        self.compare(self.oracle.subscribe(subscription), self.index.subscribe(subscription))
        self.subscribed.add(id)
        kept = self.index.subscription(id)
        assert (kept.at, kept.k, kept.alpha) == (subscription.at, k, alpha)
        assert sorted(kept.keywords) == sorted(subscription.keywords)

    @precondition(lambda self: self.subscribed)
    @rule(data=st.data())
    def unsubscribe(self, data):
        id = data.draw(st.sampled_from(sorted(self.subscribed, key=str)))
        self.subscribed.remove(id)
        self.oracle.unsubscribe(id)
        self.index.unsubscribe(id)
        del self.ids_before[id]

    @rule(
        words=st.lists(st.sampled_from([*WORDS, "nobody's"]), max_size=5),
        lon=LONGITUDES,
        lat=LATITUDES,
        later=st.sampled_from([0.0, 0.0, 0.5, 2.0]),
        late=st.booleans(),
        again=st.integers(0, 9),
        is_box=st.booleans(),
    )
    def publish(self, words, lon, lat, later, late, again, is_box):
        self.now += later
        self.published += 1
        # Now and then an id that may still be in the window.
        id = self.published if again else max(1, self.published - 2)
        at = self.point(lon, lat)
        if is_box:
            at = Box(lon, min(lat, 1.0), lon, lat, space=self.space) if lat >= 1 else at
        time = self.now - (self.lateness if late else 0.0)
        message = Message(id, keywords=words, at=at, time=time)
        self.compare(self.oracle.publish(message), self.index.publish(message))

    @rule(seconds=st.sampled_from([0.0, 1.0, 10.0]))
    def advance(self, seconds):
        self.now += seconds
        self.compare(self.oracle.advance(self.now), self.index.advance(self.now))

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            self.index.save(Path(folder) / "index.near")
            self.oracle.save(Path(folder) / "oracle.near")
            self.index = self.kind.load(Path(folder) / "index.near")
            self.oracle = ScanTopK.load(Path(folder) / "oracle.near")

    def compare(self, expected, found):
        """The changes that were told; all but those that rounding may have brought."""
        wanted = {change.subscription_id: change for change in expected}
        told = {change.subscription_id: change for change in found}
        assert len(told) == len(found)
        for id in self.oracle._subscriptions:
            before, after = self.ids_before.get(id, ([], [])), self.ids_of(id)
            if id in told:
                assert told[id].results == self.index.results(id)
            if before[0] != before[1] or after[0] != after[1]:
                continue  # equal scores that were rounded apart
            if before[0] != after[0]:
                assert (told[id].entered, told[id].left) == (wanted[id].entered, wanted[id].left)
            elif id in told:
                assert not told[id].entered
                assert not told[id].left
        self.ids_before = {id: self.ids_of(id) for id in self.oracle._subscriptions}

    def ids_of(self, id):
        return [[each for each, _ in index.results(id)] for index in (self.oracle, self.index)]

    @invariant()
    def lists_are_the_same(self):
        if not hasattr(self, "index"):
            return
        assert len(self.index) == len(self.subscribed)
        for id in self.subscribed:
            assert_same_lists(self.index.results(id), self.oracle.results(id))
        self.index.check()


for kind in INDEXES:
    case = type(kind.__name__, (Comparison,), {"kind": kind}).TestCase
    # Those that are made of pieces share each of them with two others.
    examples = 25 if kind is WordLists else 7
    case.settings = settings(max_examples=examples, stateful_step_count=40)
    globals()[f"Test{kind.__name__}"] = case
del case
