"""The cost model of moving subscriptions, and what clients with safe regions send."""

from functools import partial

import numpy as np
import pytest

from nearcast.boolean.ap_tree._moving_cost import LONGEST, moving_cost, timestamps_until_drift
from nearcast.boolean.ap_tree._plan import Settings
from nearcast.checks.moving.pair import Pair
from nearcast.model import Box, Circle, Message, Point, Polygon, Space, Subscription
from nearcast.moving import APPlusTree, APPlusTreeSafe, Communication

STILL = Settings(16, 10, 8.0, 0, 0, 0, 0.001, 0.001)


def arena(count):
    random = np.random.default_rng(0)
    corners = random.uniform(0, 90, (count, 2)).astype(np.float32)
    rows = np.zeros((count, 8), np.int32)
    rows.view(np.float32)[:, 4:8] = np.concatenate([corners, corners + 10], axis=1)
    return rows


def cost(**moving):
    world = np.array([-np.inf, -np.inf, np.inf, np.inf])
    return moving_cost(STILL._replace(**moving), arena(400), 0, 400, world, np.int64(400))


def test_faster_and_more_frequent_moves_cost_more():
    slow = cost(messages_per_move=100.0, stride=0.5)
    assert 0 < slow < cost(messages_per_move=100.0, stride=5.0)
    assert slow < cost(messages_per_move=10.0, stride=0.5)
    far = cost(messages_per_move=100.0, stride=1e3)
    assert far == pytest.approx(cost(messages_per_move=100.0, stride=1e4), rel=0.5)


def test_a_grid_is_due_sooner_when_subscriptions_are_fast():
    bounds = arena(400).view(np.float32)[:, 4:8].copy()
    until = [
        timestamps_until_drift(STILL._replace(stride=stride), bounds, 0.0, 0.0, 100.0, 100.0)
        for stride in (0.0, 0.1, 10.0)
    ]
    assert until[0] == LONGEST + 1
    assert until[1] >= until[2] == 1


def test_the_tree_learns_how_subscriptions_move():
    index = APPlusTree(tree={"leaf_capacity": 2, "fanout": 4})
    for n in range(20):
        index.subscribe(Subscription(n, "tea", Box(n, 0, n + 1, 1)))
    for n in range(20):
        index.publish(Message(n, keywords=["tea"], at=Point(n, 0.5)))
        index.move(n, Box(n + 2, 0, n + 3, 1))
    index._subscriptions.rebuild()
    settings = index._subscriptions._settings
    assert settings.stride == pytest.approx(2.0)
    assert settings.messages_per_move > 0
    index.check()
    assert index.results(0) == {2, 3}


def test_a_client_in_its_safe_region_sends_nothing():
    index = APPlusTreeSafe(look_ahead=2.0)
    index.publish(Message(1, keywords=["tea"], at=Point(2.5, 0.5)))
    index.subscribe(Subscription("s", "tea", Box(0, 0, 1, 1)))  # the message is 1.5 away
    for step in (0.5, 1.0, 1.4):
        assert index.move("s", Box(step, 0, 1 + step, 1)) == []
    assert index.communication == Communication(moves=3, reports=0, contacts=0)
    assert [change.sign for change in index.move("s", Box(1.5, 0, 2.5, 1))] == [1]
    assert index.communication.reports == 1


def test_a_client_is_asked_when_a_message_comes_near_and_may_be_silent_again():
    index = APPlusTreeSafe(look_ahead=2.0)
    index.subscribe(Subscription("s", "tea", Box(0, 0, 1, 1)))
    index.move("s", Box(1, 0, 2, 1))
    assert index.publish(Message(1, keywords=["cake"], at=Point(2.5, 0.5))) == []
    assert index.communication.contacts == 0
    assert index.publish(Message(2, keywords=["tea"], at=Point(2.5, 0.5))) == []
    assert index.communication == Communication(moves=1, reports=0, contacts=1)
    index.move("s", Box(1.4, 0, 2.4, 1))
    assert index.communication.reports == 0
    assert [c.message_id for c in index.publish(Message(3, keywords=["tea"], at=Point(2, 1)))] == [
        3
    ]
    assert index.communication == Communication(moves=2, reports=0, contacts=2)
    assert [change.message_id for change in index.move("s", Box(1.6, 0, 2.6, 1))] == [2]


