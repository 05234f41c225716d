"""What others have said around a document of what it says.

around    for each term of the document (n)
  bound   int64[n]   no region of the level that has the document has more of it: what the cells
                     around have, and once they are gathered, what its neighbours have; -1: not
                     asked
  first   int64[n]   its neighbours are first:middle, of which the place is known as a point, and
                     middle:last; -1: not gathered
neighbours  documents that say a term, all terms one after the other
  place   float64[m, 2]
  number  int64[m]   of the document
  amount  int64[m]   in units
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf
from nearcast.space._kernels import BOX, region_meets
from nearcast.trending._regions.circles import UNSURE, circle_at, place_in_circle
from nearcast.trending._regions.places import EVERYWHERE, MARGIN, WIDE, column
from nearcast.trending._regions.postings import is_in_region, worth
from nearcast.trending._regions.runs import COUNT, HIGH, MASS, NONE, number_at
from nearcast.trending._regions.table import cell_key, run_of

UNKNOWN = -1
_TIMES = (1 << HIGH) - 1


class Around(NamedTuple):
    """The first arrays drawn above."""

    bound: NDArray[np.int64]
    first: NDArray[np.int64]
    middle: NDArray[np.int64]
    last: NDArray[np.int64]


class Neighbours(NamedTuple):
    """The other arrays drawn above."""

    place: NDArray[np.float64]
    number: NDArray[np.int64]
    amount: NDArray[np.int64]


@inner
def no_neighbours(size):
    """Room for so many."""
    return Neighbours(np.empty((size, 2)), np.empty(size, np.int64), np.empty(size, np.int64))


@inner
def not_asked(count):
    """Nothing is known of the neighbours of so many terms."""
    return Around(
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
    )


@leaf
def cells_around(levels, level, x, y):
    """The columns and rows of cells that a region with the point can lie in."""
    if levels.code[level] == EVERYWHERE:
        return np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    size = levels.size[level]
    across = levels.reach[level, 0] + MARGIN * size
    up = levels.reach[level, 1] + MARGIN * size
    return (
        column(x - across, size), column(x + across, size),
        column(y - up, size), column(y + up, size),
    )  # fmt: skip


@leaf
def bound_of(term, levels, level, x, y, archive):
    """What all regions of the level with the point have of a term, together at the most."""
    west, east, south, north = cells_around(levels, level, x, y)
    total, zero = np.int64(0), np.int64(0)
    for column_ in range(west, east + 1):
        for row in range(south, north + 1):
            one, other = cell_key(np.int64(column_), np.int64(row), levels.code[level], term)
            run = run_of(archive.table, one, other)
            if run != NONE:
                total += archive.runs.head[run, MASS]
    one, other = cell_key(zero, zero, np.int64(WIDE), term)
    run = run_of(archive.table, one, other)
    if run != NONE:
        total += archive.runs.head[run, MASS]
    return total


@inner
def gather(neighbours, used, said, around, i, levels, level, x, y, archive, base):
    """The neighbours with those of term i at their end, and how many there are.  O(them)."""
    west, east, south, north = cells_around(levels, level, x, y)
    term, zero = np.int64(said.term[i]), np.int64(0)
    around.first[i] = used
    for column_ in range(west, east + 1):
        for row in range(south, north + 1):
            one, other = cell_key(np.int64(column_), np.int64(row), levels.code[level], term)
            run = run_of(archive.table, one, other)
            neighbours, used = _gather_run(
                neighbours, used, run, levels, level, x, y, archive, base
            )
    around.middle[i] = used
    one, other = cell_key(zero, zero, np.int64(WIDE), term)
    run = run_of(archive.table, one, other)
    neighbours, used = _gather_run(neighbours, used, run, levels, np.int64(-1), x, y, archive, base)
    around.last[i] = used
    total = np.int64(0)
    for n in range(around.first[i], used):
        total += neighbours.amount[n]
    around.bound[i] = min(around.bound[i], total)
    return neighbours, used


@inner
def _gather_run(neighbours, used, run, levels, level, x, y, archive, base):
    if run == NONE:
        return neighbours, used
    documents, runs = archive.documents, archive.runs
    count = runs.head[run, COUNT]
    if used + count > len(neighbours.number):
        larger = no_neighbours(2 * (used + count))
        larger.place[:used] = neighbours.place[:used]
        larger.number[:used] = neighbours.number[:used]
        larger.amount[:used] = neighbours.amount[:used]
        neighbours = larger
    for i in range(count):
        entry = number_at(runs, run, i)
        number = entry >> HIGH
        there_x, there_y = documents.place[number, 0], documents.place[number, 1]
        if level >= 0 and (
            abs(there_x - x) > levels.reach[level, 0] or abs(there_y - y) > levels.reach[level, 1]
        ):
            continue
        neighbours.place[used, 0] = there_x
        neighbours.place[used, 1] = there_y
        neighbours.number[used] = number
        neighbours.amount[used] = (entry & _TIMES) * worth(documents, number, base)
        used += 1
    return neighbours, used


@leaf
def score_among(neighbours, around, i, slot, archive, regions, is_earth, cosine, rects):
    """What term i has in a region that has the document.  O(neighbours)."""
    total = np.int64(0)
    if regions.kind[slot] == BOX and regions.shape[slot, 0] <= regions.shape[slot, 2]:
        west, south = regions.shape[slot, 0], regions.shape[slot, 1]
        east, north = regions.shape[slot, 2], regions.shape[slot, 3]
        for n in range(around.first[i], around.middle[i]):
            x, y = neighbours.place[n, 0], neighbours.place[n, 1]
            inside = (x >= west) & (x <= east) & (y >= south) & (y <= north)
            total += neighbours.amount[n] * inside
    else:
        circle = circle_at(regions, slot)
        for n in range(around.first[i], around.middle[i]):
            x, y = neighbours.place[n, 0], neighbours.place[n, 1]
            inside = place_in_circle(circle, x, y, cosine)
            if inside == UNSURE:
                rects[0, 0] = rects[0, 2] = x
                rects[0, 1] = rects[0, 3] = y
                inside = np.int64(
                    region_meets(
                        regions.kind, regions.shape, regions.ring_start, regions.polygon_start,
                        regions.vertices, slot, is_earth, rects, np.int64(0), np.int64(1),
                    )
                )  # fmt: skip
            total += neighbours.amount[n] * inside
    for n in range(around.middle[i], around.last[i]):
        if is_in_region(archive, neighbours.number[n], regions, slot, is_earth, rects):
            total += neighbours.amount[n]
    return total
