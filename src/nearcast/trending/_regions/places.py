"""Where do regions and documents lie? Levels of square cells, each twice as large as the next.

code   int64[64]       what the level is called in keys: 600 + the binary logarithm of its cells'
                       size; 2 for the one cell that is everywhere
size   float64[64]     of its cells
reach  float64[64, 2]  no region of the level is wider, or higher
held   int64[64]       how many regions it has
ends   int64[1]        how many levels there are

A region is of the level whose cells are just as large as its cover, and is kept in the *home* that
has its south-west corner; a cell is 4 x 4 homes. So who contains a point has its home at most
`reach` to the west and south of it, and whatever lies in a region that contains the point is at
most `reach` away. Regions across the antimeridian are everywhere.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import leaf

WIDE, EVERYWHERE, ORIGIN = 1, 2, 600
HOME = 256
"""Added to the code of a level in keys of homes."""

ALL_TERMS = (1 << 31) - 1
"""In the place of a term: the run has all documents of the cell."""

HOMES_ACROSS = 4.0
FARTHEST_CELL = 2.0**40
SMALLEST_LOG = -30
LARGEST_LOG = 60
MARGIN = 1.0 / 1024.0
"""In cells: more than what rounding can do to a quotient of FARTHEST_CELL."""


class Levels(NamedTuple):
    """The arrays drawn above."""

    code: NDArray[np.int64]
    size: NDArray[np.float64]
    reach: NDArray[np.float64]
    held: NDArray[np.int64]
    ends: NDArray[np.int64]


def no_levels() -> Levels:
    """None yet."""
    return Levels(
        np.zeros(128, np.int64),
        np.zeros(128),
        np.zeros((128, 2)),
        np.zeros(128, np.int64),
        np.zeros(1, np.int64),
    )


def level_codes(
    rows: NDArray[np.int32], covers: NDArray[np.float32], levels_up: int = 0
) -> NDArray[np.int64]:
    """The code of the level of each of rows 0 to n - 1, whose covers are given.  Vectorised.

    It is so many levels above the one that fits.
    """
    bounds = covers.astype(np.float64)
    with np.errstate(invalid="ignore"):
        extent = np.maximum(bounds[:, 2] - bounds[:, 0], bounds[:, 3] - bounds[:, 1])
    far = np.abs(bounds).max(axis=1) / FARTHEST_CELL * (2.0 * HOMES_ACROSS)
    _, log = np.frexp(np.maximum(np.maximum(extent, far), 2.0**SMALLEST_LOG))
    log = log.astype(np.int64) + levels_up
    codes = ORIGIN + log
    codes[~(np.isfinite(bounds).all(axis=1)) | (log > LARGEST_LOG)] = EVERYWHERE
    first = np.searchsorted(rows, np.arange(int(rows[-1]) + 1 if len(rows) else 0))
    several = np.diff(np.append(first, len(rows))) > 1
    return np.where(several, EVERYWHERE, codes[first])


def cell_size(code: int) -> float:
    """The size of the cells of a level; `inf` for the one that is everywhere."""
    return float("inf") if code == EVERYWHERE else 2.0 ** (code - ORIGIN)


@leaf
def column(coordinate, size):
    """The column (or row) of cells, or homes, of this size in which a coordinate lies."""
    return np.int64(np.floor(coordinate / size))


@leaf
def reaches(size, x, y):
    """Can a region of the level contain the point? Else the point is too far for its cells."""
    far = size * (FARTHEST_CELL / HOMES_ACROSS)
    return abs(x) <= far and abs(y) <= far
