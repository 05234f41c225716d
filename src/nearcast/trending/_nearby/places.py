"""Where is something, and how far is that?

A *spot* is a place in space: on the Earth a point of the sphere, in metres from its centre; in the
plane (x, y, 0). The straight line between two spots is never longer than the way between them.
"""

import math
from typing import NamedTuple

from nearcast.inner import leaf
from nearcast.space import EARTH_RADIUS
from nearcast.space._kernels import haversine

DEGREE = math.pi / 180.0
LONG_ANGLE = 0.8
LONG_WAY = LONG_ANGLE * EARTH_RADIUS
LONGEST_ON_EARTH = math.pi * EARTH_RADIUS


class Rules(NamedTuple):
    """What kernels are told about scores.

    - `a`: as in `NearbyIndex`
    - `field_error`: what the field of a cell may be off by, relatively; 0 for no fields
    - `patience`: a list is kept until a term has this share more than one above it; below 0 for
      lists that are always in the exact order
    - `forget`: the share of a term's weight that may be forgotten
    """

    on_earth: bool
    a: float
    field_error: float
    patience: float
    forget: float


@leaf
def spot(lon, lat, on_earth):
    """The place in space."""
    if not on_earth:
        return lon, lat, 0.0
    level = EARTH_RADIUS * math.cos(lat * DEGREE)
    return (
        level * math.cos(lon * DEGREE),
        level * math.sin(lon * DEGREE),
        EARTH_RADIUS * math.sin(lat * DEGREE),
    )


@leaf
def distance(lon, lat, other_lon, other_lat, on_earth):
    """As the definition has it, operation by operation."""
    if on_earth:
        return haversine(lon, lat, other_lon, other_lat)
    x, y = lon - other_lon, lat - other_lat
    return math.sqrt(x * x + y * y)


@leaf
def way(dx, dy, dz, on_earth):
    """The distance of two spots from their difference; off by a millionth at the most."""
    straight = math.sqrt(dx * dx + dy * dy + dz * dz)
    if not on_earth:
        return straight
    if straight > LONG_WAY:
        return 2.0 * EARTH_RADIUS * math.asin(min(1.0, straight / (2.0 * EARTH_RADIUS)))
    return short_way(straight, 1.0 / EARTH_RADIUS)


@leaf
def short_way(straight, curvature):
    """The distance of two spots that are no LONG_WAY apart, from the straight line between them.

    `curvature` is that of the Earth, 0 of a plane. No branch and no division keeps a loop from
    doing several at a time. The series of the arc sine; what is left out is below 1e-6 of it.
    """
    sine = 0.5 * straight * curvature
    q = sine * sine
    more = q * (
        1.0 / 6.0 + q * (3.0 / 40.0 + q * (15.0 / 336.0 + q * (105.0 / 3456.0 + q * 0.0224)))
    )
    return straight * (1.0 + more)


@leaf
def curvature_of(on_earth):
    """As `short_way` wants it."""
    return 1.0 / EARTH_RADIUS if on_earth else 0.0
