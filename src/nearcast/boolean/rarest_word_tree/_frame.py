"""Coordinates as small whole numbers that keep their order.

knots_x, knots_y   float64[PIECES+2]   ascending; between two of them lie STEPS equal steps; where
                                       there are fewer, the last are infinite

Knots are quantiles of the borders of regions: steps are small where borders are many. Whatever the
knots, `step_of` never decreases, so that a < b in steps means a < b indeed; only equal steps leave
a question. Two numbers are special: NOWHERE_BELOW and NOWHERE_ABOVE lie outside of all places, for
regions without an end in that direction.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._verify import ROUNDING, SMALLEST
from nearcast.inner import inner

PIECES = 1024
STEPS = 31
LOWEST, NOWHERE_BELOW, NOWHERE_ABOVE = 1, 0, 32767
FARTHEST = np.finfo(np.float64).max
_SAMPLE = 200_000

assert LOWEST + PIECES * STEPS < NOWHERE_ABOVE  # 15 bits


class Frame(NamedTuple):
    """The knots; see the module docstring."""

    knots_x: NDArray[np.float64]
    knots_y: NDArray[np.float64]

    @classmethod
    def of_knots(cls, knots_x: NDArray[np.float64], knots_y: NDArray[np.float64]) -> "Frame":
        """The frame with these knots, which may be fewer."""
        return cls(_filled_up(knots_x), _filled_up(knots_y))

    @property
    def steps(self) -> tuple[int, int]:
        """How many steps there are from west to east and from south to north."""
        pieces_x, pieces_y = (int(np.isfinite(knots).sum()) - 1 for knots in self)
        return STEPS * pieces_x, STEPS * pieces_y


def frame_of(bounds: NDArray[np.float32]) -> Frame:
    """A frame for these borders: west, south, east, north.  O(sample log sample)."""
    every = max(1, len(bounds) // _SAMPLE)
    sample = bounds[::every].astype(np.float64)
    return Frame.of_knots(_knots(sample[:, [0, 2]]), _knots(sample[:, [1, 3]]))


def _filled_up(knots: NDArray[np.float64]) -> NDArray[np.float64]:
    filled = np.full(PIECES + 2, np.inf)
    filled[: len(knots)] = knots
    return filled


def _knots(values: NDArray[np.float64]) -> NDArray[np.float64]:
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return np.array([0.0, 1.0])
    knots = np.unique(np.quantile(finite, np.linspace(0, 1, PIECES + 1), method="nearest"))
    return knots if len(knots) > 1 else np.array([knots[0], np.nextafter(knots[0], np.inf)])


@njit(cache=True, nogil=True)
def step_of(knots, value):
    """The step that holds a coordinate.  O(log knots), branch-free."""
    value = min(value, FARTHEST)
    low, half = 0, PIECES // 2
    while half:
        low += half * (knots[low + half] <= value)
        half >>= 1
    low += knots[low + 1] <= value
    return _step_in(knots, low, value)


@inner
def steps_of_point(frame, x, y):
    """The steps of two finite ones, looked for side by side: neither waits for the other."""
    knots_x, knots_y = frame.knots_x, frame.knots_y
    low_x, low_y, half = 0, 0, PIECES // 2
    while half:
        low_x += half * (knots_x[low_x + half] <= x)
        low_y += half * (knots_y[low_y + half] <= y)
        half >>= 1
    low_x += knots_x[low_x + 1] <= x
    low_y += knots_y[low_y + 1] <= y
    return _step_in(knots_x, low_x, x), _step_in(knots_y, low_y, y)


@njit(cache=True, nogil=True, inline="always")
def _step_in(knots, low, value):
    share = max(0.0, value - knots[low]) / (knots[low + 1] - knots[low])
    return LOWEST + low * STEPS + min(STEPS - 1, int(STEPS * share))


@njit(cache=True, nogil=True)
def steps_of(frame, world, bounds, is_box, boxes, out):
    """Fill out[:, :4] with the steps of bounds; those at the end of the world are NOWHERE.

    Where is_box[i], the region is boxes[i], whose borders tell exactly what bounds[i] have rounded.
    """
    for i in range(len(bounds)):
        west, south = np.float64(bounds[i, 0]), np.float64(bounds[i, 1])
        east, north = np.float64(bounds[i, 2]), np.float64(bounds[i, 3])
        if is_box[i]:
            south, north = boxes[i, 1], boxes[i, 3]
            # At the antimeridian a box is cut in two, of which each has one of its borders.
            is_cut = boxes[i, 0] > boxes[i, 2]
            is_western = is_cut and _is_rounded(west, boxes[i, 0]) and east >= world[2]
            if is_western or not is_cut:
                west = boxes[i, 0]
            if not is_western:
                east = boxes[i, 2]
        out[i, 0] = NOWHERE_BELOW if west <= world[0] else step_of(frame.knots_x, west)
        out[i, 1] = NOWHERE_BELOW if south <= world[1] else step_of(frame.knots_y, south)
        out[i, 2] = NOWHERE_ABOVE if east >= world[2] else step_of(frame.knots_x, east)
        out[i, 3] = NOWHERE_ABOVE if north >= world[3] else step_of(frame.knots_y, north)


@inner
def _is_rounded(bound, border):
    """Was the bound rounded from this border?"""
    return abs(border - bound) <= ROUNDING * abs(border) + SMALLEST


@njit(cache=True, nogil=True)
def places_of(frame, rects, rect_start, first, last):
    """A number for the place of each of the messages first:last; near places have near ones."""
    places = np.empty(last - first, np.uint16)
    for message in range(first, last):
        rect = rect_start[message]
        x, y = steps_of_point(frame, rects[rect, 0], rects[rect, 1])
        place = 0
        for bit in range(8):  # the highest of 15, of x and y in turn
            place |= (x >> (7 + bit) & 1) << (2 * bit + 1) | (y >> (7 + bit) & 1) << (2 * bit)
        places[message - first] = place
    return places
