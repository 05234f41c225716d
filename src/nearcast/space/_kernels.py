"""Does a region of a RegionColumn meet a place?  Compiled twins of `membership.py`.

kind           uint8[n]       what region i is: EVERYWHERE, BOX, CIRCLE or POLYGON
shape          float64[n, 4]  box: west, south, east, north (west > east crosses the antimeridian)
                              circle: lon, lat, radius, 0        polygon: its number, 0, 0, 0
polygon_start  int64[p+1]     polygon p owns rings polygon_start[p]:polygon_start[p+1]
ring_start     int64[r+1]     ring r owns vertices[ring_start[r]:ring_start[r+1]], not closed
vertices       float64[v, 2]  lon, lat
rects          float64[m, 4]  places as planar rectangles: west <= east, south <= north

Distances repeat the formulas of `distances.py` operation by operation, so that both decide a
border alike. Nothing here allocates; so functions that take arrays are compiled without reference
counting (`_nrt=False`), whose atomic increments would cost more than the test of a box, and
`region_meets` melts into the loop that calls it (`forceinline`).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner

EVERYWHERE, BOX, CIRCLE, POLYGON = 0, 1, 2, 3

EARTH_RADIUS = 6371008.8
DEGREE = math.pi / 180.0

# The rounding error of a 2x2 determinant of differences, relative to the sum of its two products
# (Shewchuk 1997, stage A).
DETERMINANT_ERROR = (3.0 + 16.0 * 2.0**-53) * 2.0**-53
SPLITTER = 2.0**27 + 1.0

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


@njit(cache=True, nogil=True, _nrt=False, forceinline=True)
def region_meets(
    kind: NDArray[np.uint8],
    shape: Floats,
    ring_start: Integers,
    polygon_start: Integers,
    vertices: Floats,
    row: int,
    is_earth: bool,
    rects: Floats,
    first: int,
    last: int,
) -> bool:
    """Does region `row` meet any of rects[first:last]?  O(rects), times vertices for a polygon."""
    what = kind[row]
    if what == EVERYWHERE:
        return True
    for i in range(first, last):
        west, south, east, north = rects[i, 0], rects[i, 1], rects[i, 2], rects[i, 3]
        if what == BOX:
            meets = box_meets(
                shape[row, 0], shape[row, 1], shape[row, 2], shape[row, 3], west, south, east, north
            )
        elif what == CIRCLE:
            meets = circle_meets(
                shape[row, 0], shape[row, 1], shape[row, 2], is_earth, west, south, east, north
            )
        else:
            polygon = int(shape[row, 0])
            meets = polygon_meets(
                ring_start,
                polygon_start[polygon],
                polygon_start[polygon + 1],
                vertices,
                west,
                south,
                east,
                north,
            )
        if meets:
            return True
    return False


@inner
def box_meets(
    box_west: float,
    box_south: float,
    box_east: float,
    box_north: float,
    west: float,
    south: float,
    east: float,
    north: float,
) -> bool:
    """Does the box, maybe across the antimeridian, meet the rectangle?  O(1)."""
    left = west <= box_east
    right = east >= box_west
    # Across the antimeridian the box is [box_west, 180] and [-180, box_east]: either will do.
    across = (left & right) | ((box_west > box_east) & (left | right))
    return across & (south <= box_north) & (north >= box_south)


# ---------------------------------------------------------------- circles


@inner
def circle_meets(
    lon: float,
    lat: float,
    radius: float,
    is_earth: bool,
    west: float,
    south: float,
    east: float,
    north: float,
) -> bool:
    """Is the rectangle's nearest point within `radius` of (lon, lat)?  O(1)."""
    return distance_to_rect(lon, lat, is_earth, west, south, east, north) <= radius


@inner
def distance_to_rect(
    lon: float, lat: float, is_earth: bool, west: float, south: float, east: float, north: float
) -> float:
    """From (lon, lat) to the rectangle's nearest point.  O(1)."""
    if not is_earth:
        x = lon - min(max(lon, west), east)
        y = lat - min(max(lat, south), north)
        return math.sqrt(x * x + y * y)
    if west <= lon <= east:
        return haversine(lon, lat, lon, min(max(lat, south), north))
    if west == east and south == north:
        return haversine(lon, lat, west, south)
    return min(
        distance_to_meridian(lon, lat, west, south, north),
        distance_to_meridian(lon, lat, east, south, north),
    )


@inner
def distance_to_meridian(lon: float, lat: float, edge: float, south: float, north: float) -> float:
    """From (lon, lat) to the nearest point of the meridian `edge` from `south` to `north`."""
    to_ends = min(haversine(lon, lat, edge, south), haversine(lon, lat, edge, north))
    nearest = (
        math.atan2(math.sin(lat * DEGREE), math.cos(lat * DEGREE) * math.cos((edge - lon) * DEGREE))
        / DEGREE
    )
    if south < nearest < north:
        return min(to_ends, haversine(lon, lat, edge, nearest))
    return to_ends


