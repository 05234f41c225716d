"""Where a cell is, and what documents count in it, far or near.  The arrays: see `_cells`."""

import math

import numpy as np
from numba import njit

from nearcast.inner import inner, leaf
from nearcast.space import EARTH_RADIUS
from nearcast.trending._nearby.places import (
    LONG_WAY,
    curvature_of,
    distance,
    short_way,
    spot,
    way,
)
from nearcast.trending.term_fields._cells import (
    AT_X,
    AT_Y,
    AT_Z,
    FIRST_COLUMN,
    LAT,
    LON,
    REACH,
    WIDTH,
    U,
    V,
    X,
    Y,
    Z,
)

ROUNDING = 1e-9  # of distances in a cell
TOO_WIDE = 0.02 * EARTH_RADIUS  # a larger cell is no plane any more
TOO_FAR = 2.5 * EARTH_RADIUS  # behind, distances bend the other way


@inner
def place_middle(cells, c, rules):
    """Middle, directions and reach of a cell, from its columns.  O(columns)."""
    head, frame = cells.head[c], cells.frame[c]
    first, width = head[FIRST_COLUMN], head[WIDTH]
    low = np.full(3, np.inf)
    high = np.full(3, -np.inf)
    for j in range(first, first + width):
        x, y, z = spot(cells.at[j, LON], cells.at[j, LAT], rules.on_earth)
        low[0], low[1], low[2] = min(low[0], x), min(low[1], y), min(low[2], z)
        high[0], high[1], high[2] = max(high[0], x), max(high[1], y), max(high[2], z)
    x, y, z = (low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0, (low[2] + high[2]) / 2.0
    frame[U : V + 3] = 0.0
    frame[U], frame[V + 1] = 1.0, 1.0
    if rules.on_earth:
        up = math.sqrt(x * x + y * y + z * z)
        if up < 1.0:  # all around the Earth: any middle will do
            x, y, z = spot(cells.at[first, LON], cells.at[first, LAT], rules.on_earth)
            up = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / up, y / up, z / up
        # East, or any direction at the poles, and north of it.
        level = math.sqrt(x * x + y * y)
        ex, ey = (-y / level, x / level) if level > 1e-9 else (1.0, 0.0)
        frame[U], frame[U + 1], frame[U + 2] = ex, ey, 0.0
        frame[V], frame[V + 1], frame[V + 2] = -z * ey, z * ex, x * ey - y * ex
        x, y, z = x * EARTH_RADIUS, y * EARTH_RADIUS, z * EARTH_RADIUS
    frame[X], frame[Y], frame[Z] = x, y, z
    farthest = 0.0
    for j in range(first, first + width):
        farthest = max(farthest, place_column(cells, frame, j, rules))
    frame[REACH] = (1.0 + ROUNDING) * farthest


@leaf
def seen_from(frame, x, y, z, on_earth):
    """How far a spot is from the middle, and in which direction."""
    dx, dy, dz = x - frame[X], y - frame[Y], z - frame[Z]
    far = way(dx, dy, dz, on_earth)
    u = dx * frame[U] + dy * frame[U + 1] + dz * frame[U + 2]
    v = dx * frame[V] + dy * frame[V + 1] + dz * frame[V + 2]
    length = math.sqrt(u * u + v * v)
    if length > 0.0:
        return far, u / length, v / length
    return far, 1.0, 0.0


@leaf
def place_column(cells, frame, j, rules):
    """Where column j of all is, seen from the middle: how far off."""
    at = cells.at[j]
    x, y, z = spot(at[LON], at[LAT], rules.on_earth)
    far, u, v = seen_from(frame, x, y, z, rules.on_earth)
    cells.along[j], cells.across[j] = far * u, far * v
    at[AT_X], at[AT_Y], at[AT_Z] = x, y, z
    return far


@leaf
def column_distance(cells, j, lon, lat, x, y, z, rules):
    """From column j of all to a document: exact where there are no fields, else off by 1e-6."""
    if rules.field_error > 0.0:
        return way(
            cells.at[j, AT_X] - x, cells.at[j, AT_Y] - y, cells.at[j, AT_Z] - z, rules.on_earth
        )
    return distance(cells.at[j, LON], cells.at[j, LAT], lon, lat, rules.on_earth)


@njit(cache=True, nogil=True, error_model="numpy")
def closeness(at, x, y, z, a, curvature, own):
    """What a document of weight 1 counts at each of some columns.  Several at a time.

    `curvature` as in `short_way`; nobody is a LONG_WAY off.
    """
    for j in range(len(at)):
        dx, dy, dz = at[j, AT_X] - x, at[j, AT_Y] - y, at[j, AT_Z] - z
        own[j] = 1.0 / (a + short_way(math.sqrt(dx * dx + dy * dy + dz * dz), curvature))


@leaf
def near_columns(cells, c, lon, lat, x, y, z, far, rules, own):
    """What a document of weight 1 counts at each column of a cell, whose middle is `far` off."""
    first, width = cells.head[c, FIRST_COLUMN], cells.head[c, WIDTH]
    is_short = not rules.on_earth or far + cells.frame[c, REACH] < LONG_WAY
    if rules.field_error > 0.0 and is_short:
        at = cells.at[first : first + width]
        closeness(at, x, y, z, rules.a, curvature_of(rules.on_earth), own)
        return
    for j in range(width):
        own[j] = 1.0 / (rules.a + column_distance(cells, first + j, lon, lat, x, y, z, rules))


@leaf
def has_fields(reach, rules):
    """May a cell of this reach have documents in its fields?"""
    return rules.field_error > 0.0 and not (rules.on_earth and reach > TOO_WIDE)


@leaf
def is_far(far, reach, rules):
    """Is the field good enough for a document so far from the middle?"""
    if not has_fields(reach, rules) or (rules.on_earth and far > TOO_FAR):
        return False
    return is_smooth(far, reach, rules.a, rules.field_error)


@leaf
def is_smooth(far, reach, a, field_error):
    """Does the field of a plane leave out so little, of a document so far from the middle?

    What the field leaves out begins with the third power of the distance to the middle, whose
    factor is at most that of `1 / (a + distance)` at the nearest place of the cell. No branch and
    no division.
    """
    near = far - reach
    most = a + near
    worst = reach * reach * reach * (near * near + near * most + 0.5 * most * most)
    allowed = field_error * most * most * most * most * near * near
    return (near > 0.0) & (worst * (a + far + reach) <= allowed)


@leaf
def short_turn(turn, angle):
    """What it would be in a plane, on the Earth: the series of the cotangent of a small angle."""
    q = angle * angle
    return turn * (1.0 - q * (1.0 / 3.0 + q * (1.0 / 45.0 + q * (2.0 / 945.0))))


@leaf
def far_field(far, u, v, rules):
    """The six coefficients of a document of weight 1."""
    value = 1.0 / (rules.a + far)
    slope = value * value
    if rules.on_earth:
        angle = far / EARTH_RADIUS
        if angle > 1.0:
            turn = slope * math.cos(angle) / (math.sin(angle) * EARTH_RADIUS)
        else:
            turn = short_turn(slope / far, angle)
    else:
        turn = slope / far
    return coefficients(value, turn, u, v)


@leaf
def coefficients(value, turn, u, v):
    """Those of a field that has this value in the middle, and turns so much with the direction."""
    slope = value * value
    bend = 2.0 * slope * value
    return (
        value,
        slope * u,
        slope * v,
        0.5 * (bend * u * u - turn * v * v),
        (bend + turn) * u * v,
        0.5 * (bend * v * v - turn * u * u),
    )
