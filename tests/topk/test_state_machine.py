"""Any order of events: every index keeps the lists of the oracle."""

import tempfile
from functools import partial
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

from nearcast.checks.topk.pair import Pair
from nearcast.model import Box, Message, Point, Space, TopKSubscription
from nearcast.topk import CountWindow, ScanTopK, TimeWindow, WordLists, WordStatistics
from tests.topk.indexes import INDEXES, SMALL

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
        self.pair = Pair(partial(self.kind, **self.small()), window, **options)
        self.published, self.now = 0, 0.0

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
        self.pair.subscribe(subscription)
        kept = self.pair.index.subscription(id)
        assert (kept.at, kept.k, kept.alpha) == (subscription.at, k, alpha)
        assert sorted(kept.keywords) == sorted(subscription.keywords)

    @precondition(lambda self: self.pair.live)
    @rule(data=st.data())
    def unsubscribe(self, data):
        self.pair.unsubscribe(data.draw(st.sampled_from(sorted(self.pair.live, key=str))))

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
        self.pair.publish(Message(id, keywords=words, at=at, time=time))

    @rule(seconds=st.sampled_from([0.0, 1.0, 10.0]))
    def advance(self, seconds):
        self.now += seconds
        self.pair.advance(self.now)

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            self.pair.index.save(Path(folder) / "index.near")
            self.pair.oracle.save(Path(folder) / "oracle.near")
            self.pair.index = self.kind.load(Path(folder) / "index.near")
            self.pair.oracle = ScanTopK.load(Path(folder) / "oracle.near")

    @invariant()
    def lists_are_the_same(self):
        if hasattr(self, "pair"):
            self.pair.assert_same_lists()


for kind in INDEXES:
    case = type(kind.__name__, (Comparison,), {"kind": kind}).TestCase
    # Those that are made of pieces share each of them with two others.
    examples = 25 if kind is WordLists else 7
    case.settings = settings(max_examples=examples, stateful_step_count=40)
    globals()[f"Test{kind.__name__}"] = case
del case
