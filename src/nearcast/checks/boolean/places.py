"""Which places are in which regions: borders, the antimeridian, the poles, the plane."""

from __future__ import annotations

from math import inf, nextafter

from nearcast.boolean import BooleanIndex
from nearcast.checks.boolean.samples import SPACES, Check, MakeIndex, answer, batch_of
from nearcast.model import (
    Box,
    Circle,
    Id,
    Message,
    Place,
    Point,
    Polygon,
    Region,
    Space,
    Subscription,
)


def check_no_region(make_index: MakeIndex) -> None:
    """A subscription without a region hears from everywhere."""
    for space in SPACES:
        index = make_index(space=space)
        index.insert(Subscription(1, "tea"))
        ends = (-180.0, 180.0) if space is Space.EARTH else (-1e60, 1e60)
        for x in ends:
            for y in (-90.0, 0.0, 90.0):
                assert _at(index, Point(x, y, space=space)) == {1}


def check_closed_borders(make_index: MakeIndex) -> None:
    """A point on the border is in; its neighbour outside is out, to the last bit."""
    for space in SPACES:
        index = make_index(space=space)
        # 0.1 is no float32, so bounds that are rounded must not decide.
        index.insert(Subscription(1, "tea", Box(0.1, 0.2, 0.3, 0.4, space=space)))
        inside = [(0.1, 0.2), (0.3, 0.4), (0.1, 0.4), (0.3, 0.2), (0.2, 0.3)]
        outside = [
            (nextafter(0.1, -inf), 0.3),
            (nextafter(0.3, inf), 0.3),
            (0.2, nextafter(0.2, -inf)),
            (0.2, nextafter(0.4, inf)),
        ]
        for x, y in inside:
            assert _at(index, Point(x, y, space=space)) == {1}
        for x, y in outside:
            assert _at(index, Point(x, y, space=space)) == set()


def check_many_regions_with_one_border(make_index: MakeIndex) -> None:
    """Where many boxes touch, a point on the common border is in all of them."""
    for space in SPACES:
        index = _tiled(make_index, space)
        for column in range(1, 8):
            for row in range(1, 8):
                corner = Point(10.0 * column, 10.0 * row, space=space)
                middle = Point(10.0 * column + 5, 10.0 * row + 5, space=space)
                first = 8 * (row - 1) + column - 1
                assert _at(index, corner) == {first, first + 1, first + 8, first + 9}
                assert _at(index, middle) == {8 * row + column}
        index.check()


def check_regions_without_size(make_index: MakeIndex) -> None:
    """Many boxes that are points or lines: they are found, and the index is not taken ill."""
    for space in SPACES:
        index = make_index(space=space)
        points = [Subscription(i, "tea", Box(1, 2, 1, 2, space=space)) for i in range(100)]
        lines = [Subscription(i, "tea", Box(1, 0, 1, 5, space=space)) for i in range(100, 200)]
        index.insert_batch(batch_of(points + lines, space))
        assert _at(index, Point(1, 2, space=space)) == set(range(200))
        assert _at(index, Point(1, 3, space=space)) == set(range(100, 200))
        assert _at(index, Point(2, 2, space=space)) == set()
        index.check()


def check_range_messages(make_index: MakeIndex) -> None:
    """A message in a box reaches every region it meets, once."""
    for space in SPACES:
        index = _tiled(make_index, space)
        assert _at(index, Box(0, 0, 80, 80, space=space)) == set(range(64))
        assert _at(index, Box(15, 15, 25, 16, space=space)) == {9, 10}
        assert _at(index, Box(80, 80, 85, 85, space=space)) == {63}
        assert _at(index, Box(81, 0, 85, 80, space=space)) == set()


def check_antimeridian(make_index: MakeIndex) -> None:
    """180 and -180 are one meridian; boxes and circles may lie across it."""
    index = _index_of(
        make_index,
        {
            "across": Box(170, -10, -170, 10),
            "east": Box(160, -10, 180, 10),
            "west": Box(-180, -10, -160, 10),
            "circle": Circle(Point(179.9, 0), 50_000),
            "world": Box(-180, -90, 180, 90),
        },
    )
    meridian = {"across", "east", "west", "circle", "world"}
    assert _at(index, Point(180, 0)) == _at(index, Point(-180, 0)) == meridian
    assert _at(index, Point(175, 0)) == {"across", "east", "world"}
    assert _at(index, Point(-175, 0)) == {"across", "west", "world"}
    assert _at(index, Point(-179.9, 0)) == {"across", "west", "circle", "world"}
    assert _at(index, Point(0, 0)) == {"world"}
    assert _at(index, Box(165, -1, -165, 1)) == meridian
    assert _at(index, Box(-180, -1, -179, 1)) == meridian


