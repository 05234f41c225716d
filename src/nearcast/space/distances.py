"""How far apart?  The reference formulas, in plain Python."""

from __future__ import annotations

from math import asin, atan2, cos, pi, sin, sqrt
from typing import TypeAlias

from nearcast.model.shapes import Point, Space

Rect: TypeAlias = tuple[float, float, float, float]
"""A planar rectangle: west <= east, south <= north."""

EARTH_RADIUS = 6371008.8
"""The mean radius of the Earth in metres."""

DEGREE = pi / 180.0


def distance(a: Point, b: Point) -> float:
    """Great-circle metres (haversine) on the Earth, Euclidean units in the plane.

    Exactly `2 R asin(min(1, sqrt(sin^2(dlat/2) + cos(lat a) cos(lat b) sin^2(dlon/2))))` in
    float64; symmetric.

    >>> round(distance(Point(2.3522, 48.8566), Point(-0.1276, 51.5072)))
    343530
    >>> distance(Point(0, 0, space=Space.PLANE), Point(3, 4, space=Space.PLANE))
    5.0
    """
    if a.space is not b.space:
        raise ValueError(f"no distance from {a} to {b}; use one space for both")
    if a.space is Space.PLANE:
        x, y = a.lon - b.lon, a.lat - b.lat
        return sqrt(x * x + y * y)
    return _haversine(a.lon, a.lat, b.lon, b.lat)


def distance_to_rect(point: Point, rect: Rect) -> float:
    """The distance to the nearest point of a rectangle in the same space, 0 inside.

    On the Earth that point is on the point's own meridian when the rectangle has it, else on the
    rectangle's west or east side: at a corner, or where a great circle meets the side squarely.

    >>> distance_to_rect(Point(3, 4, space=Space.PLANE), (-1.0, -1.0, 0.0, 0.0))
    5.0
    >>> distance_to_rect(Point(0, 0), (-1.0, 0.0, 1.0, 9.0))
    0.0
    """
    west, south, east, north = rect
    lon, lat = point.lon, point.lat
    level_lon, level_lat = min(max(lon, west), east), min(max(lat, south), north)
    if point.space is Space.PLANE:
        x, y = lon - level_lon, lat - level_lat
        return sqrt(x * x + y * y)
    if level_lon == lon:
        return _haversine(lon, lat, lon, level_lat)
    candidates = [(west, south), (west, north), (east, south), (east, north)]
    for side in (west, east):
        nearest = atan2(sin(lat * DEGREE), cos(lat * DEGREE) * cos((side - lon) * DEGREE)) / DEGREE
        if south < nearest < north:
            candidates.append((side, nearest))
    return min(_haversine(lon, lat, *candidate) for candidate in candidates)


def _haversine(lon: float, lat: float, other_lon: float, other_lat: float) -> float:
    up = sin((other_lat - lat) * DEGREE / 2.0)
    along = sin((other_lon - lon) * DEGREE / 2.0)
    square = up * up + cos(lat * DEGREE) * cos(other_lat * DEGREE) * (along * along)
    return 2.0 * EARTH_RADIUS * asin(min(1.0, sqrt(square)))
