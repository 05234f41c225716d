"""The kernels decide as `membership.py` does, to the last bit."""

from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearcast.model import Box, Circle, Point, Polygon, Space
from nearcast.space import RegionColumn, distance, is_in, place_rects
from nearcast.space._kernels import exact_orientation, haversine, orientation, region_meets
from tests.space.strategies import SPACES, points, regions_and_places


def kernel_is_in(place, region):
    column = RegionColumn.of_regions([None, region], place.space)
    rects = np.array(place_rects(place))
    is_earth = place.space is Space.EARTH
    return region_meets(*column.kernel_arrays(), 1, is_earth, rects, 0, len(rects))


@settings(max_examples=300)
@given(regions_and_places())
def test_kernel_agrees_with_membership(region_and_place):
    region, place = region_and_place
    assert kernel_is_in(place, region) == is_in(place, region)


@given(points(Space.EARTH), points(Space.EARTH))
def test_haversine_agrees_to_the_last_bit(a, b):
    assert haversine(a.lon, a.lat, b.lon, b.lat) == distance(a, b) == distance(b, a)


def sign_by_fractions(*numbers):
    ax, ay, bx, by, px, py = map(Fraction, numbers)
    determinant = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
    return (determinant > 0) - (determinant < 0)


def test_orientation_beside_a_line_that_rounding_hides():
    # Neighbours of (0.5, 0.5) against the diagonal through (12, 12) and (24, 24).
    steps = [0.5 + number * 2.0**-53 for number in range(24)]
    for x in steps:
        for y in steps:
            numbers = (12.0, 12.0, 24.0, 24.0, x, y)
            assert orientation(*numbers) == sign_by_fractions(*numbers)


@st.composite
def nearly_on_a_line(draw):
    magnitudes = st.sampled_from([1e-60, 1e-20, 0.1, 1.0, 90.0, 1e20, 1e60])
    numbers = st.builds(lambda share, size: share * size, st.floats(-1, 1), magnitudes)
    coordinate = numbers.filter(lambda number: number == 0 or abs(number) >= 1e-60)
    ax, ay, bx, by = (draw(coordinate) for _ in range(4))
    share = draw(st.floats(-2, 2))
    px, py = ax + share * (bx - ax), ay + share * (by - ay)
    return tuple(0.0 if abs(number) < 1e-60 else number for number in (ax, ay, bx, by, px, py))


@settings(max_examples=300)
@given(nearly_on_a_line())
def test_orientation_is_exact_at_every_magnitude(numbers):
    assert orientation(*numbers) == sign_by_fractions(*numbers)
    assert exact_orientation(*numbers) == sign_by_fractions(*numbers)


FAR = 20_015_200.0  # more than half way round the Earth


@pytest.mark.parametrize(
    ("place", "region", "expected"),
    [
        # borders
        (Point(1, 1), Box(1, 1, 2, 2), True),
        (Point(nextafter(1, 0), 1), Box(1, 1, 2, 2), False),
        (Point(1, 1), Box(1, 1, 1, 1), True),
        (Box(0, 0, 1, 1), Box(1, 1, 1, 2), True),
        (Point(3, 3), Polygon([[(0, 0), (9, 9), (9, 0)]]), True),
        (Point(3, nextafter(3, inf)), Polygon([[(0, 0), (9, 9), (9, 0)]]), False),
        (Point(0.1, 0.3), Polygon([[(0, 0), (1, 3), (1, 0)]]), True),  # 0.3 < 3 * 0.1 in binary
        (Point(0.3, 0.1), Polygon([[(0, 0), (3, 1), (3, 9)]]), True),
        (Point(0.3, 0.1), Polygon([[(0, 0), (3, 1), (3, -9)]]), False),
        # holes: their border belongs to the polygon, a rectangle wholly inside one does not
        (Point(5, 5), Polygon([[(0, 0), (9, 0), (9, 9), (0, 9)], [(4, 4), (6, 4), (5, 7)]]), False),
        (Point(4, 4), Polygon([[(0, 0), (9, 0), (9, 9), (0, 9)], [(4, 4), (6, 4), (5, 7)]]), True),
        (Box(1, 1, 2, 2), Polygon([[(0, 0), (9, 0), (9, 9), (0, 9)]]), True),
        (Box(-9, -9, 9, 9), Polygon([[(0, 0), (1, 0), (0, 1)]]), True),
        # the antimeridian
        (Point(-180, 0), Box(179, -1, 180, 1), True),
        (Point(180, 0), Box(-180, -1, -179, 1), True),
        (Point(180, 0), Box(179, -1, -179, 1), True),
        (Point(0, 0), Box(179, -1, -179, 1), False),
        (Point(-180, 0), Polygon([[(179, -1), (180, -1), (180, 1)]]), True),
        (Box(170, 0, -170, 1), Box(-175, 0, -172, 1), True),
        (Point(-180, 0), Circle(Point(180, 0), 0), True),
        (Point(-179.5, 0), Circle(Point(179.5, 0), 111_196), True),
        (Point(-179.5, 0), Circle(Point(179.5, 0), 111_195), False),
        # the poles
        (Point(50, 90), Box(0, 80, 10, 90), True),
        (Point(50, 90), Circle(Point(-10, 90), 0), True),
        (Point(180, 85), Circle(Point(0, 80), 1_700_000), True),
        (Box(100, 89, 120, 90), Circle(Point(-70, 89.9), 12_000), True),
        (Point(50, -90), Polygon([[(0, -90), (1, -90), (0, -80)]]), True),
        # the nearest point is in the middle of a side
        (Box(80, 40, 90, 80), Circle(Point(0, 60), 4_400_000), True),
        # the whole Earth, and a little less
        (Point(180, 0), Circle(Point(0, 0), FAR), True),
        (Point(180, 0), Circle(Point(0, 0), FAR - 1000), False),
        # the plane knows neither
        (Point(180, 0, space=Space.PLANE), Box(-180, -1, -179, 1, space=Space.PLANE), False),
        (Point(50, 90, space=Space.PLANE), Box(0, 80, 10, 90, space=Space.PLANE), False),
        (Point(3, 4, space=Space.PLANE), Circle(Point(0, 0, space=Space.PLANE), 5), True),
        (Point(3, 4.1, space=Space.PLANE), Circle(Point(0, 0, space=Space.PLANE), 5), False),
    ],
)
def test_edges(place, region, expected):
    assert is_in(place, region) is expected
    assert kernel_is_in(place, region) is expected


@pytest.mark.parametrize("space", SPACES)
def test_everywhere(space):
    assert is_in(Point(1, 2, space=space), None)
    assert kernel_is_in(Point(1, 2, space=space), None)


def test_any_rectangle_of_the_range_and_no_other():
    column = RegionColumn.of_boxes([[0, 0, 1, 1]], Space.EARTH)
    rects = np.array([[0.5, 0.5, 0.5, 0.5], [7, 7, 8, 8], [1, 1, 9, 9]])
    arrays = column.kernel_arrays()
    assert region_meets(*arrays, 0, True, rects, 0, 3)
    assert not region_meets(*arrays, 0, True, rects, 1, 2)
    assert region_meets(*arrays, 0, True, rects, 1, 3)