def check_poles(make_index: MakeIndex) -> None:
    """A pole is one point, whatever the longitude it is given with."""
    index = _index_of(
        make_index,
        {
            "cap": Circle(Point(0, 90), 100_000),
            "near": Circle(Point(90, 89.5), 100_000),
            "touches": Box(10, 80, 20, 90),
            "below": Box(10, 80, 20, 89),
            "south": Box(-30, -90, -20, -80),
        },
    )
    for lon in (-180.0, -90.0, 0.0, 15.0, 123.4, 180.0):
        assert _at(index, Point(lon, 90)) == {"cap", "near", "touches"}
        assert _at(index, Point(lon, -90)) == {"south"}
    assert _at(index, Point(15, 89.5)) == {"cap", "near", "touches"}
    assert _at(index, Point(-90, 89.2)) == {"cap"}
    assert _at(index, Box(100, 85, 110, 90)) == {"cap", "near", "touches"}


def check_borders_just_before_the_end_of_the_world(make_index: MakeIndex) -> None:
    """A box may end one float64 before a pole or the antimeridian: float32 does not see that."""
    east, north = nextafter(180.0, 0.0), nextafter(90.0, 0.0)
    index = _index_of(
        make_index,
        {
            "east": Box(10, 10, east, 20),
            "north": Box(10, 10, 20, north),
            "west": Box(-east, -20, -10, -10),
            "south": Box(-20, -north, -10, -10),
            "across": Box(east, 30, -east, 40),
        },
    )
    assert _at(index, Point(east, 15)) == {"east"}
    assert _at(index, Point(15, north)) == {"north"}
    assert _at(index, Point(-east, -15)) == {"west"}
    assert _at(index, Point(-15, -north)) == {"south"}
    for lon in (-180.0, 180.0):
        assert _at(index, Point(lon, 15)) == _at(index, Point(lon, -15)) == set()
        assert _at(index, Point(lon, 35)) == {"across"}
    assert _at(index, Point(15, 90)) == _at(index, Point(-15, -90)) == set()


def check_circles_and_polygons(make_index: MakeIndex) -> None:
    """The corners of their bounding boxes are not in them."""
    for space in SPACES:
        radius = 111_000.0 if space is Space.EARTH else 1.0
        ring = [(0, 0), (4, 0), (4, 4), (0, 4)]
        hole = [(1, 1), (3, 1), (3, 3), (1, 3)]
        index = _index_of(
            make_index,
            {
                "circle": Circle(Point(10, 0, space=space), radius),
                "frame": Polygon([ring, hole], space=space),
            },
            space,
        )
        assert _at(index, Point(10.5, 0.5, space=space)) == {"circle"}
        assert _at(index, Point(10.9, 0.9, space=space)) == set()
        assert _at(index, Point(0.5, 0.5, space=space)) == {"frame"}
        assert _at(index, Point(1, 2, space=space)) == {"frame"}
        assert _at(index, Point(2, 2, space=space)) == set()
        assert _at(index, Box(1.5, 1.5, 2.5, 2.5, space=space)) == set()
        assert _at(index, Box(2, 2, 20, 3.5, space=space)) == {"frame"}


def check_whole_plane(make_index: MakeIndex) -> None:
    """The plane has no edge: far beyond all other subscriptions, messages still arrive."""
    index = make_index(space=Space.PLANE)
    far = Box(1e58, 1e58, 2e58, 2e58, space=Space.PLANE)
    near = [Subscription(i, "tea", _tile(i, i, Space.PLANE)) for i in range(50)]
    index.insert_batch(batch_of(near, Space.PLANE))
    index.insert(Subscription(1000, "tea", far))
    index.insert(Subscription(1001, "tea"))
    assert _at(index, Point(1.5e58, 1.5e58, space=Space.PLANE)) == {1000, 1001}
    assert _at(index, Point(0.5e58, 1.5e58, space=Space.PLANE)) == {1001}
    assert _at(index, Point(3e58, 1.5e58, space=Space.PLANE)) == {1001}
    assert _at(index, Point(-1e9, 5, space=Space.PLANE)) == {1001}
    assert _at(index, Point(5, 5, space=Space.PLANE)) == {0, 1001}


def _tiled(make_index: MakeIndex, space: Space) -> BooleanIndex:
    """An index of 8 x 8 tiles that touch; tile 8 * row + column wants tea."""
    index = make_index(space=space)
    tiles = [
        Subscription(8 * row + column, "tea", _tile(column, row, space))
        for row in range(8)
        for column in range(8)
    ]
    index.insert_batch(batch_of(tiles, space))
    return index


def _tile(column: int, row: int, space: Space) -> Box:
    return Box(10 * column, 10 * row, 10 * column + 10, 10 * row + 10, space=space)


def _index_of(
    make_index: MakeIndex, regions: dict[str, Region], space: Space = Space.EARTH
) -> BooleanIndex:
    index = make_index(space=space)
    for id_, region in regions.items():
        index.insert(Subscription(id_, "tea", region))
    return index


def _at(index: BooleanIndex, place: Place) -> set[Id]:
    return answer(index, Message(1, keywords=["tea"], at=place))


PLACES: tuple[Check, ...] = (
    check_no_region,
    check_closed_borders,
    check_many_regions_with_one_border,
    check_regions_without_size,
    check_range_messages,
    check_antimeridian,
    check_poles,
    check_borders_just_before_the_end_of_the_world,
    check_circles_and_polygons,
    check_whole_plane,
)