@njit(cache=True, nogil=True)
def haversine(lon: float, lat: float, other_lon: float, other_lat: float) -> float:
    """Great-circle metres between two points given in degrees.  O(1)."""
    # 2 R asin(sqrt(sin^2(dlat / 2) + cos(lat) cos(other_lat) sin^2(dlon / 2)))
    up = math.sin((other_lat - lat) * DEGREE / 2.0)
    along = math.sin((other_lon - lon) * DEGREE / 2.0)
    square = up * up + math.cos(lat * DEGREE) * math.cos(other_lat * DEGREE) * (along * along)
    return 2.0 * EARTH_RADIUS * math.asin(min(1.0, math.sqrt(square)))


# ---------------------------------------------------------------- polygons


@njit(cache=True, nogil=True, _nrt=False)
def polygon_meets(
    ring_start: Integers,
    first_ring: int,
    last_ring: int,
    vertices: Floats,
    west: float,
    south: float,
    east: float,
    north: float,
) -> bool:
    """Does the polygon meet the rectangle?  Exact, border included.  O(vertices).

    Either an edge meets the rectangle, or the rectangle is wholly inside or outside: then the
    number of edges to the right of its south-west corner tells which.
    """
    inside = False
    for ring in range(first_ring, last_ring):
        end = ring_start[ring + 1]
        ax, ay = vertices[end - 1, 0], vertices[end - 1, 1]
        for vertex in range(ring_start[ring], end):
            bx, by = vertices[vertex, 0], vertices[vertex, 1]
            if max(ay, by) >= south and min(ay, by) <= north and max(ax, bx) >= west:
                if min(ax, bx) <= east and line_meets(ax, ay, bx, by, west, south, east, north):
                    return True
                if (ay > south) != (by > south):
                    inside ^= (orientation(ax, ay, bx, by, west, south) > 0) == (by > ay)
            ax, ay = bx, by
    return inside


@inner
def line_meets(
    ax: float,
    ay: float,
    bx: float,
    by: float,
    west: float,
    south: float,
    east: float,
    north: float,
) -> bool:
    """Does the line through a and b meet the rectangle?  Exact.  O(1).

    Only the two corners that lie farthest to its left and right can be on opposite sides. A segment
    whose bounds overlap the rectangle meets it when its line does (separating axes).
    """
    if (bx > ax) == (by > ay):
        left, right = north, south
    else:
        left, right = south, north
    return orientation(ax, ay, bx, by, west, left) * orientation(ax, ay, bx, by, east, right) <= 0


@njit(cache=True, nogil=True)
def orientation(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """1 when p is left of the line from a to b, -1 when right, 0 when on it.  Exact.  O(1)."""
    gain = (bx - ax) * (py - ay)
    loss = (by - ay) * (px - ax)
    determinant = gain - loss
    size = abs(gain) + abs(loss)
    # size == 0: each product has a factor that is exactly 0, for no product underflows.
    if abs(determinant) > DETERMINANT_ERROR * size or size == 0.0:
        return (determinant > 0.0) - (determinant < 0.0)
    return exact_orientation(ax, ay, bx, by, px, py)


@njit(cache=True, nogil=True)
def exact_orientation(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """`orientation` without rounding: the six products of the determinant, summed exactly."""
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for one, other in (
        (ax, by),
        (-ay, bx),
        (bx, py),
        (-by, px),
        (px, ay),
        (-py, ax),
    ):
        product, error = two_product(one, other)
        total = grow(grow(total, error), product)
    # The components do not overlap and grow in size, so the last one that is not 0 has the sign.
    sign = 0
    for part in total:
        if part != 0.0:
            sign = 1 if part > 0.0 else -1
    return sign


@inner
def grow(total: tuple[float, ...], carry: float) -> tuple[float, ...]:
    """Add one number exactly to an expansion of 12 components (Shewchuk's grow-expansion).

    After k additions only the last k components may differ from 0; so total[0] is still 0 before
    the twelfth, and the shift by one place drops nothing.
    """
    carry, e1 = two_sum(carry, total[1])
    carry, e2 = two_sum(carry, total[2])
    carry, e3 = two_sum(carry, total[3])
    carry, e4 = two_sum(carry, total[4])
    carry, e5 = two_sum(carry, total[5])
    carry, e6 = two_sum(carry, total[6])
    carry, e7 = two_sum(carry, total[7])
    carry, e8 = two_sum(carry, total[8])
    carry, e9 = two_sum(carry, total[9])
    carry, e10 = two_sum(carry, total[10])
    carry, e11 = two_sum(carry, total[11])
    return (e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, carry)


@inner
def two_sum(a: float, b: float) -> tuple[float, float]:
    """The rounded a + b, and what rounding lost."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


@inner
def two_product(a: float, b: float) -> tuple[float, float]:
    """The rounded a * b, and what rounding lost (Dekker; needs no fused multiply-add)."""
    product = a * b
    a_high, a_low = split(a)
    b_high, b_low = split(b)
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, error


@inner
def split(a: float) -> tuple[float, float]:
    """The upper 26 bits of a, and the rest."""
    scaled = SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high
