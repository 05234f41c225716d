"""Any order of events: every index tells the changes and has the results of the oracle."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from nearcast.checks.moving.pair import Pair
from nearcast.model import ANY, Box, Circle, Message, Point, Polygon, Space, Subscription
from nearcast.moving import LatePositions
from tests.boolean.strategies import WORDS, expressions
from tests.moving.indexes import INDEXES, RIVALS
from tests.space.strategies import near_places, places, regions

IDS = st.integers(0, 5) | st.sampled_from(["1", "été"])
KEYWORDS = st.lists(st.sampled_from([*WORDS, "else"]), max_size=6)
SHIFTS = st.sampled_from([0.0, 0.1, -0.5, 1.0, 3.0, -179.0])


def shifted(region, right, up):
    """A region elsewhere: its longitudes turn around the world, its latitudes end at the poles."""

    def x(lon):
        return (lon + right + 180.0) % 360.0 - 180.0 if is_earth else lon + right

    def y(lat):
        return min(max(lat + up, -90.0), 90.0) if is_earth else lat + up

    is_earth, space = region.space is Space.EARTH, region.space
    match region:
        case Box(west, south, east, north):
            return Box(x(west), y(south), x(east), y(north), space=space)
        case Circle(centre, radius):
            return Circle(Point(x(centre.lon), y(centre.lat), space=space), radius)
        case Polygon(rings):
            try:
                return Polygon([[(x(a), y(b)) for a, b in ring] for ring in rings], space=space)
            except ValueError:  # it would be flat, or as wide as the world
                return region


class Comparison(RuleBasedStateMachine):
    """The same events to the oracle and to an index."""

    make_index = None

    @initialize(
        space=st.sampled_from(Space),
        lifetime=st.sampled_from([None, 6.0]),
        late=st.sampled_from([LatePositions.IGNORED, LatePositions.TAKEN]),
    )
    def make(self, space, lifetime, late):
        self.pair = Pair(type(self).make_index, space, lifetime=lifetime, late_positions=late)
        self.space, self.now, self.next_id = space, 0.0, 0

    def draw_id(self, data):
        return data.draw(st.sampled_from(sorted(self.pair.ids, key=str)))

    def is_any(self, id):
        return not any(c.required for c in self.pair.oracle.subscription(id).expression.clauses)

    def draw_message(self, data):
        self.now += data.draw(st.sampled_from([0.0, 0.0, 0.5, 2.0]))
        live = [self.pair.oracle.subscription(id).region for id in sorted(self.pair.ids, key=str)]
        near = [region for region in live if region is not None]
        at = data.draw(
            near_places(data.draw(st.sampled_from(near))) if near else places(self.space)
        )
        self.next_id += 1
        is_new = data.draw(st.integers(0, 5))
        time = max(0.0, self.now - data.draw(st.sampled_from([0.0, 0.0, 3.0])))
        lives = data.draw(st.sampled_from([None, None, 0.0, 1.0, 5.0]))
        return Message(
            self.next_id if is_new else max(0, self.next_id - 3),
            keywords=data.draw(KEYWORDS),
            at=at,
            time=time,
            expires=None if lives is None else time + lives,
        )

    @rule(id=IDS, data=st.data())
    def subscribe(self, id, data):
        region = data.draw(st.none() | regions(self.space))
        wanted = data.draw(expressions() if region is None else expressions() | st.just(ANY))
        self.pair.subscribe(Subscription(id, wanted, region))

    @precondition(lambda self: self.pair.ids)
    @rule(data=st.data())
    def unsubscribe(self, data):
        self.pair.unsubscribe(self.draw_id(data))

    @precondition(lambda self: self.pair.ids)
    @rule(data=st.data(), time=st.none() | st.integers(0, 9))
    def jump(self, data, time):
        id = self.draw_id(data)
        region = data.draw(
            regions(self.space) if self.is_any(id) else st.none() | regions(self.space)
        )
        self.pair.move(id, region, time)

    @precondition(lambda self: self.pair.ids)
    @rule(data=st.data(), right=SHIFTS, up=SHIFTS)
    def shift(self, data, right, up):
        """A region goes on, around the world if need be and it can."""
        id = self.draw_id(data)
        region = self.pair.oracle.subscription(id).region
        if region is None:
            region = Box(-1, -1, 1, 1, space=self.space)
        self.pair.move(id, shifted(region, right, up))

    @precondition(lambda self: self.pair.ids)
    @rule(data=st.data(), count=st.integers(1, 4))
    def move_some(self, data, count):
        ids = [id for id in sorted(self.pair.ids, key=str) if isinstance(id, int)][:count]
        self.pair.move_batch(ids, [data.draw(regions(self.space)) for _ in ids])

    @rule(data=st.data())
    def publish(self, data):
        self.pair.publish(self.draw_message(data))

    @rule(data=st.data(), count=st.integers(1, 5))
    def publish_some(self, data, count):
        messages = {m.id: m for m in (self.draw_message(data) for _ in range(count))}
        self.pair.publish_batch(list(messages.values()))

    @rule(seconds=st.sampled_from([0.0, 1.0, 4.0]))
    def advance(self, seconds):
        self.now += seconds
        self.pair.advance(self.now)

    @rule()
    def save_and_load(self):
        self.pair.save_and_load()


def run(name, make_index, examples):
    machine = type(name, (Comparison,), {"make_index": staticmethod(make_index)})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=30, deadline=None)
    )


@pytest.mark.parametrize("name", [name for name in INDEXES if name != "ScanMoving"])
def test_any_order_of_events(name):
    run(name, INDEXES[name], 30 if name == "WordQuadtrees" else 10)


@pytest.mark.parametrize("name", RIVALS)
def test_any_order_of_events_of_rivals(name):
    run(name, RIVALS[name], 4)
