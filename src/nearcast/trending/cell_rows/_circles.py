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
def place_in_circle(regions, slot, x, y, cosine):
    """INSIDE or OUTSIDE where that is sure, UNSURE else, and for what is no circle.

    The point is a document that `cosine` was taken at, or one that may share a region with it.
    """
    radius = regions.shape[slot, 2]
    if cosine == 0.0 or regions.kind[slot] != CIRCLE or radius > _LARGEST:
        return np.int64(UNSURE)
    across = x - regions.shape[slot, 0]
    if abs(across) > 90.0:
        return np.int64(UNSURE)
    across *= cosine * _METRES
    up = (y - regions.shape[slot, 1]) * _METRES
    square = across * across + up * up
    if square < _SURELY_IN * radius * radius:
        return np.int64(INSIDE)
    if square > _SURELY_OUT * radius * radius:
        return np.int64(OUTSIDE)
    return np.int64(UNSURE)
