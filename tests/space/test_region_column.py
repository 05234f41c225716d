import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from nearcast.model import Box, Circle, Point, Polygon, Space
from nearcast.space import RegionColumn, is_in, place_rects
from tests.space.strategies import SPACES, regions, regions_and_places

TRIANGLE = Polygon([[(0, 0), (4, 0), (0, 3)], [(1, 1), (2, 1), (1, 2)]])
SQUARE = Polygon([[(5, 5), (6, 5), (6, 6), (5, 6)]])


# ---------------------------------------------------------------- covers


@settings(max_examples=300)
@given(regions_and_places())
def test_covers_hold_every_place_of_the_region(region_and_place):
    region, place = region_and_place
    rows, bounds = RegionColumn.of_regions([region], region.space).covers()
    meets = any(
        west <= east_bound and west_bound <= east and south <= north_bound and south_bound <= north
        for west, south, east, north in place_rects(place)
        for west_bound, south_bound, east_bound, north_bound in bounds.tolist()
    )
    assert bounds.dtype == np.float32
    assert set(rows.tolist()) == {0}
    assert meets or not is_in(place, region)


@given(st.sampled_from(SPACES).flatmap(lambda space: st.lists(regions(space), min_size=1)))
def test_covers_of_many_are_the_covers_of_each(many):
    rows, bounds = RegionColumn.of_regions(many, many[0].space).covers()
    assert rows.dtype == np.int32
    for row, region in enumerate(many):
        _, alone = RegionColumn.of_regions([region], region.space).covers()
        assert bounds[rows == row].tolist() == alone.tolist()
    assert (np.diff(rows) >= 0).all()
    assert (bounds[:, :2] <= bounds[:, 2:]).all()


def test_covers_are_tight():
    column = RegionColumn.of_regions([Circle(Point(10, 60), 10_000), TRIANGLE], Space.EARTH)
    _, (circle, polygon) = column.covers()
    # 10 km is 0.0899 degrees up, and twice as much along at 60 degrees north.
    assert circle == pytest.approx([9.8201, 59.9101, 10.1799, 60.0899], abs=1e-3)
    assert polygon.tolist() == [0, 0, 4, 3]


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        (None, [[-180, -90, 180, 90]]),
        (Box(180, 0, -180, 1), [[180, 0, 180, 1], [-180, 0, -180, 1]]),
        (Circle(Point(0, 0), 1e9), [[-180, -90, 180, 90]]),
    ],
)
def test_covers_at_the_ends_of_the_earth(region, expected):
    assert RegionColumn.of_regions([region], Space.EARTH).covers()[1].tolist() == expected


def test_a_circle_with_a_pole_covers_all_longitudes():
    _, bounds = RegionColumn.of_regions([Circle(Point(5, 89), 200_000)], Space.EARTH).covers()
    assert bounds[:, [0, 2, 3]].tolist() == [[-180, 180, 90]]


def test_everywhere_in_the_plane_has_no_end():
    _, bounds = RegionColumn.of_regions([None], Space.PLANE).covers()
    assert bounds.tolist() == [[-np.inf, -np.inf, np.inf, np.inf]]


# ---------------------------------------------------------------- rows


