"""Is a place in a region?  The naive truth, in plain Python; the kernels are tested against it."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product

from nearcast.model.shapes import Box, Circle, Place, Point, Polygon, Region, Ring, Space, Vertex
from nearcast.space.distances import Rect, distance_to_rect


def place_rects(place: Place) -> list[Rect]:
    """The place as planar rectangles: west <= east, south <= north, none inside another.

    Usually just one. A box across the antimeridian is two. Longitudes 180 and -180 are the same
    meridian, so a place that touches one also lies at the other; a pole is one point, so a place
    that touches it lies at every longitude.

    >>> place_rects(Point(2, 3))
    [(2.0, 3.0, 2.0, 3.0)]
    >>> place_rects(Box(170, 0, -170, 1))
    [(170.0, 0.0, 180.0, 1.0), (-180.0, 0.0, -170.0, 1.0)]
    >>> place_rects(Point(180, 5))
    [(180.0, 5.0, 180.0, 5.0), (-180.0, 5.0, -180.0, 5.0)]
    >>> place_rects(Point(7, 90))
    [(-180.0, 90.0, 180.0, 90.0)]
    """
    if isinstance(place, Point):
        rects = [(place.lon, place.lat, place.lon, place.lat)]
    else:
        rects = _box_rects(place)
    if place.space is Space.PLANE:
        return rects
    south, north = rects[0][1], rects[0][3]
    if any(east == 180.0 for _, _, east, _ in rects):
        rects.append((-180.0, south, -180.0, north))
    if any(west == -180.0 for west, _, _, _ in rects):
        rects.append((180.0, south, 180.0, north))
    for pole in (-90.0, 90.0):
        if pole in (south, north):
            rects.append((-180.0, pole, 180.0, pole))
    return _without_covered(rects)


# A naive reference asks for the same few pairs again and again.
@lru_cache(maxsize=1 << 14)
def is_in(place: Place, region: Region | None) -> bool:
    """Is the point in the closed region, or does the box meet it?  None is everywhere.

    Boxes and polygons are decided exactly, circles by `distance_to_rect` in float64.

    >>> is_in(Point(1, 1), Polygon([[(0, 0), (2, 2), (2, 0)]]))
    True
    >>> is_in(Point(-179, 0), Circle(Point(179, 0), 250_000))
    True
    >>> is_in(Box(0, 0, 1, 1), Box(1, 1, 2, 2))
    True
    """
    if region is None:
        return True
    if place.space is not region.space:
        raise ValueError(f"{place} and {region} are of different spaces; use one space for both")
    return any(_rect_meets(rect, region) for rect in place_rects(place))


def _box_rects(box: Box) -> list[Rect]:
    if box.west > box.east:
        return [(box.west, box.south, 180.0, box.north), (-180.0, box.south, box.east, box.north)]
    return [(box.west, box.south, box.east, box.north)]


def _without_covered(rects: list[Rect]) -> list[Rect]:
    distinct = list(dict.fromkeys(rects))
    return [
        rect
        for rect in distinct
        if not any(other != rect and _covers(other, rect) for other in distinct)
    ]


def _covers(outer: Rect, inner: Rect) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and outer[2] >= inner[2]
        and outer[3] >= inner[3]
    )


def _rect_meets(rect: Rect, region: Region) -> bool:
    if isinstance(region, Box):
        return any(_overlap(rect, other) for other in _box_rects(region))
    if isinstance(region, Circle):
        return distance_to_rect(region.centre, rect) <= region.radius
    return _polygon_meets(rect, region)


def _overlap(a: Rect, b: Rect) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


# ---------------------------------------------------------------- polygons


def _polygon_meets(rect: Rect, polygon: Polygon) -> bool:
    """An edge meets a side, a vertex is in the rectangle, or a corner is in the polygon."""
    west, south, east, north = rect
    corners: Ring = ((west, south), (east, south), (east, north), (west, north))
    edges = [edge for ring in polygon.rings for edge in _edges(ring)]
    return (
        any(_overlap(rect, (*start, *start)) for start, _ in edges)
        or any(_segments_meet(edge, side) for edge, side in product(edges, _edges(corners)))
        or _is_inside(corners[0], edges)
    )


def _edges(ring: Ring) -> list[tuple[Vertex, Vertex]]:
    return list(zip(ring, ring[1:] + ring[:1], strict=True))


def _segments_meet(one: tuple[Vertex, Vertex], other: tuple[Vertex, Vertex]) -> bool:
    return (
        _overlap(_bounds(*one), _bounds(*other))
        and _side(*one, other[0]) * _side(*one, other[1]) <= 0
        and _side(*other, one[0]) * _side(*other, one[1]) <= 0
    )


def _bounds(a: Vertex, b: Vertex) -> Rect:
    return (min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))


def _side(a: Vertex, b: Vertex, p: Vertex) -> Fraction:
    """Positive when p is left of the line from a to b, negative when right, 0 when on it."""
    ax, ay, bx, by, px, py = map(Fraction, (*a, *b, *p))
    return (bx - ax) * (py - ay) - (by - ay) * (px - ax)


def _is_inside(p: Vertex, edges: list[tuple[Vertex, Vertex]]) -> bool:
    """Is an odd number of edges to the right of p, which is on none of them?"""
    x, y = map(Fraction, p)
    crossings = 0
    for a, b in edges:
        if (a[1] > p[1]) != (b[1] > p[1]):
            ax, ay, bx, by = map(Fraction, (*a, *b))
            crossings += ax + (y - ay) * (bx - ax) / (by - ay) > x
    return crossings % 2 == 1
