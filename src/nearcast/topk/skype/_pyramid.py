"""The cells of CIQ: grids of 2, 4, 8, ... cells a side, one above the other.

A subscription is in several of them, which together are the whole space: its own cell of the
finest grid, and of each grid the three neighbours that share a cell of the grid above with its
own. So a message, whose cells are one of each grid, meets it in exactly one, and how near the two
can be there is known beforehand.

    frame  float64[4]    west, south, width, height of the grids; the outermost cells reach farther
    near   float32[S,4L] for each grid and quarter: how near that cell is at the most
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.topk.skype._places import box_of, outside, place_of, share_of


class Pyramid(NamedTuple):
    """The arrays; see the module docstring."""

    frame: NDArray[np.float64]
    near: NDArray[np.float32]


def empty_pyramid(levels: int, slots: int) -> Pyramid:
    """No subscription, somewhere."""
    return Pyramid(np.array([0.0, 0.0, 1.0, 1.0]), np.empty((slots, 4 * levels), np.float32))


@inner
def step_of(value, start, width, steps):
    """The column or row of a grid that a coordinate is in."""
    # Limited before it is a whole number, for which it may be too large.
    return int(min(steps - 1.0, max(0.0, (value - start) / width * steps)))


@inner
def number_of(level, column, row):
    """A number for a cell of a grid, another for each."""
    return ((1 << (2 * level)) - 1) // 3 + (column << level) + row


@inner
def border_of(step, steps, start, width):
    """From where to where a column or row is, at the most."""
    # A place near a border may have been rounded into the next cell.
    rounding = 1e-14 * (abs(start) + width)
    low = -np.inf if step == 0 else start + width * step / steps - rounding
    high = np.inf if step == steps - 1 else start + width * (step + 1) / steps + rounding
    return low, high


@inner
def nearness_of_cell(level, column, row, frame, place, space):
    """How near a cell is to a place at the most, rounded up."""
    west, east = border_of(column, 1 << level, frame[0], frame[2])
    south, north = border_of(row, 1 << level, frame[1], frame[3])
    if space.on_earth:
        west, south, east, north = (
            max(-180.0, west),
            max(-90.0, south),
            min(180.0, east),
            min(90.0, north),
        )
    low, high = np.empty(3), np.empty(3)
    box_of(west, south, east, north, space, low, high)
    way = share_of(
        outside(place[0], low[0], high[0]),
        outside(place[1], low[1], high[1]),
        outside(place[2], low[2], high[2]),
        space,
    )
    return np.float32(max(0.0, 1.0 - way) + 1e-7)


@njit(cache=True, nogil=True)
def cells_of(pyramid, slot, levels, lon, lat, space):
    """The numbers of the cells that a subscription is in; `near` knows how near they are."""
    frame, place = pyramid.frame, place_of(lon, lat, space)
    column = step_of(lon, frame[0], frame[2], 1 << levels)
    row = step_of(lat, frame[1], frame[3], 1 << levels)
    numbers = np.empty(3 * levels + 1, np.int64)
    count = 0
    for level in range(1, levels + 1):
        mine_x, mine_y = column >> (levels - level), row >> (levels - level)
        for quarter in range(4):
            x, y = (mine_x & ~1) + quarter // 2, (mine_y & ~1) + quarter % 2
            if (x != mine_x or y != mine_y) or level == levels:
                pyramid.near[slot, 4 * (level - 1) + quarter] = nearness_of_cell(
                    level, x, y, frame, place, space
                )
                numbers[count] = number_of(level, x, y)
                count += 1
    return numbers
