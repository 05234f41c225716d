"""Distances along roads: what is across the river is far away."""

from functools import cache

import pytest

from nearcast.model import Message, NearbyTrendingSubscription, Point, Space
from nearcast.space.road_network import RoadNetwork
from nearcast.trending import FTS, SST, TS, NearbyBaseline, ScanTrending, TermFields


@cache
def banks():
    """Two streets along a river, with a bridge at their far ends."""
    corners, streets = [(0, 0), (50, 0), (50, 1), (0, 1)], [(0, 1), (1, 2), (2, 3)]
    return RoadNetwork(corners, streets, space=Space.PLANE)


def at(x, y):
    return Point(x, y, space=Space.PLANE)


@pytest.mark.parametrize("kind", [SST, FTS, TS, NearbyBaseline, ScanTrending])
@pytest.mark.parametrize(("roads", "best"), [(None, "ferry"), (banks, "bridge")])
def test_what_is_across_the_river_is_far_along_roads(kind, roads, best):
    index = kind(half_life=60.0, a=1.0, space=Space.PLANE, roads=roads and roads())
    index.subscribe(NearbyTrendingSubscription("me", at(0, 0), k=1))
    index.publish(Message(1, keywords=["ferry"], at=at(0, 1)))
    index.publish(Message(2, keywords=["bridge"], at=at(50, 0)))
    assert [term for term, _ in index.top("me")] == [best]


@pytest.mark.thorough
def test_scores_count_the_way_to_the_junction():
    index = SST(half_life=60.0, a=1.0, space=Space.PLANE, roads=banks())
    index.publish(Message(1, keywords=["tea"], at=at(52, 1)))
    index.subscribe(NearbyTrendingSubscription("me", at(0, -3), k=1))
    assert index.top("me") == (("tea", pytest.approx(1.0 / (1.0 + 3.0 + 51.0 + 2.0))),)


def test_who_cannot_follow_roads_says_so():
    with pytest.raises(ValueError, match="TermFields needs straight distances"):
        TermFields(half_life=60.0, a=1.0, space=Space.PLANE, roads=banks())
    with pytest.raises(ValueError, match="one space"):
        SST(half_life=60.0, roads=banks())


@pytest.mark.parametrize("settings", [{"group_width": -1.0}, {"cell_capacity": 0}])
def test_pieces_that_mean_nothing_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        SST(half_life=60.0, **settings)
