"""Distances along roads: hub labels give those of Dijkstra's algorithm."""

from random import Random

import numpy as np
import pytest

from nearcast.datasets.roads import synthetic_roads
from nearcast.model import Point, Space
from nearcast.space import distance
from nearcast.space.road_network import RoadNetwork


def by_labels(network, one, other):
    """The distance of two junctions."""
    first, hub, far = network.labels
    a, b = slice(*first[one : one + 2].tolist()), slice(*first[other : other + 2].tolist())
    _, at, there = np.intersect1d(hub[a], hub[b], return_indices=True)
    return float((far[a][at] + far[b][there]).min())


@pytest.fixture(scope="module")
def town():
    roads = synthetic_roads(side=9)
    return RoadNetwork(roads.nodes, roads.roads, roads.length, space=Space.PLANE)


def test_labels_have_every_distance(town):
    random = Random(1)
    for _ in range(150):
        one, other = random.randrange(len(town.nodes)), random.randrange(len(town.nodes))
        a, b = (Point(*town.nodes[n].tolist(), space=Space.PLANE) for n in (one, other))
        right = town.distance(a, b)
        assert by_labels(town, one, other) == pytest.approx(right, rel=1e-12)
        assert distance(a, b) * (1 - 1e-12) <= right <= town.longest


def test_labels_are_few():
    roads = synthetic_roads(side=40)
    network = RoadNetwork(roads.nodes, roads.roads, roads.length, space=Space.PLANE)
    assert len(network.labels.hub) < 80 * len(network.nodes)
    hubs = np.split(network.labels.hub, network.labels.first[1:-1])
    assert all((np.diff(each) > 0).all() for each in hubs)


@pytest.mark.parametrize("space", Space)
def test_places_join_the_nearest_junction(space):
    random = Random(2)
    nodes = [(random.uniform(-170, 170), random.uniform(-80, 80)) for _ in range(60)]
    network = RoadNetwork(nodes, [(n, n + 1) for n in range(59)], space=space)
    places = np.array([(random.uniform(-180, 180), random.uniform(-90, 90)) for _ in range(80)])
    for place, (node, off) in zip(places.tolist(), network.nearest(places), strict=True):
        ways = [distance(Point(*place, space=space), Point(*n, space=space)) for n in nodes]
        assert (node, off) == (np.argmin(ways), min(ways))


def test_one_junction_has_everybody():
    network = RoadNetwork([(1, 1)], [], space=Space.PLANE)
    here, there = Point(1, 2, space=Space.PLANE), Point(4, 1, space=Space.PLANE)
    assert network.distance(here, there) == 4.0
    assert network.distance(here, here) == 2.0


@pytest.mark.parametrize(
    ("nodes", "roads", "length", "naming"),
    [
        ([], [], None, "junctions"),
        ([(0, 0), (1, 0)], [(0, 2)], None, "0 to 1"),
        ([(0, 0), (95, 0)], [], None, "one piece"),
        ([(0, 0), (3, 4)], [(0, 1)], [4.9], "straight"),
        ([(0, 0), (3, 4)], [(0, 1)], [5.0, 5.0], "one each"),
    ],
)
def test_what_is_no_network_is_refused(nodes, roads, length, naming):
    with pytest.raises(ValueError, match=naming):
        RoadNetwork(nodes, roads, length, space=Space.PLANE)


def test_a_junction_off_the_earth_is_refused():
    with pytest.raises(ValueError, match="latitude"):
        RoadNetwork([(0, 95)], [])
