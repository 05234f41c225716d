"""How far is a place from a rectangle of longitude and latitude, or of the plane, at the least?

A rectangle is turned into a box once: in the plane itself, on the Earth around that part of the
unit sphere. From there on a distance is three subtractions and a root. Distances are shares of the
longest distance, and never too long.
"""

import math

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.topk._flat.subscriptions import DEGREE

_ROUNDING = 2e-15  # of a coordinate on the unit sphere
_FARTHEST = 1e30  # a cell of a plane may have no border


@njit(cache=True, nogil=True)
def place_of(lon, lat, space):
    """A place in the coordinates of boxes."""
    if space.on_earth:
        level = math.cos(lat * DEGREE)
        return (
            level * math.cos(lon * DEGREE),
            level * math.sin(lon * DEGREE),
            math.sin(lat * DEGREE),
        )
    return lon, lat, 0.0


@inner
def _scaled(low, high, least, most):
    """The products of low..high with least..most, which are not negative."""
    return low * (most if low < 0.0 else least), high * (most if high > 0.0 else least)


@njit(cache=True, nogil=True)
def box_of(west, south, east, north, space, low, high):
    """Write the box of a rectangle to `low` and `high`, three coordinates each."""
    if not space.on_earth:
        low[0], low[1], low[2] = west, south, 0.0
        high[0], high[1], high[2] = east, north, 0.0
        return
    cos_south, cos_north = math.cos(south * DEGREE), math.cos(north * DEGREE)
    least = max(0.0, min(cos_south, cos_north))
    most = 1.0 if south <= 0.0 <= north else max(cos_south, cos_north)
    cos_west, cos_east = math.cos(west * DEGREE), math.cos(east * DEGREE)
    sin_west, sin_east = math.sin(west * DEGREE), math.sin(east * DEGREE)
    x_low = -1.0 if west <= -180.0 or east >= 180.0 else min(cos_west, cos_east)
    x_high = 1.0 if west <= 0.0 <= east else max(cos_west, cos_east)
    y_low = -1.0 if west <= -90.0 <= east else min(sin_west, sin_east)
    y_high = 1.0 if west <= 90.0 <= east else max(sin_west, sin_east)
    low[0], high[0] = _scaled(x_low, x_high, least, most)
    low[1], high[1] = _scaled(y_low, y_high, least, most)
    low[2], high[2] = math.sin(south * DEGREE), math.sin(north * DEGREE)
    for i in range(3):
        low[i] -= _ROUNDING
        high[i] += _ROUNDING


@inner
def outside(value, low, high):
    """How far a number is from a range."""
    return max(0.0, max(low - value, value - high))


@inner
def share_of(x, y, z, space):
    """The share of the longest distance that a way between two places is at the least."""
    line = math.sqrt(x * x + y * y + z * z)
    if not space.on_earth:
        return line / space.max_dist
    half = line / 2.0
    square = half * half
    # The first terms of the arcus sine, all of which are positive.
    return 2.0 * space.unit * half * (1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0)))


@njit(cache=True, nogil=True)
def ways_to_boxes(place, low, high, space, count):
    """From a place to each of the boxes, at the least.  O(count)."""
    x, y, z = place
    ways = np.empty(count)
    for c in range(count):
        ways[c] = share_of(
            outside(x, low[0, c], high[0, c]),
            outside(y, low[1, c], high[1, c]),
            outside(z, low[2, c], high[2, c]),
            space,
        )
    return ways


@njit(cache=True, nogil=True)
def way_to_border(lon, lat, west, south, east, north, space):
    """Definition 6: from a place within a rectangle to its border, at the least."""
    if not space.on_earth:
        way = min(min(lon - west, east - lon), min(lat - south, north - lat))
        return max(0.0, min(_FARTHEST, way / space.max_dist))
    # A meridian ends at the poles, which are as near as from 90 degrees of longitude away.
    aside = min(90.0, min(lon - west, east - lon)) * DEGREE
    along = math.asin(min(1.0, max(0.0, math.cos(lat * DEGREE) * math.sin(aside))))
    level = min(lat - south, north - lat) * DEGREE
    return max(0.0, space.unit * (min(along, level) - _ROUNDING))
