"""The places of many messages as planar rectangles; `nearcast.space` defines them for one place."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nearcast.batches._ragged import start_of
from nearcast.model import Space

Floats = npt.NDArray[np.float64]


def rects_of_places(at: Floats, space: Space) -> tuple[npt.NDArray[np.int32], Floats]:
    """(rect_start int32[n+1], rects float64[r, 4]) of places given as west, south, east, north.

    Nearly every place is its own only rectangle. On the Earth a place at the antimeridian or at a
    pole gets more, because one spot has several coordinates there.
    """
    west, south, east, north = at.T
    special = np.zeros(len(at), bool)
    if space is Space.EARTH:
        special = (west > east) | (east == 180) | (west == -180) | (north == 90) | (south == -90)
    rows = np.flatnonzero(special)
    if not len(rows):
        return np.arange(len(at) + 1, dtype=np.int32), np.array(at, np.float64, order="C")
    several, kept = _rects_at_seams(at[rows])
    count = np.ones(len(at), np.int64)
    count[rows] = kept.sum(axis=1)
    start = start_of(count)
    rects = np.empty((start[-1], 4))
    is_of_special = np.repeat(special, count)
    rects[~is_of_special] = at[~special]
    rects[is_of_special] = several[kept]
    return start.astype(np.int32), rects


def _rects_at_seams(at: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Six candidate rectangles per place, float64[n, 6, 4], and which of them count, bool[n, 6]."""
    west, south, east, north = at.T
    crosses = west > east
    low, high = np.full(len(at), -180.0), np.full(len(at), 180.0)
    slots = [
        (np.ones(len(at), bool), west, south, np.where(crosses, high, east), north),
        (crosses, low, south, east, north),
        # +180 and -180 are the same meridian ...
        (crosses | (east == 180), low, south, low, north),
        (crosses | (west == -180), high, south, high, north),
        # ... and a pole is one point, whatever its longitude.
        (north == 90, low, np.full(len(at), 90.0), high, np.full(len(at), 90.0)),
        (south == -90, low, np.full(len(at), -90.0), high, np.full(len(at), -90.0)),
    ]
    rects = np.stack([np.stack(slot[1:], axis=1) for slot in slots], axis=1)
    exists = np.stack([slot[0] for slot in slots], axis=1)
    kept = exists.copy()
    for a in range(len(slots)):
        for b in range(len(slots)):
            if a != b:
                # One of two equal rectangles stays, because a dropped one drops no other.
                kept[:, a] &= ~(kept[:, b] & _covers(rects[:, b], rects[:, a]))
    return rects, kept


def _covers(outer: Floats, inner: Floats) -> npt.NDArray[np.bool_]:
    low = (outer[:, :2] <= inner[:, :2]).all(axis=1)
    high = (outer[:, 2:] >= inner[:, 2:]).all(axis=1)
    return np.asarray(low & high)
