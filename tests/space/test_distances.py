from math import pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.model import Box, Circle, Point, Polygon, Space
from nearcast.space import (
    EARTH_RADIUS,
    distance,
    distance_to_rect,
    distance_to_region,
    is_in,
    place_rects,
)
from tests.space.strategies import SPACES, boxes, places, points, regions_and_places

SHARES = [number / 12 for number in range(13)]
HALF_WAY = pi * EARTH_RADIUS


def samples(rect, space):
    west, south, east, north = rect
    return [
        Point(
            min(west + x * (east - west), east),
            min(south + y * (north - south), north),
            space=space,
        )
        for x in SHARES
        for y in SHARES
    ]


@pytest.mark.parametrize(
    ("a", "b", "metres"),
    [
        (Point(7, 7), Point(7, 7), 0.0),
        (Point(0, 0), Point(180, 0), HALF_WAY),
        (Point(3, 90), Point(-5, -90), HALF_WAY),
        (Point(12, 90), Point(77, 90), 0.0),
        (Point(179.5, 0), Point(-179.5, 0), HALF_WAY / 180),
        (Point(0, 0), Point(90, 45), HALF_WAY / 2),
    ],
)
def test_distance(a, b, metres):
    assert distance(a, b) == pytest.approx(metres, abs=1e-6)


def test_spaces_do_not_mix():
    with pytest.raises(ValueError, match="use one space"):
        distance(Point(0, 0), Point(0, 0, space=Space.PLANE))


@given(
    st.sampled_from(SPACES).flatmap(
        lambda space: st.tuples(points(space), places(space).map(place_rects))
    )
)
def test_no_point_of_a_rect_is_nearer_than_the_nearest(point_and_rects):
    point, rects = point_and_rects
    for rect in rects:
        nearest = min(distance(point, sample) for sample in samples(rect, point.space))
        # Between antipodes the formula is off by up to 0.2 m.
        assert distance_to_rect(point, rect) <= nearest * (1 + 1e-9) + 0.5


@given(st.floats(-180, 180), st.floats(-90, 90), boxes(Space.EARTH))
def test_the_nearest_point_of_a_rect_is_in_it(lon, lat, box):
    # Distance to a fine grid exceeds the true one by at most the grid's cell.
    west, south, east, north = rect = place_rects(box)[0]
    point = Point(lon, lat)
    cell = HALF_WAY / 180 * max(east - west, north - south) / 12
    nearest = min(distance(point, sample) for sample in samples(rect, Space.EARTH))
    assert nearest <= distance_to_rect(point, rect) + cell + 0.5


@given(regions_and_places())
def test_distance_to_region_is_zero_inside_alone(region_and_place):
    region, place = region_and_place
    if is_in(place, region):
        assert distance_to_region(place, region) == 0.0
    else:
        assert distance_to_region(place, region) >= 0.0


@given(st.sampled_from(SPACES).flatmap(lambda space: st.tuples(places(space), boxes(space))))
def test_distance_to_a_box_is_that_of_its_nearest_point(place_and_box):
    place, box = place_and_box
    nearest = min(
        distance_to_rect(sample, rect)
        for other in place_rects(box)
        for sample in samples(other, box.space)
        for rect in place_rects(place)
    )
    assert distance_to_region(place, box) <= nearest * (1 + 1e-9) + 0.5


@pytest.mark.parametrize(
    ("place", "region", "expected"),
    [
        (Point(0, 0), None, 0.0),
        (Point(0, 2), Box(-1, 0, 1, 1), HALF_WAY / 180),
        (Point(-179, 0), Box(170, -1, 178, 1), HALF_WAY / 180 * 3),
        (Point(-179, 0), Polygon([[(170, -1), (178, -1), (178, 1)]]), HALF_WAY / 180 * 3),
        (Point(0, 2), Polygon([[(-1, 0), (1, 0), (1, 1), (-1, 1)]]), HALF_WAY / 180),
        (Point(0, 90), Circle(Point(0, 0), HALF_WAY / 4), HALF_WAY / 4),
        (Box(-1, 2, 1, 3), Polygon([[(-9, 0), (9, 0), (9, 1), (-9, 1)]]), HALF_WAY / 180),
    ],
)
def test_distance_to_region(place, region, expected):
    assert distance_to_region(place, region) == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_distance_to_a_polygon_of_the_plane():
    diagonal = Polygon([[(0, 0), (4, 4), (4, 0)]], space=Space.PLANE)
    assert distance_to_region(Point(0, 2, space=Space.PLANE), diagonal) == pytest.approx(2**0.5)
