"""The regions of many subscriptions as flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearcast.growing_array import GrowingArray
from nearcast.model.shapes import (
    LARGEST_COORDINATE,
    SMALLEST_COORDINATE,
    Box,
    Circle,
    Point,
    Polygon,
    Region,
    Space,
)
from nearcast.space._kernels import BOX, CIRCLE, EARTH_RADIUS, EVERYWHERE, POLYGON

__all__ = ["BOX", "CIRCLE", "EVERYWHERE", "POLYGON", "RegionColumn"]

# One metre in degrees is 9e-6. The haversine formula is off by nanometres, but by up to 0.2 m
# between antipodes, where asin is steep.
CIRCLE_MARGIN_DEGREES = 1e-5
CIRCLE_MARGIN_RELATIVE = 1e-12


class RegionColumn:
    """Regions by row number, without a Python object each; None is everywhere.

    The arrays are drawn in `_kernels.py`. A polygon that `put` replaced stays in them, unused,
    until as many are unused as not.

    >>> column = RegionColumn.of_regions([Box(0, 0, 2, 1), None], Space.EARTH)
    >>> column.append(RegionColumn.of_regions([Circle(Point(5, 5), 100)], Space.EARTH))
    >>> len(column), column.region(0), column.region(1)
    (3, Box(west=0.0, south=0.0, east=2.0, north=1.0, space=Space.EARTH), None)
    """

    def __init__(
        self,
        kind: NDArray[np.uint8],
        shape: NDArray[np.float64],
        ring_start: NDArray[np.int64],
        polygon_start: NDArray[np.int64],
        vertices: NDArray[np.float64],
        space: Space,
    ) -> None:
        self.space = space
        self._kind = GrowingArray(kind)
        self._shape = GrowingArray(shape)
        self._ring_start = GrowingArray(ring_start)
        self._polygon_start = GrowingArray(polygon_start)
        self._vertices = GrowingArray(vertices)
        self._unused_polygons = 0

    @classmethod
    def empty(cls, space: Space) -> RegionColumn:
        """No regions.

        >>> len(RegionColumn.empty(Space.PLANE))
        0
        """
        return cls.of_regions([], space)

    @classmethod
    def everywhere(cls, count: int, space: Space) -> RegionColumn:
        """So many rows without a region.

        >>> RegionColumn.everywhere(2, Space.EARTH).region(1) is None
        True
        """
        return cls._without_polygons(EVERYWHERE, np.zeros((count, 4)), space)

    @classmethod
    def of_regions(cls, regions: Iterable[Region | None], space: Space) -> RegionColumn:
        """One row per region.  O(vertices).

        >>> RegionColumn.of_regions([Box(0, 0, 1, 1)], Space.PLANE)
        Traceback (most recent call last):
        ValueError: row 0: the region is of Space.EARTH, the column of Space.PLANE; use one space...
        """
        kinds: list[int] = []
        shapes: list[float] = []  # four numbers a row
        ring_start, polygon_start = [0], [0]
        vertices: list[tuple[float, float]] = []
        for row, region in enumerate(regions):
            if region is not None and region.space is not space:
                raise ValueError(
                    f"row {row}: the region is of {region.space}, the column of {space}; "
                    "use one space for all"
                )
            match region:
                case Box():  # first, because most are
                    kinds.append(BOX)
                    shapes += (region.west, region.south, region.east, region.north)
                case None:
                    kinds.append(EVERYWHERE)
                    shapes += (0.0, 0.0, 0.0, 0.0)
                case Circle():
                    kinds.append(CIRCLE)
                    shapes += (region.centre.lon, region.centre.lat, region.radius, 0.0)
                case Polygon():
                    kinds.append(POLYGON)
                    shapes += (len(polygon_start) - 1, 0.0, 0.0, 0.0)
                    for ring in region.rings:
                        vertices.extend(ring)
                        ring_start.append(len(vertices))
                    polygon_start.append(len(ring_start) - 1)
        return cls(
            np.array(kinds, np.uint8),
            np.array(shapes, np.float64).reshape(-1, 4),
            np.array(ring_start, np.int64),
            np.array(polygon_start, np.int64),
            np.array(vertices, np.float64).reshape(-1, 2),
            space,
        )

    @classmethod
    def of_boxes(cls, boxes: ArrayLike, space: Space) -> RegionColumn:
        """One row per box: west, south, east, north.  O(boxes), vectorised.

        >>> RegionColumn.of_boxes([[170, -1, -170, 1]], Space.EARTH).region(0).east
        -170.0
        >>> RegionColumn.of_boxes([[0, 0, 1, 1], [0, 0, 1, 95]], Space.EARTH)
        Traceback (most recent call last):
        ValueError: row 1: latitude 95.0 is outside [-90, 90]; did you swap longitude and latitude?
        """
        shape = np.array(boxes, np.float64).reshape(-1, 4)
        shape[np.abs(shape) < SMALLEST_COORDINATE] = 0.0
        west, south, east, north = shape.T
        limit_x, limit_y = _limits(space)
        good = (np.abs(shape) <= [limit_x, limit_y, limit_x, limit_y]).all(axis=1)
        good &= south <= north
        if space is Space.PLANE:
            good &= west <= east
        _refuse_first_bad(good, lambda row: Box(*shape[row].tolist(), space=space))
        return cls._without_polygons(BOX, shape, space)

    @classmethod
    def of_circles(cls, centres: ArrayLike, radius: ArrayLike, space: Space) -> RegionColumn:
        """One row per centre: lon, lat; one radius for all, or one each.  O(circles), vectorised.

        >>> RegionColumn.of_circles([[2.35, 48.86]], 500, Space.EARTH).region(0).radius
        500.0
        >>> RegionColumn.of_circles([[0, 0], [0, 1]], [1, -1], Space.PLANE)
        Traceback (most recent call last):
        ValueError: row 1: radius -1.0 is negative; a circle needs a finite radius >= 0
        """
        centre = np.asarray(centres, np.float64).reshape(-1, 2)
        shape = np.zeros((len(centre), 4))
        shape[:, :2] = np.where(np.abs(centre) < SMALLEST_COORDINATE, 0.0, centre)
        shape[:, 2] = radius
        good = (np.abs(centre) <= _limits(space)).all(axis=1)
        good &= (shape[:, 2] >= 0.0) & np.isfinite(shape[:, 2])

        def circle(row: int) -> Circle:
            lon, lat, far, _ = shape[row].tolist()
            return Circle(Point(lon, lat, space=space), far)

        _refuse_first_bad(good, circle)
        return cls._without_polygons(CIRCLE, shape, space)

    @classmethod
    def _without_polygons(cls, kind: int, shape: NDArray[np.float64], space: Space) -> RegionColumn:
        rows = cls.empty(space)
        rows._kind = GrowingArray(np.full(len(shape), kind, np.uint8))
        rows._shape = GrowingArray(shape)
        return rows

    def __len__(self) -> int:
        return len(self._kind.used)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows in use, without spare room."""
        return sum(array.nbytes for array in self.kernel_arrays())

    def region(self, row: int) -> Region | None:
        """The region of a row as an object, None for everywhere.  O(its vertices).

        >>> triangle = Polygon([[(0, 0), (4, 0), (0, 3)]])
        >>> RegionColumn.of_regions([triangle], Space.EARTH).region(0) == triangle
        True
        """
        a, b, c, d = self._shape.used[row].tolist()
        kind = self._kind.used[row]
        if kind == BOX:
            return Box(a, b, c, d, space=self.space)
        if kind == CIRCLE:
            return Circle(Point(a, b, space=self.space), c)
        if kind == POLYGON:
            ring_start, vertices = self._polygon(int(a))
            rings = np.split(vertices, ring_start[1:-1])
            return Polygon([ring.tolist() for ring in rings], space=self.space)
        return None

    def append(self, other: RegionColumn) -> None:
        """Add the rows of another column at the end.  Amortised O(size of the other).

        >>> column = RegionColumn.of_regions([None], Space.EARTH)
        >>> column.append(column)
        >>> len(column)
        2
        """
        self._check_space(other)
        kind, shape, ring_start, polygon_start, vertices = other.kernel_arrays()
        shape = shape.copy()
        shape[kind == POLYGON, 0] += len(self._polygon_start.used) - 1
        self._add_polygons(ring_start, polygon_start, vertices)
        self._kind.extend(kind)
        self._shape.extend(shape)

    def put(self, rows: ArrayLike, other: RegionColumn) -> None:
        """Overwrite some rows by those of another column, in order.  Amortised O(its size).

        >>> column = RegionColumn.of_regions([None, None], Space.EARTH)
        >>> column.put([1], RegionColumn.of_boxes([[0, 0, 1, 1]], Space.EARTH))
        >>> column.region(0), column.region(1).east
        (None, 1.0)
        """
        self._check_space(other)
        chosen = np.asarray(rows, np.int64)
        kind, shape, ring_start, polygon_start, vertices = other.kernel_arrays()
        shape = shape.copy()
        shape[kind == POLYGON, 0] += len(self._polygon_start.used) - 1
        self._unused_polygons += int((self._kind.used[chosen] == POLYGON).sum())
        self._add_polygons(ring_start, polygon_start, vertices)
        self._kind.used[chosen] = kind
        self._shape.used[chosen] = shape
        if self._unused_polygons > 64 + len(self._polygon_start.used) // 2:
            compact = self.take(np.arange(len(self)))
            self._shape, self._vertices = compact._shape, compact._vertices
            self._ring_start, self._polygon_start = compact._ring_start, compact._polygon_start
            self._unused_polygons = 0

    def take(self, rows: ArrayLike) -> RegionColumn:
        """The given rows as a new column, without unused polygons.  O(size of the result).

        >>> column = RegionColumn.of_boxes([[0, 0, 1, 1], [0, 0, 2, 2]], Space.EARTH)
        >>> column.take([1]).region(0).east
        2.0
        """
        chosen = np.asarray(rows, np.int64)
        kind, shape = self._kind.used[chosen], self._shape.used[chosen]
        polygons = shape[kind == POLYGON, 0].astype(np.int64)
        shape[kind == POLYGON, 0] = np.arange(len(polygons))
        rings, polygon_start = _ragged_rows(self._polygon_start.used, polygons)
        vertices, ring_start = _ragged_rows(self._ring_start.used, rings)
        return RegionColumn(
            kind, shape, ring_start, polygon_start, self._vertices.used[vertices], self.space
        )

    def covers(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Rectangles that hold each region: row numbers, ascending, and west, south, east, north.

        A region has one rectangle, or two when it crosses the antimeridian; rounded outward to
        float32. A place is in a region only if one of its rectangles (`place_rects`) meets one of
        these, so they may prune, never decide.  O(rows + vertices), vectorised.

        >>> rows, bounds = RegionColumn.of_boxes([[170, -1, -170, 1]], Space.EARTH).covers()
        >>> rows.tolist(), bounds.tolist()
        ([0, 0], [[170.0, -1.0, 180.0, 1.0], [-180.0, -1.0, -170.0, 1.0]])
        """
        kind, shape = self._kind.used, self._shape.used
        bounds = np.empty((len(self), 4))
        if self.space is Space.EARTH:
            bounds[:] = (-180.0, -90.0, 180.0, 90.0)
        else:
            bounds[:] = (-np.inf, -np.inf, np.inf, np.inf)
        bounds[kind == BOX] = shape[kind == BOX]
        circle_bounds = _earth_circle_bounds if self.space is Space.EARTH else _plane_circle_bounds
        bounds[kind == CIRCLE] = circle_bounds(*shape[kind == CIRCLE, :3].T)
        if len(self._vertices.used):
            first_vertex = self._ring_start.used[self._polygon_start.used[:-1]]
            south_west = np.minimum.reduceat(self._vertices.used, first_vertex)
            north_east = np.maximum.reduceat(self._vertices.used, first_vertex)
            polygons = shape[kind == POLYGON, 0].astype(np.int64)
            bounds[kind == POLYGON] = np.hstack([south_west[polygons], north_east[polygons]])

        crossing = bounds[:, 0] > bounds[:, 2]
        rows = np.repeat(np.arange(len(self), dtype=np.int32), 1 + crossing)
        bounds = bounds[rows]
        second = np.flatnonzero(rows[1:] == rows[:-1]) + 1
        bounds[second - 1, 2] = 180.0
        bounds[second, 0] = -180.0
        return rows, _outward_float32(bounds)

    def kernel_arrays(
        self,
    ) -> tuple[
        NDArray[np.uint8],
        NDArray[np.float64],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.float64],
    ]:
        """Views of kind, shape, ring_start, polygon_start, vertices, as `region_meets` takes them.

        >>> [len(array) for array in RegionColumn.empty(Space.EARTH).kernel_arrays()]
        [0, 0, 1, 1, 0]
        """
        return (
            self._kind.used,
            self._shape.used,
            self._ring_start.used,
            self._polygon_start.used,
            self._vertices.used,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The same views by name, for saving.

        >>> list(RegionColumn.empty(Space.EARTH).arrays())
        ['kind', 'shape', 'ring_start', 'polygon_start', 'vertices']
        """
        names = ("kind", "shape", "ring_start", "polygon_start", "vertices")
        return dict(zip(names, self.kernel_arrays(), strict=True))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], space: Space) -> RegionColumn:
        """The column whose `arrays` these are, without a copy; they must be writable for `put`.

        >>> column = RegionColumn.of_boxes([[0, 0, 1, 1]], Space.EARTH)
        >>> len(RegionColumn.from_arrays(column.arrays(), Space.EARTH))
        1
        """
        return cls(**arrays, space=space)

    def _polygon(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Where its rings start, from 0, and its vertices."""
        first, last = self._polygon_start.used[number : number + 2]
        ring_start = self._ring_start.used[first : last + 1]
        return ring_start - ring_start[0], self._vertices.used[ring_start[0] : ring_start[-1]]

    def _add_polygons(
        self,
        ring_start: NDArray[np.int64],
        polygon_start: NDArray[np.int64],
        vertices: NDArray[np.float64],
    ) -> None:
        self._polygon_start.extend(polygon_start[1:] + self._polygon_start.used[-1])
        self._ring_start.extend(ring_start[1:] + self._ring_start.used[-1])
        self._vertices.extend(vertices)

    def _check_space(self, other: RegionColumn) -> None:
        if other.space is not self.space:
            raise ValueError(
                f"regions of {other.space} cannot join regions of {self.space}; "
                "use one space for all"
            )


def _limits(space: Space) -> tuple[float, float]:
    """The largest coordinates, either way."""
    if space is Space.EARTH:
        return 180.0, 90.0
    return LARGEST_COORDINATE, LARGEST_COORDINATE


def _refuse_first_bad(good: NDArray[np.bool_], make: Callable[[int], Region]) -> None:
    """Let the object that the first bad row would be say what is wrong with it."""
    if not good.all():
        row = int(np.argmin(good))
        try:
            make(row)
        except ValueError as error:
            raise ValueError(f"row {row}: {error}") from None


def _ragged_rows(
    start: NDArray[np.int64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All items of the owners, one after the other, and where each owner's items then start."""
    first, length = start[owners], start[owners + 1] - start[owners]
    new_start = np.zeros(len(owners) + 1, np.int64)
    np.cumsum(length, out=new_start[1:])
    return np.arange(new_start[-1]) + np.repeat(first - new_start[:-1], length), new_start


def _earth_circle_bounds(
    lon: NDArray[np.float64], lat: NDArray[np.float64], radius: NDArray[np.float64]
) -> NDArray[np.float64]:
    """West, south, east, north; west > east across the antimeridian."""
    angle = np.minimum(np.degrees(radius / EARTH_RADIUS) + CIRCLE_MARGIN_DEGREES, 180.0)
    has_pole = np.abs(lat) + angle >= 90.0
    # The meridians that touch the circle: sin(half width) = sin(angle) / cos(lat).
    cosine = np.where(has_pole, 1.0, np.cos(np.radians(lat)))
    sine = np.where(has_pole, 1.0, np.sin(np.radians(angle)) / cosine)
    half_width = np.degrees(np.arcsin(np.minimum(sine, 1.0))) + CIRCLE_MARGIN_DEGREES
    west, east = lon - half_width, lon + half_width
    west = np.where(west < -180.0, west + 360.0, west)
    east = np.where(east > 180.0, east - 360.0, east)
    return np.column_stack(
        [
            np.where(has_pole, -180.0, west),
            np.maximum(lat - angle, -90.0),
            np.where(has_pole, 180.0, east),
            np.minimum(lat + angle, 90.0),
        ]
    )


def _plane_circle_bounds(
    x: NDArray[np.float64], y: NDArray[np.float64], radius: NDArray[np.float64]
) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        reach_x = radius + CIRCLE_MARGIN_RELATIVE * (radius + np.abs(x))
        reach_y = radius + CIRCLE_MARGIN_RELATIVE * (radius + np.abs(y))
        return np.column_stack([x - reach_x, y - reach_y, x + reach_x, y + reach_y])


def _outward_float32(bounds: NDArray[np.float64]) -> NDArray[np.float32]:
    """The nearest float32 rectangles that hold the given ones."""
    with np.errstate(over="ignore"):
        rounded = bounds.astype(np.float32)
        low, high = rounded[:, :2], rounded[:, 2:]
        low[:] = np.where(low > bounds[:, :2], np.nextafter(low, np.float32(-np.inf)), low)
        high[:] = np.where(high < bounds[:, 2:], np.nextafter(high, np.float32(np.inf)), high)
    return rounded
