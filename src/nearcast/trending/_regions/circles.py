"""Is a point in a circle on the Earth? Most are told without trigonometry."""

import math

import numpy as np

from nearcast.inner import melting
from nearcast.space._kernels import CIRCLE, DEGREE, EARTH_RADIUS

INSIDE, OUTSIDE, UNSURE = 1, 0, -1
_METRES = DEGREE * EARTH_RADIUS  # of a degree
_LARGEST, _HIGHEST = 50_000.0, 75.0
_SURELY_IN, _SURELY_OUT = 0.8, 1.25
"""Shares of the square of the radius. On a map that is true at a point, up to 75 degrees north or
south, squares of distances within 100 km of it are off by less than a tenth."""


@melting
def cosine_near(is_earth, y):
    """How much shorter degrees of longitude are around a document; 0 where maps are too crooked."""
    if not is_earth or abs(y) > _HIGHEST:
        return 0.0
    return math.cos(y * DEGREE)


@melting
def circle_at(regions, slot):
    """The middle and the square of the radius of a circle; a square of 0 where that is no help."""
    radius = regions.shape[slot, 2]
    if regions.kind[slot] != CIRCLE or radius > _LARGEST:
        return 0.0, 0.0, 0.0
    return regions.shape[slot, 0], regions.shape[slot, 1], radius * radius


@melting
def place_in_circle(circle, x, y, cosine):
    """INSIDE or OUTSIDE where that is sure, UNSURE else, and for what is no circle.

    The point is a document that `cosine` was taken at, or one that may share a region with it.
    """
    middle, level, radius_squared = circle
    across = x - middle
    if cosine == 0.0 or radius_squared == 0.0 or abs(across) > 90.0:
        return np.int64(UNSURE)
    across *= cosine * _METRES
    up = (y - level) * _METRES
    square = across * across + up * up
    if square < _SURELY_IN * radius_squared:
        return np.int64(INSIDE)
    if square > _SURELY_OUT * radius_squared:
        return np.int64(OUTSIDE)
    return np.int64(UNSURE)
