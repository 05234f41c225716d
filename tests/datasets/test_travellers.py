"""Do travellers stay on roads, take the quickest routes, and do the same again?"""

import numpy as np
import pytest

from nearcast.datasets import DataAbsentError, RoadMap, Travellers, oldenburg, synthetic_roads
from nearcast.datasets._road_kernels import routes
from nearcast.datasets.travellers import CROSSING_STEPS


def distance_to_roads(roads, place):
    a, b = roads.nodes[roads.roads[:, 0]], roads.nodes[roads.roads[:, 1]]
    along = ((place - a) * (b - a)).sum(axis=1) / np.maximum(((b - a) ** 2).sum(axis=1), 1e-30)
    nearest = a + np.clip(along, 0, 1)[:, None] * (b - a)
    return np.hypot(*(nearest - place).T).min()


def test_a_route_is_the_quickest():
    #  0 -1- 1 -1- 2    and a direct road 0-2 of 3
    start = np.array([0, 2, 4, 6])
    to = np.array([1, 2, 0, 2, 1, 0], np.int32)
    back = np.array([2, 5, 0, 4, 3, 1])
    weight = np.array([1.0, 3.0, 1.0, 1.0, 1.0, 3.0])
    next_road = routes(start, to, back, weight, np.array([2]))
    assert next_road.tolist() == [[0, 3, -1]]


def test_travellers_stay_on_roads_and_within_their_speed():
    roads = synthetic_roads(side=12)
    people = Travellers(roads, 200, velocity=2.0)
    fastest = 2.0 * roads.width / CROSSING_STEPS
    for _ in range(5):
        before = people.places()
        people.travel(np.arange(200))
        moved = np.hypot(*(people.places() - before).T)
        assert moved.max() <= fastest * (1 + 1e-9)
        assert np.median(moved) > 0.1 * fastest
    for place in people.places()[:50]:
        assert distance_to_roads(roads, place) < 1e-6 * roads.width


def test_only_those_who_are_asked_move_and_a_seed_tells_all():
    one, other = (Travellers(synthetic_roads(side=6), 30, seed=4) for _ in range(2))
    before = one.places()
    for people in (one, other):
        people.travel(np.array([3, 7]))
    assert (one.places() == other.places()).all()
    assert np.flatnonzero((one.places() != before).any(axis=1)).tolist() == [3, 7]


def test_no_road_leads_on():
    alone = RoadMap(np.array([[0.0, 0.0], [1.0, 0.0]]), np.empty((0, 2), np.int32))
    people = Travellers(alone, 3)
    before = people.places()
    people.travel(np.arange(3))
    assert (people.places() == before).all()


def test_bad_settings():
    with pytest.raises(ValueError, match="velocity 0"):
        Travellers(synthetic_roads(side=4), 1, velocity=0)
    with pytest.raises(ValueError, match="count -1"):
        Travellers(synthetic_roads(side=4), -1)


def test_oldenburg():
    try:
        roads = oldenburg()
    except DataAbsentError:
        pytest.skip("the map is not on this machine")
    assert (len(roads.nodes), roads.nodes.shape[1]) == (6105, 2)
    people = Travellers(roads, 100)
    before = people.places()
    people.travel(np.arange(100))
    assert ((people.places() != before).any(axis=1)).mean() > 0.9
