import copy
import pickle
from dataclasses import FrozenInstanceError, fields
from math import inf, nan

import numpy as np
import pytest

from nearcast.model import Box, Circle, Point, Polygon, Space

SHAPES = [
    Point(1, 2),
    Box(1, 2, 3, 4, space=Space.PLANE),
    Circle(Point(1, 2), 3),
    Polygon([[(0, 0), (4, 0), (0, 3)]]),
]


@pytest.mark.parametrize("number", [3, 3.0, np.float64(3), np.float32(3), np.int8(3)])
def test_any_number_is_stored_as_a_float(number):
    point = Point(number, number)
    polygon = Polygon([[(number, 0), (4, number), (0, 0)]])
    stored = [point.lon, point.lat, Circle(point, number).radius, polygon.rings[0][0][0]]
    assert stored == [3.0] * 4
    assert {type(each) for each in stored} == {float}


@pytest.mark.parametrize("value", [True, np.bool_(True), "3", None, 3j, [3]])
def test_what_is_no_number_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"longitude .* is not a number"):
        Point(value, 0)
    with pytest.raises(TypeError, match=r"radius .* is not a number"):
        Circle(Point(0, 0), value)
    with pytest.raises(TypeError, match=r"latitude .* is not a number"):
        Polygon([[(0, 0), (1, value), (1, 0)]])


@pytest.mark.parametrize("value", [nan, inf, -inf, 10**400])
def test_what_is_not_finite_is_refused(value):
    for make in (
        lambda: Point(value, 0),
        lambda: Point(0, value, space=Space.PLANE),
        lambda: Box(0, 0, 1, value),
        lambda: Circle(Point(0, 0), value),
        lambda: Polygon([[(0, 0), (1, value), (1, 0)]]),
    ):
        with pytest.raises(ValueError, match="is not finite"):
            make()


def test_the_ends_of_the_earth():
    assert Box(-180, -90, 180, 90).north == 90.0
    with pytest.raises(ValueError, match=r"longitude 180\.1 is outside \[-180, 180\]"):
        Point(180.1, 0)
    with pytest.raises(ValueError, match=r"latitude -90\.1 is outside .* did you swap"):
        Box(0, -90.1, 1, 1)


def test_the_plane_is_larger():
    assert Point(1e6, -1e60, space=Space.PLANE).lat == -1e60
    with pytest.raises(ValueError, match=r"x 1e\+61 is outside"):
        Point(1e61, 0, space=Space.PLANE)


def test_tiny_is_zero():
    assert Point(1e-61, -5e-324) == Point(0, 0)
    assert Point(1e-60, 0).lon == 1e-60


def test_a_box_may_cross_the_antimeridian_but_not_upside_down():
    assert Box(170, 0, -170, 0).west == 170.0
    with pytest.raises(ValueError, match=r"south 1\.0 is beyond north 0\.0"):
        Box(0, 1, 1, 0)
    with pytest.raises(ValueError, match=r"west 1\.0 is beyond east 0\.0"):
        Box(1, 0, 0, 1, space=Space.PLANE)


def test_a_circle_has_the_space_of_its_centre():
    assert Circle(Point(0, 0, space=Space.PLANE), 0).space is Space.PLANE
    with pytest.raises(TypeError, match="is not a Point"):
        Circle((0, 0), 1)


def test_a_polygon_takes_pairs_points_and_arrays():
    pairs = Polygon([[(0, 0), (4, 0), (0, 3), (0, 0)]])
    assert pairs == Polygon([[Point(0, 0), Point(4, 0), Point(0, 3)]])
    assert pairs == Polygon(np.array([[[0, 0], [4, 0], [0, 3]]]))
    assert hash(pairs) == hash(Polygon(iter([iter([(0, 0), (4, 0), (0, 3)])])))


@pytest.mark.parametrize(
    "ring",
    [
        [],
        [(0, 0)],
        [(0, 0), (1, 1), (0, 0)],
        [(0, 0), (0, 0), (0, 0)],
        [(0, 0), (1, 1), (2, 2), (5, 5)],
        [(0, 0), (0, 1), (0, 0.3)],
    ],
)
def test_a_ring_without_area_is_refused(ring):
    with pytest.raises(ValueError, match="polygon ring 1 has no area"):
        Polygon([[(0, 0), (1, 0), (0, 1)], ring])


def test_area_is_judged_exactly():
    # 3 * 0.1 is above 0.3 in binary, so these three are not on one line.
    assert len(Polygon([[(0, 0), (0.1, 0.3), (1, 3)]]).rings[0]) == 3


def test_other_polygon_errors():
    with pytest.raises(ValueError, match="no rings"):
        Polygon([])
    with pytest.raises(ValueError, match="is not a pair"):
        Polygon([[(0, 0, 0), (1, 0, 0), (0, 1, 0)]])
    with pytest.raises(ValueError, match="use one space"):
        Polygon([[Point(0, 0), Point(1, 0), Point(0, 1)]], space=Space.PLANE)


def test_space_is_not_a_string():
    with pytest.raises(TypeError, match=r"space 'plane' is not a Space; give Space\.EARTH"):
        Point(0, 0, space="plane")


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_values(shape):
    assert pickle.loads(pickle.dumps(shape)) == copy.deepcopy(shape) == shape
    assert eval(repr(shape)) == shape
    with pytest.raises(FrozenInstanceError):
        setattr(shape, fields(shape)[0].name, 1.0)


def test_spaces_tell_shapes_apart():
    assert Point(1, 2) != Point(1, 2, space=Space.PLANE)
