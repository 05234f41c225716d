"""A term while a document says it: its documents and groups, side by side, for all subscriptions.

    near   float64[4, n]  of its documents: the spot X, Y, Z; AMOUNT, its weight for this term
    group  float64[7, g]  its groups, columns as in `_groups`

Sums over them are what the paper's indexes do most, so they are done several at a time.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.space import EARTH_RADIUS
from nearcast.trending._nearby import documents as columns_of
from nearcast.trending._nearby.documents import HELD, START, WEIGHT
from nearcast.trending.sst import _groups as groups_of

X, Y, Z, AMOUNT = range(4)
BLOCK = 64  # groups between two looks at whether it is enough
_HALF_WAY = math.pi / 2.0


class Said(NamedTuple):
    """The arrays; see the module docstring."""

    near: NDArray[np.float64]
    group: NDArray[np.float64]


@inner
def gather(term, documents, groups, has_groups):
    """What there is of a term.  O(documents of the term)."""
    start, held = documents.lists[term, START], documents.lists[term, HELD]
    near = np.empty((4, held))
    for n in range(held):
        place = documents.place[documents.doc[start + n]]
        near[X, n], near[Y, n] = place[columns_of.X], place[columns_of.Y]
        near[Z, n] = place[columns_of.Z]
        near[AMOUNT, n] = documents.times[start + n] * place[WEIGHT]
    count, g = 0, np.int64(groups.first[term, groups_of.FIRST] if has_groups else -1)
    while g >= 0:
        count += 1
        g = np.int64(groups.next[g])
    group = np.empty((7, count))
    g = np.int64(groups.first[term, groups_of.FIRST] if has_groups else -1)
    for n in range(count):
        for column in range(7):
            group[column, n] = groups.box[g, column]
        g = np.int64(groups.next[g])
    return Said(near, group)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def sum_near(near, x, y, z, a, on_earth):
    """What the documents give to somebody at a spot, up to a millionth (Eq. 2).  O(documents)."""
    total = 0.0
    if not on_earth:
        for n in range(near.shape[1]):
            dx, dy, dz = near[X, n] - x, near[Y, n] - y, near[Z, n] - z
            total += near[AMOUNT, n] / (a + math.sqrt(dx * dx + dy * dy + dz * dz))
        return total
    for n in range(near.shape[1]):
        dx, dy, dz = near[X, n] - x, near[Y, n] - y, near[Z, n] - z
        sine = math.sqrt(dx * dx + dy * dy + dz * dz) / (2.0 * EARTH_RADIUS)
        # The series of the arc sine is for small ones; far away it is taken from the other end.
        other = math.sqrt(max(0.0, 0.5 - 0.5 * sine))
        is_long = sine > 0.5
        t = other if is_long else sine
        q = t * t
        series = 0.01396 + q * (0.01155 + q * 0.0116)
        series = 0.030381944444444444 + q * (0.022372159090909092 + q * (0.01735 + q * series))
        series = 1.0 / 6.0 + q * (0.075 + q * (0.044642857142857144 + q * series))
        angle = t + t * q * series
        angle = _HALF_WAY - 2.0 * angle if is_long else angle
        total += near[AMOUNT, n] / (a + 2.0 * EARTH_RADIUS * angle)
    return total


@njit(nogil=True, fastmath=True)
def _gap(before, behind):
    """How far two intervals are apart, of which one begins so much after the other."""
    longer = before if before > behind else behind
    return longer if longer > 0.0 else 0.0


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def most_in_box(group, box, enough, a):
    """More than a term has anywhere in a box (Eq. 13, 16), or what is `enough`.  O(groups)."""
    total = 0.0
    west, south, bottom, east, north, top = box[0], box[1], box[2], box[3], box[4], box[5]
    for begin in range(0, group.shape[1], BLOCK):
        for n in range(begin, min(begin + BLOCK, group.shape[1])):
            dx = _gap(group[0, n] - east, west - group[3, n])
            dy = _gap(group[1, n] - north, south - group[4, n])
            dz = _gap(group[2, n] - top, bottom - group[5, n])
            total += group[6, n] / (a + math.sqrt(dx * dx + dy * dy + dz * dz))
        if total > enough:
            break
    return total
