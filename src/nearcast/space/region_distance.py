"""How far is a place from a region?  For explanations, not for decisions."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, radians

from nearcast.model.shapes import Box, Circle, Place, Point, Polygon, Region, Space, Vertex
from nearcast.space.distances import Rect, distance, distance_to_rect
from nearcast.space.membership import is_in, place_rects


def distance_to_region(place: Place, region: Region | None) -> float:
    """The distance from a place to the nearest point of a region; 0 when the place is in it.

    Metres on the Earth, units in the plane. Exact up to rounding, but for polygons on the Earth:
    there the nearest point of each edge is sought on a local flat map, and the distance to it may
    be larger than the true one, noticeably so for long edges far away.

    >>> distance_to_region(Point(5, 0, space=Space.PLANE), Box(0, 0, 2, 2, space=Space.PLANE))
    3.0
    >>> round(distance_to_region(Point(0, 1), Circle(Point(0, 0), 100_000)))
    11195
    >>> distance_to_region(Point(0, 1), None)
    0.0
    """
    if region is None or is_in(place, region):
        return 0.0
    rects = place_rects(place)
    if isinstance(region, Circle):
        return min(distance_to_rect(region.centre, rect) for rect in rects) - region.radius
    if isinstance(region, Box):
        return min(
            _distance_between(rect, other, region.space)
            for rect in rects
            for other in place_rects(region)
        )
    return min(_distance_to_polygon(rect, region) for rect in rects)


def _corners(rect: Rect, space: Space) -> list[Point]:
    west, south, east, north = rect
    return [Point(lon, lat, space=space) for lon in (west, east) for lat in (south, north)]


def _distance_between(one: Rect, other: Rect, space: Space) -> float:
    """Of two rectangles apart, a corner of one is among the nearest points."""
    return min(
        *(distance_to_rect(corner, other) for corner in _corners(one, space)),
        *(distance_to_rect(corner, one) for corner in _corners(other, space)),
    )


def _distance_to_polygon(rect: Rect, polygon: Polygon) -> float:
    """Either a vertex of the polygon or a corner of the rectangle is among the nearest points."""
    space = polygon.space
    nearest = float("inf")
    for ring in polygon.rings:
        for a, b in zip(ring, ring[1:] + ring[:1], strict=True):
            nearest = min(nearest, distance_to_rect(Point(*a, space=space), rect))
            for corner in _corners(rect, space):
                for point in _nearest_on_edge(corner, a, b):
                    nearest = min(nearest, distance(corner, point))
    return nearest


def _nearest_on_edge(point: Point, a: Vertex, b: Vertex) -> Iterator[Point]:
    """The nearest point of the edge on a flat map around `point`, once per way round the Earth."""
    on_earth = point.space is Space.EARTH
    stretch = cos(radians(point.lat)) if on_earth else 1.0
    for turn in (-360.0, 0.0, 360.0) if on_earth else (0.0,):
        along_x, along_y = (b[0] - a[0]) * stretch, b[1] - a[1]
        x, y = (point.lon + turn - a[0]) * stretch, point.lat - a[1]
        length = along_x * along_x + along_y * along_y
        share = (x * along_x + y * along_y) / length if length else 0.0
        share = min(max(share, 0.0), 1.0)
        yield Point(_between(a[0], b[0], share), _between(a[1], b[1], share), space=point.space)


def _between(start: float, end: float, share: float) -> float:
    """Start + share of the way to end; rounding must not push it past either."""
    return min(max(start + share * (end - start), min(start, end)), max(start, end))
