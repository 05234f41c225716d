"""Any order of events: every index keeps the lists of the oracle."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from nearcast.batches import MessageBatch
from nearcast.checks.trending.samples import Pair
from nearcast.model import (
    Box,
    Circle,
    Message,
    NearbyTrendingSubscription,
    Point,
    Polygon,
    Space,
    TrendingSubscription,
)
from nearcast.trending import ScanTrending
from tests.trending.indexes import INDEXES

WORDS = ["tea", "cake", "jazz", "bus", "naïve", "the", "zoo"]
IDS = st.one_of(st.integers(0, 5), st.sampled_from(["a", "b"]))
LONGITUDES = st.sampled_from([-180.0, -179.99, 0.0, 0.01, 0.5, 10.0, 180.0])
LATITUDES = st.sampled_from([-90.0, 0.0, 0.01, 0.5, 5.0, 90.0])
SHAPES = st.sampled_from(["box", "circle", "polygon"])


class Comparison(RuleBasedStateMachine):
    """The same calls to the oracle and to an index."""

    make_index = INDEXES["NearbyScan"]

    @initialize(
        space=st.sampled_from(Space),
        horizon=st.sampled_from([1, 3, 20]),
        lateness=st.sampled_from([0.0, 3.0]),
    )
    def make(self, space, horizon, lateness):
        self.space, self.lateness = space, lateness
        self.pair = Pair(
            type(self).make_index, half_life=2.0, horizon=horizon, space=space, lateness=lateness
        )
        self.published, self.now = 0, 0.0

    def point(self, lon, lat):
        return Point(lon, lat, space=self.space)

    def region(self, shape, lon, lat, size):
        if shape == "circle":
            return Circle(self.point(lon, lat), size * 1e5 if self.space is Space.EARTH else size)
        if shape == "box":
            east = lon + size
            if east > 180.0 and self.space is Space.EARTH:
                east -= 360.0
            return Box(lon, lat, east, min(lat + size, 90.0), space=self.space)
        lon, lat = min(lon, 160.0), min(lat, 70.0)
        corners = [(lon, lat), (lon + size + 1, lat), (lon, lat + size + 1)]
        return Polygon([corners], space=self.space)

    @rule(
        id=IDS,
        shape=SHAPES,
        lon=LONGITUDES,
        lat=LATITUDES,
        size=st.sampled_from([0.0, 0.02, 1.0, 12.0]),
        k=st.sampled_from([1, 2, 3, 30]),
    )
    def subscribe(self, id, shape, lon, lat, size, k):
        if self.pair.kind is TrendingSubscription:
            subscription = TrendingSubscription(id, self.region(shape, lon, lat, size), k)
        else:
            subscription = NearbyTrendingSubscription(id, self.point(lon, lat), k)
        self.pair.subscribe(subscription)
        assert self.pair.index.subscription(id) == subscription

    @precondition(lambda self: self.pair.live)
    @rule(data=st.data())
    def unsubscribe(self, data):
        self.pair.unsubscribe(data.draw(st.sampled_from(sorted(self.pair.live, key=str))))

    def message(self, words, lon, lat, later, late, is_box):
        self.now += later
        self.published += 1
        at = self.point(lon, lat)
        if is_box and lat >= 1:
            at = Box(lon, 1.0, lon, lat, space=self.space)
        time = self.now - (self.lateness if late else 0.0)
        return Message(self.published, keywords=words, at=at, time=time)

    WHAT = st.tuples(
        st.lists(st.sampled_from(WORDS), max_size=5),
        LONGITUDES,
        LATITUDES,
        st.sampled_from([0.0, 0.0, 0.3, 2.0]),
        st.booleans(),
        st.booleans(),
    )

    @rule(what=WHAT)
    def publish(self, what):
        self.pair.publish(self.message(*what))

    @rule(several=st.lists(WHAT, max_size=4))
    def publish_batch(self, several):
        batch = MessageBatch.from_messages(
            [self.message(*what) for what in several], space=self.space
        )
        right = self.pair.oracle.publish_batch(batch)
        found = self.pair.index.publish_batch(batch)
        if self.pair.kind is TrendingSubscription:
            assert found.tolist() == right.tolist()

    @rule(several=st.lists(WHAT, max_size=6))
    def publish_as_columns(self, several):
        self.pair.publish_as_columns(
            MessageBatch.from_messages([self.message(*what) for what in several], space=self.space)
        )

    @rule(seconds=st.sampled_from([0.0, 1.0, 7.0, 1e9]))
    def advance(self, seconds):
        self.now += seconds
        self.pair.advance(self.now)

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            self.pair.index.save(Path(folder) / "index.near")
            self.pair.oracle.save(Path(folder) / "oracle.near")
            self.pair.index = type(self.pair.index).load(Path(folder) / "index.near")
            self.pair.oracle = ScanTrending.load(Path(folder) / "oracle.near")

    @invariant()
    def lists_are_the_same(self):
        if hasattr(self, "pair"):
            self.pair.assert_same_lists()


for name, make_index in INDEXES.items():
    case = type(name, (Comparison,), {"make_index": staticmethod(make_index)}).TestCase
    # The oracle is compared with itself; others share kernels.
    examples = {"NearbyScan": 4, "CellRows": 25, "TermFields": 25}.get(name, 9)
    case.settings = settings(max_examples=examples, stateful_step_count=30)
    globals()[f"Test{name}"] = case
del case
