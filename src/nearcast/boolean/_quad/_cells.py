"""Cells of a quadtree, and which of them an entry is attached to: shared by IQ-Tree and RQ-Tree.

frame   float64[4]     west, south, and cells of the deepest level per unit along x and along y
mass    float64[5461]  probability that a message is in each cell of the levels 0 to 6, level after
                       level, row by row; inside a cell of level 6 all places are alike
nodes   int64[N, 2]    a cell that exists: what it holds, and the first of its four children, which
                       lie side by side (0: no children); rows 0-3 belong to the root

The world is a square of 2^15 columns and rows, whatever its shape; a place beyond the frame counts
as the nearest one in it. Coordinates become whole numbers by one function that never decreases, so
that a place that is in a region is also in the columns and rows of the region: all else is integer
arithmetic, cells are half-open and the outermost unbounded.

A cell is a *code*: level << 30 | column << 15 | row, counted in cells of its level. The quarter
of a cell is its column's last bit plus twice its row's.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._verify import grown
from nearcast.inner import inner

DEPTH = 15
SIDE = 1 << DEPTH
CODE_BITS = 4 + 2 * DEPTH
ROOT_CODE = 0
MASS_DEPTH = 6

CONTENT, CHILDREN = 0, 1  # columns of `nodes`

# One level further down costs a message a look at one more cell: it must spare this share of what
# one more copy would have to.
STEP_SHARE = 0.25

# Room for the cells beside the way down, when no more of them are to be divided.
SPARE = 4 * (DEPTH + 1)


class Grid(NamedTuple):
    """Where cells are and how likely a message is in each; see the module docstring."""

    frame: NDArray[np.float64]
    mass: NDArray[np.float64]


class Pricing(NamedTuple):
    """What the cost model weighs: see `QuadIndex`."""

    update_cost: float
    most_cells: int


@inner
def coordinate(value, low, scale):
    """The column or row of the deepest level; never decreases with the value."""
    place = (value - low) * scale
    if not place > 0:
        return 0
    if place >= SIDE:
        return SIDE - 1
    return int(place)


@njit(cache=True, nogil=True)
def coordinates(values, low, scale):
    """The column or row of each value."""
    found = np.empty(len(values), np.int64)
    for i in range(len(values)):
        found[i] = coordinate(values[i], low, scale)
    return found


@njit(cache=True, nogil=True)
def cells_of_box(frame, west, south, east, north):
    """A closed rectangle in cells of the deepest level: first and last column and row."""
    return (
        coordinate(west, frame[0], frame[2]),
        coordinate(south, frame[1], frame[3]),
        coordinate(east, frame[0], frame[2]),
        coordinate(north, frame[1], frame[3]),
    )


@njit(cache=True, nogil=True)
def cell_chance(mass, level, x, y):
    """Probability that a message is in the cell."""
    deeper = max(0, level - MASS_DEPTH)
    known = level - deeper
    at = ((1 << (2 * known)) - 1) // 3 + ((y >> deeper) << known) + (x >> deeper)
    return mass[at] / (1 << (2 * deeper))


# ---------------------------------------------------------------------- the cost model


@njit(cache=True, nogil=True, inline="always")
def _touches(x0, y0, x1, y1, level, x, y):
    """Does a rectangle, in cells of the deepest level, touch the cell?"""
    shift = DEPTH - level
    return x0 >> shift <= x <= x1 >> shift and y0 >> shift <= y <= y1 >> shift


@inner
def _is_final(x0, y0, x1, y1, level, x, y, looks, price):
    """Is it plain that the children of a cell together cannot cost less than the cell?

    They spare no more than all looks, and each that the rectangle touches costs a price.
    """
    shift = DEPTH - level
    west, south = x << shift, y << shift
    last = (1 << shift) - 1
    if level == DEPTH or (x0 <= west and y0 <= south and x1 >= west + last and y1 >= south + last):
        return True
    middle_x, middle_y = west + (last + 1) // 2, south + (last + 1) // 2
    columns = 2 if x0 < middle_x <= x1 else 1
    rows = 2 if y0 < middle_y <= y1 else 1
    return looks <= (columns * rows - 1 + STEP_SHARE) * price


@inner
def _cheapest(mass, x0, y0, x1, y1, chance, price, codes, way, costs):
    """Write the cheapest cells that together contain a rectangle to `codes`; how many they are.

    Attaching the entry to a cell costs `price`, and one look for each message in the cell that has
    the word; the children together may cost less.  O(cells the border goes through).

    way     int64[DEPTH + 1, 4]    the cell of each level: column, row, next child, codes before it
    costs   float64[DEPTH + 1, 2]  what it costs, and what its children do
    """
    count, level = 0, 0
    way[0] = 0
    way[0, 2] = -1
    while level >= 0:
        x, y = way[level, 0], way[level, 1]
        if way[level, 2] < 0:
            looks = chance * cell_chance(mass, level, x, y)
            costs[level, 0] = price + looks
            costs[level, 1] = STEP_SHARE * price
            way[level, 2] = 0
            is_full = count + SPARE > len(codes)
            if is_full or _is_final(x0, y0, x1, y1, level, x, y, looks, price):
                costs[level, 1] = np.inf
                way[level, 2] = 4
        child = way[level, 2]
        if child < 4:
            way[level, 2] += 1
            x, y = 2 * x + (child & 1), 2 * y + (child >> 1)
            if _touches(x0, y0, x1, y1, level + 1, x, y):
                level += 1
                way[level, 0], way[level, 1], way[level, 2], way[level, 3] = x, y, -1, count
            continue
        if costs[level, 0] <= costs[level, 1]:
            count = way[level, 3]
            codes[count] = (level << 2 * DEPTH) | (x << DEPTH) | y
            count += 1
        cost = min(costs[level, 0], costs[level, 1])
        level -= 1
        if level >= 0:
            costs[level, 1] += cost
    return count


@njit(cache=True, nogil=True)
def cover_all(grid, pricing, bounds, lists, chance, divided):
    """The cells of each entry: (owner, codes), the entries in their order.

    An entry of list l stays at the root unless divided[l]. Disjoint cells that together contain
    the entry's rectangle; where they would be too many, coarser ones.  O(cells looked at).
    """
    owner = np.empty(2 * len(bounds) + 16, np.int32)
    codes = np.empty(len(owner), np.int64)
    few = np.empty(8 * pricing.most_cells + SPARE, np.int64)
    way = np.empty((DEPTH + 1, 4), np.int64)
    costs = np.empty((DEPTH + 1, 2), np.float64)
    total = 0
    for i in range(len(bounds)):
        count = 1
        few[0] = ROOT_CODE
        if divided[lists[i]]:
            x0, y0, x1, y1 = cells_of_box(
                grid.frame, bounds[i, 0], bounds[i, 1], bounds[i, 2], bounds[i, 3]
            )
            price = pricing.update_cost
            while True:
                count = _cheapest(
                    grid.mass, x0, y0, x1, y1, np.float64(chance[lists[i]]), price, few, way, costs
                )
                if count <= pricing.most_cells:
                    break
                # At a border, half as many cells are right at four times the price.
                price *= 2 * count / pricing.most_cells
        if total + count > len(owner):
            owner = grown(owner, total + count)
            codes = grown(codes, len(owner))
        owner[total : total + count] = i
        codes[total : total + count] = few[:count]
        total += count
    return owner[:total], codes[:total]


# ---------------------------------------------------------------------- cells that exist


def root_alone() -> NDArray[np.int64]:
    """Nodes of a quadtree whose only cell is the root."""
    return np.zeros((4, 2), np.int64)


@njit(cache=True, nogil=True, inline="always")
def quarter(x, y, rest):
    """Which quarter of its parent a cell is that has (x, y) `rest` levels below."""
    return ((x >> rest) & 1) + 2 * ((y >> rest) & 1)


@inner
def add_children(nodes, used):
    """Four new cells, empty: (nodes, the row of the first).  O(1) amortised.

    `used[0]` tells how many rows are in use.
    """
    block = used[0]
    used[0] += 4
    if used[0] > len(nodes):
        wider = np.zeros((len(nodes) + len(nodes) // 2 + 4, 2), np.int64)
        wider[:block] = nodes[:block]
        nodes = wider
    nodes[block : block + 4] = 0
    return nodes, block


@inner
def make_row(nodes, used, row, above, code):
    """The row of a cell at or below nodes[row], whose level is `above`: (nodes, row).  O(levels).

    What is missing on the way is added.
    """
    level, x, y = code >> 2 * DEPTH, (code >> DEPTH) & (SIDE - 1), code & (SIDE - 1)
    for rest in range(level - above - 1, -1, -1):
        if nodes[row, CHILDREN] == 0:
            nodes, block = add_children(nodes, used)
            nodes[row, CHILDREN] = block
        row = nodes[row, CHILDREN] + quarter(x, y, rest)
    return nodes, row


@inner
def find_row(nodes, row, above, code):
    """The row of a cell that exists at or below nodes[row], whose level is `above`.  O(levels)."""
    level, x, y = code >> 2 * DEPTH, (code >> DEPTH) & (SIDE - 1), code & (SIDE - 1)
    for rest in range(level - above - 1, -1, -1):
        row = nodes[row, CHILDREN] + quarter(x, y, rest)
    return row


@inner
def rows_in_box(nodes, block, x0, y0, x1, y1, rows, codes, total):
    """Add the rows that a box touches among a root's children and below: (rows, codes, total).

    `block` is the first of those children. O(rows found).
    """
    visited, above = total, ROOT_CODE
    while True:
        if block:
            if total + 4 > len(rows):
                rows = grown(rows, total + 4)
                codes = grown(codes, len(rows))
            level = (above >> 2 * DEPTH) + 1
            column, row = 2 * ((above >> DEPTH) & (SIDE - 1)), 2 * (above & (SIDE - 1))
            for i in range(4):
                x, y = column + (i & 1), row + (i >> 1)
                if _touches(x0, y0, x1, y1, level, x, y):
                    rows[total] = block + i
                    codes[total] = (level << 2 * DEPTH) | (x << DEPTH) | y
                    total += 1
        if visited == total:
            return rows, codes, total
        block, above = nodes[rows[visited], CHILDREN], codes[visited]
        visited += 1
