import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.model import Box, Point, Polygon, Space
from nearcast.space import is_in, place_rects
from tests.space.strategies import SPACES, places


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (Box(-180, 0, 180, 1), [(-180, 0, 180, 1)]),
        (Box(180, 0, -180, 1), [(180, 0, 180, 1), (-180, 0, -180, 1)]),
        (Box(170, 0, 180, 1), [(170, 0, 180, 1), (-180, 0, -180, 1)]),
        (Box(-180, 0, -170, 1), [(-180, 0, -170, 1), (180, 0, 180, 1)]),
        (Point(-180, -90), [(-180, -90, 180, -90)]),
        (Box(0, 80, 10, 90), [(0, 80, 10, 90), (-180, 90, 180, 90)]),
        (Box(0, -90, 10, 90), [(0, -90, 10, 90), (-180, -90, 180, -90), (-180, 90, 180, 90)]),
        (Box(-180, -90, 180, 90), [(-180, -90, 180, 90)]),
        (Point(180, 90, space=Space.PLANE), [(180, 90, 180, 90)]),
    ],
)
def test_place_rects(place, expected):
    assert place_rects(place) == expected


@given(st.sampled_from(SPACES).flatmap(places))
def test_a_place_is_in_itself(place):
    if isinstance(place, Point):
        place = Box(place.lon, place.lat, place.lon, place.lat, space=place.space)
    assert is_in(place, place)


@given(st.sampled_from(SPACES).flatmap(lambda space: st.tuples(places(space), places(space))))
def test_boxes_meet_each_other(pair):
    a, b = pair
    if isinstance(a, Box) and isinstance(b, Box):
        assert is_in(a, b) == is_in(b, a)


def test_a_ring_inside_out_is_the_same_polygon():
    ring = [(0, 0), (9, 0), (9, 9), (0, 9)]
    for place in (Point(5, 5), Point(9, 3), Point(10, 3)):
        assert is_in(place, Polygon([ring])) == is_in(place, Polygon([ring[::-1]]))


def test_spaces_do_not_mix():
    with pytest.raises(ValueError, match="different spaces"):
        is_in(Point(0, 0), Box(0, 0, 1, 1, space=Space.PLANE))