class ColumnBesideList(RuleBasedStateMachine):
    """A column and a list of regions go through the same changes."""

    @initialize(space=st.sampled_from(SPACES))
    def begin(self, space):
        self.space = space
        self.column = RegionColumn.empty(space)
        self.regions = []

    def draw_regions(self, data, min_size=0):
        return data.draw(st.lists(st.none() | regions(self.space), min_size=min_size, max_size=4))

    @rule(data=st.data())
    def append(self, data):
        more = self.draw_regions(data)
        self.column.append(RegionColumn.of_regions(more, self.space))
        self.regions += more

    @rule(data=st.data())
    def put(self, data):
        if self.regions:
            row = data.draw(st.integers(0, len(self.regions) - 1))
            others = self.draw_regions(data, min_size=1)
            other_row = data.draw(st.integers(0, len(others) - 1))
            self.column.put([row], RegionColumn.of_regions([others[other_row]], self.space))
            self.regions[row] = others[other_row]

    @rule(data=st.data())
    def take(self, data):
        if self.regions:
            rows = data.draw(st.lists(st.integers(0, len(self.regions) - 1), max_size=8))
            self.column = self.column.take(rows)
            self.regions = [self.regions[row] for row in rows]
            polygons = sum(isinstance(region, Polygon) for region in self.regions)
            assert len(self.column.arrays()["polygon_start"]) == polygons + 1

    @rule()
    def save_and_load(self):
        arrays = {name: array.copy() for name, array in self.column.arrays().items()}
        self.column = RegionColumn.from_arrays(arrays, self.space)

    @invariant()
    def same(self):
        if hasattr(self, "column"):
            assert len(self.column) == len(self.regions)
            assert [self.column.region(row) for row in range(len(self.column))] == self.regions


TestColumnBesideList = ColumnBesideList.TestCase
TestColumnBesideList.settings = settings(max_examples=30, stateful_step_count=12)


def test_append_itself():
    column = RegionColumn.of_regions([TRIANGLE, None, SQUARE], Space.EARTH)
    column.append(column)
    assert [column.region(row) for row in range(6)] == 2 * [TRIANGLE, None, SQUARE]


def test_put_within_one_column_and_take_drops_the_unused_polygon():
    column = RegionColumn.of_regions([TRIANGLE, SQUARE], Space.EARTH)
    column.put([0], column.take([1]))
    assert column.region(0) == column.region(1) == SQUARE
    assert column.take([0, 1]).nbytes < column.nbytes


def test_nbytes_counts_rows_in_use():
    column = RegionColumn.of_boxes(np.zeros((10, 4)), Space.EARTH)
    before = column.nbytes
    column.append(RegionColumn.of_boxes(np.zeros((10, 4)), Space.EARTH))
    assert column.nbytes == before + 10 * (1 + 4 * 8)


def test_of_boxes_leaves_its_argument_alone():
    boxes = np.array([[1e-70, 0, 1, 1]])
    column = RegionColumn.of_boxes(boxes, Space.EARTH)
    assert column.region(0) == Box(1e-70, 0, 1, 1) == Box(0, 0, 1, 1)
    assert boxes[0, 0] == 1e-70


@pytest.mark.parametrize(
    ("box", "space", "message"),
    [
        ([0, 0, 1, 91], Space.EARTH, "row 1: latitude 91.0 is outside"),
        ([0, 0, 200, 1], Space.EARTH, "row 1: longitude 200.0 is outside"),
        ([0, np.nan, 1, 1], Space.EARTH, "row 1: latitude nan is not finite"),
        ([0, 0, np.inf, 1], Space.PLANE, "row 1: x inf is not finite"),
        ([0, 0, 1e61, 1], Space.PLANE, "row 1: x 1e\\+61 is outside"),
        ([0, 2, 1, 1], Space.EARTH, "row 1: box south 2.0 is beyond north 1.0"),
        ([2, 0, 1, 1], Space.PLANE, "row 1: box west 2.0 is beyond east 1.0"),
    ],
)
def test_of_boxes_names_the_bad_row(box, space, message):
    with pytest.raises(ValueError, match=message):
        RegionColumn.of_boxes([[0, 0, 1, 1], box], space)


def test_spaces_do_not_mix():
    earth = RegionColumn.of_regions([SQUARE], Space.EARTH)
    plane = RegionColumn.of_regions([None], Space.PLANE)
    with pytest.raises(ValueError, match=r"Space\.EARTH cannot join regions of Space\.PLANE"):
        plane.append(earth)
    with pytest.raises(ValueError, match="cannot join"):
        plane.put([0], earth)
    with pytest.raises(ValueError, match="row 1: the region is of"):
        RegionColumn.of_regions([None, SQUARE], Space.PLANE)