def shapes_at(space, x, y, unit):
    """A region of each kind around a point, about two units wide and high."""
    box = Box(x - unit, y - unit, x + unit, y + unit, space=space)
    metres = unit * 111_195 if space is Space.EARTH else unit
    arrow = [(-1.0, -1.0), (1.0, -0.5), (0.2, 0.1), (0.5, 1.0), (-0.6, 0.4)]
    hole = [(-0.4, -0.4), (0.1, -0.3), (-0.2, 0.1)]
    rings = [[(x + unit * a, y + unit * b) for a, b in ring] for ring in (arrow, hole)]
    return {
        "box": box,
        "circle": Circle(Point(x, y, space=space), metres),
        "polygon": Polygon(rings, space=space),
    }


@pytest.mark.parametrize("shape", ["box", "circle", "polygon"])
@pytest.mark.parametrize(
    ("space", "start"),
    [(Space.PLANE, (3.0, 4.0)), (Space.EARTH, (3.0, 4.0)), (Space.EARTH, (179.2, 60.0))],
)
def test_silence_hides_no_change(space, shape, start):
    pair = Pair(partial(APPlusTreeSafe, tree={"leaf_capacity": 2, "fanout": 4}), space)
    random = np.random.default_rng(17)
    people = {n: np.array(start) + random.uniform(-0.5, 0.5, 2) for n in range(6)}

    def region(n):
        x, y = people[n]
        return shapes_at(space, (x + 180.0) % 360.0 - 180.0, y, 0.02 * (1 + n))[shape]

    for n in people:
        pair.subscribe(Subscription(n, "tea", region(n)))
    for step in range(125):
        x, y = np.array(start) + random.uniform(-0.7, 0.7, 2)
        x = (x + 180.0) % 360.0 - 180.0
        at = Point(x, y, space=space)
        if step % 5 == 0 and x < 179.9:
            at = Box(x, y, x + random.uniform(0, 0.1), y + random.uniform(0, 0.1), space=space)
        pair.publish(Message(step, keywords=["tea"], at=at, time=step, expires=step + 60.0))
        n = int(random.integers(len(people)))
        for _ in range(4):
            people[n] += random.uniform(-0.004, 0.004, 2)
            pair.move(n, region(n))
    sent = pair.index.communication
    assert sent.moves == 500
    assert sent.reports + sent.contacts < sent.moves / 2


def test_the_slack_of_a_polygon_with_a_short_edge_is_not_too_large():
    ring = np.array(
        [
            (0.05164724494898257, 0.018218976037113376),
            (0.05164485356574436, 0.01822085713541365),
            (-0.21242914890740888, -0.15574642991281146),
            (-0.05523430137500944, -0.27939827951185986),
        ]
    )
    place = np.array((0.33620205177895446, 0.37996733545507766))
    pair = Pair(partial(APPlusTreeSafe, look_ahead=10.0), Space.PLANE)
    pair.subscribe(Subscription("s", "tea", Polygon([ring.tolist()], space=Space.PLANE)))
    pair.publish(Message(1, keywords=["tea"], at=Point(*place, space=Space.PLANE)))
    way = place - ring[0]
    for far in 0.46025353190439955 + np.linspace(-3e-12, 3e-12, 7):
        moved = ring + way / np.linalg.norm(way) * far
        pair.move("s", Polygon([moved.tolist()], space=Space.PLANE))
        assert pair.index.results("s") == pair.oracle.results("s")
        pair.move("s", Polygon([ring.tolist()], space=Space.PLANE))
