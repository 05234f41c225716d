"""Points and regions: where a message is, and where a subscription listens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from nearcast.model._checks import finite_number

Vertex: TypeAlias = tuple[float, float]
Ring: TypeAlias = tuple[Vertex, ...]

# Polygon borders are decided by exact products of coordinates. Between these magnitudes no such
# product can overflow or underflow, so "exact" needs no exceptions.
LARGEST_COORDINATE = 1e60
SMALLEST_COORDINATE = 1e-60


class Space(Enum):
    """What coordinates mean: degrees on the Earth, or any unit in a Euclidean plane.

    >>> Space.PLANE
    Space.PLANE
    """

    EARTH = "earth"
    PLANE = "plane"

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Point:
    """A place without size: longitude and latitude in degrees, or x and y in the plane.

    Longitudes live in [-180, 180], latitudes in [-90, 90]; plane coordinates within +-1e60.
    Magnitudes below 1e-60 are stored as 0.

    >>> Point(2.35, 48.86)
    Point(lon=2.35, lat=48.86, space=Space.EARTH)
    >>> Point(48.86, 95.2)
    Traceback (most recent call last):
    ValueError: latitude 95.2 is outside [-90, 90]; did you swap longitude and latitude?
    """

    lon: float
    lat: float
    space: Space = field(default=Space.EARTH, kw_only=True)

    def __post_init__(self) -> None:
        _check_space(self.space)
        object.__setattr__(self, "lon", _longitude(self.lon, self.space))
        object.__setattr__(self, "lat", _latitude(self.lat, self.space))


@dataclass(frozen=True, slots=True)
class Box:
    """A closed rectangle; on the Earth, `west > east` means that it crosses the antimeridian.

    >>> Box(170, -20, -170, -10).west
    170.0
    >>> Box(3, 0, 1, 1, space=Space.PLANE)
    Traceback (most recent call last):
    ValueError: box west 3.0 is beyond east 1.0; in the plane west must be <= east, swap them
    """

    west: float
    south: float
    east: float
    north: float
    space: Space = field(default=Space.EARTH, kw_only=True)

    def __post_init__(self) -> None:
        _check_space(self.space)
        for name in ("west", "east"):
            object.__setattr__(self, name, _longitude(getattr(self, name), self.space))
        for name in ("south", "north"):
            object.__setattr__(self, name, _latitude(getattr(self, name), self.space))
        if self.south > self.north:
            raise ValueError(
                f"box south {self.south} is beyond north {self.north}; "
                "south must be <= north, swap them"
            )
        if self.space is Space.PLANE and self.west > self.east:
            raise ValueError(
                f"box west {self.west} is beyond east {self.east}; "
                "in the plane west must be <= east, swap them"
            )


@dataclass(frozen=True, slots=True)
class Circle:
    """All places within `radius` of `centre`, border included.

    The radius is in metres along the great circle, or in units of the plane. A circle on the Earth
    may contain a pole or cross the antimeridian.

    >>> Circle(Point(2.35, 48.86), 500).radius
    500.0
    >>> Circle(Point(0, 0), -1)
    Traceback (most recent call last):
    ValueError: radius -1.0 is negative; a circle needs a finite radius >= 0
    """

    centre: Point
    radius: float

    def __post_init__(self) -> None:
        if not isinstance(self.centre, Point):
            raise TypeError(f"circle centre {self.centre!r} is not a Point; give Point(lon, lat)")
        radius = finite_number(self.radius, "radius")
        if radius < 0:
            raise ValueError(f"radius {radius} is negative; a circle needs a finite radius >= 0")
        object.__setattr__(self, "radius", radius)

    @property
    def space(self) -> Space:
        """The space of the centre."""
        return self.centre.space


@dataclass(frozen=True, slots=True, init=False)
class Polygon:
    """A GeoJSON polygon: straight edges in longitude and latitude, border included.

    The first ring is the outer one, the others are holes (even-odd rule over all rings). Vertices
    are `(lon, lat)` pairs or Points; a closing vertex equal to the first one is dropped. A polygon
    never crosses the antimeridian: its edges run straight across the map.

    >>> Polygon([[(0, 0), (4, 0), (0, 3), (0, 0)]]).rings
    (((0.0, 0.0), (4.0, 0.0), (0.0, 3.0)),)
    >>> Polygon([[(0, 0), (1, 1), (2, 2)]])
    Traceback (most recent call last):
    ValueError: polygon ring 0 has no area; give at least 3 vertices that are not on one line
    """

    rings: tuple[Ring, ...]
    space: Space = field(default=Space.EARTH, kw_only=True)

    def __init__(
        self,
        rings: Iterable[Iterable[Point | Sequence[float]]],
        *,
        space: Space = Space.EARTH,
    ) -> None:
        _check_space(space)
        checked = tuple(_ring(number, ring, space) for number, ring in enumerate(rings))
        if not checked:
            raise ValueError("polygon has no rings; give at least the outer one")
        object.__setattr__(self, "rings", checked)
        object.__setattr__(self, "space", space)


Region: TypeAlias = Box | Circle | Polygon
Place: TypeAlias = Point | Box


def _check_space(space: object) -> None:
    if not isinstance(space, Space):
        raise TypeError(f"space {space!r} is not a Space; give Space.EARTH or Space.PLANE")


def _longitude(value: object, space: Space) -> float:
    if space is Space.PLANE:
        return _plane_coordinate(value, "x")
    number = finite_number(value, "longitude")
    if not -180.0 <= number <= 180.0:
        raise ValueError(
            f"longitude {number} is outside [-180, 180]; add or subtract 360, "
            "or give space=Space.PLANE for plane coordinates"
        )
    return _without_tiny(number)


def _latitude(value: object, space: Space) -> float:
    if space is Space.PLANE:
        return _plane_coordinate(value, "y")
    number = finite_number(value, "latitude")
    if not -90.0 <= number <= 90.0:
        raise ValueError(
            f"latitude {number} is outside [-90, 90]; did you swap longitude and latitude?"
        )
    return _without_tiny(number)


def _plane_coordinate(value: object, name: str) -> float:
    number = finite_number(value, name)
    if abs(number) > LARGEST_COORDINATE:
        raise ValueError(f"{name} {number} is outside [-1e60, 1e60]; use a larger unit")
    return _without_tiny(number)


def _without_tiny(number: float) -> float:
    return number if abs(number) >= SMALLEST_COORDINATE else 0.0


def _ring(number: int, ring: Iterable[Point | Sequence[float]], space: Space) -> Ring:
    vertices = [_vertex(vertex, space) for vertex in ring]
    if len(vertices) > 1 and vertices[0] == vertices[-1]:
        vertices.pop()
    if not _has_area(vertices):
        raise ValueError(
            f"polygon ring {number} has no area; give at least 3 vertices that are not on one line"
        )
    return tuple(vertices)


def _vertex(vertex: Point | Sequence[float], space: Space) -> Vertex:
    if isinstance(vertex, Point):
        if vertex.space is not space:
            raise ValueError(f"polygon of {space} has a vertex {vertex}; use one space for all")
        return (vertex.lon, vertex.lat)
    try:
        lon, lat = vertex
    except (TypeError, ValueError):
        raise ValueError(
            f"polygon vertex {vertex!r} is not a pair; give (lon, lat) or a Point"
        ) from None
    return (_longitude(lon, space), _latitude(lat, space))


def _has_area(vertices: list[Vertex]) -> bool:
    """Are there three vertices off one line?  Exact, because a rounded zero would lie."""
    first = vertices[0] if vertices else (0.0, 0.0)
    second = next((vertex for vertex in vertices if vertex != first), first)
    x, y = Fraction(first[0]), Fraction(first[1])
    along_x, along_y = Fraction(second[0]) - x, Fraction(second[1]) - y
    return any(
        along_x * (Fraction(lat) - y) != along_y * (Fraction(lon) - x) for lon, lat in vertices
    )
