"""Subscriptions of one neighbourhood, and the terms that can be in their lists.

A *cell* has a *column* for each of its groups and a *row* for each term that is in one of their
lists or near to it; a *group* is who wants as many terms at exactly the same place, and has one
list for all. What a term has at a group is

    near + c[0] + c[1] u + c[2] v + c[3] u u + c[4] u v + c[5] v v

where (u, v) is the place of the group as seen from the middle of the cell: documents that
are far off, against the size of the cell, are added to the six coefficients of the *field*, which
all columns share; those that are near are added to each column. A document comes with one addition
to a row, however many columns the cell has. Weights are those of `documents`, so that time
changes nothing here.

    frame    float64[C, 11]  the middle X, Y, Z; two directions U and V of length 1, at right angles
                             to each other and to the way up; REACH, the most a column may be off
                             the middle; FLOOR, no list of the cell has a lower last score, 0 where
                             a list is not full
    head     int64[C, 12]    the FIRST_COLUMN of COLUMNS, of which WIDTH are in use; the FIRST_ROW
                             of ROWS, of which HEIGHT are in use; NEAR: row i has
                             near[NEAR + i * COLUMNS:][:WIDTH]; ORDER: column j has the rows
                             order[ORDER + j * DEPTH:][:LISTED], best first; NODE, see `_tree`;
                             DIRTY, SOME_ROWS when those without SLACK are to be looked at,
                             ALL_LISTS when all are; LOOKED, the step in which all were
    column   int32[n, 4]     the GROUP; K; LISTED, how many terms its list has;
                             STAMP, the step in which its list was remembered
    at       float64[n, 7]   LON, LAT; the place (ALONG_U, ALONG_V) from the middle; the spot AT_X,
                             AT_Y, AT_Z
    term     int32[m]        row: the term, each once in a cell
    field    float64[m, 7]   row: the six coefficients; SLACK, how much the term may still grow
                             anywhere in the cell before a list can change
    near     float64[...]
    order    int16[...]
    group    int32[G, 4]     its CELL and COLUMN, -1 for a vacant one; FIRST of its members, of a
                             vacant one 1 + another vacant one; MEMBERS, how many
    member   int32[S, 3]     slot: the group that it is OF; the NEXT member and the one BEFORE, -1
                             for none
    dirty    int32[C]        the cells that are DIRTY, in any order
    ends     int64[8]        CELLS; ends of the columns, rows, NEARS and ORDERS in use; DIRTIES;
                             GROUPS, with vacant ones; 1 + a VACANT group, 0 for none

Blocks only move to the end of their array, and all are packed when it is full.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf
from nearcast.large_pages import in_large_pages
from nearcast.space import EARTH_RADIUS
from nearcast.trending._nearby.documents import larger
from nearcast.trending._nearby.places import distance, spot, way

X, Y, Z, U, V, REACH, FLOOR = 0, 1, 2, 3, 6, 9, 10
FIRST_COLUMN, COLUMNS, WIDTH, FIRST_ROW, ROWS, HEIGHT, NEAR, ORDER, DEPTH, NODE, DIRTY = range(11)
LOOKED = 11
GROUP, K, LISTED, STAMP = range(4)
LON, LAT, ALONG_U, ALONG_V, AT_X, AT_Y, AT_Z = range(7)
SLACK = 6
CELL, COLUMN, FIRST, MEMBERS = range(4)
OF, NEXT, BEFORE = range(3)
SOME_ROWS, ALL_LISTS = np.int64(1), np.int64(2)
CELLS, COLUMNS_END, ROWS_END, NEARS, ORDERS, DIRTIES, GROUPS, VACANT = range(8)
CAPACITY = 96  # columns; with more a cell is divided
ROUNDING = 1e-9  # of distances in a cell
TOO_WIDE = 0.02 * EARTH_RADIUS  # a larger cell is no plane any more
TOO_FAR = 2.5 * EARTH_RADIUS  # behind, distances bend the other way


class Cells(NamedTuple):
    """The arrays; see the module docstring."""

    frame: NDArray[np.float64]
    head: NDArray[np.int64]
    column: NDArray[np.int32]
    at: NDArray[np.float64]
    term: NDArray[np.int32]
    field: NDArray[np.float64]
    near: NDArray[np.float64]
    order: NDArray[np.int16]
    group: NDArray[np.int32]
    member: NDArray[np.int32]
    dirty: NDArray[np.int32]
    ends: NDArray[np.int64]


def no_cells() -> Cells:
    """The arrays of none."""
    return Cells(
        np.zeros((4, 11), np.float64),
        np.zeros((4, 12), np.int64),
        np.empty((16, 4), np.int32),
        np.empty((16, 7), np.float64),
        np.empty(16, np.int32),
        np.empty((16, 7), np.float64),
        np.empty(64, np.float64),
        np.empty(64, np.int16),
        np.empty((16, 4), np.int32),
        np.full((0, 3), -1, np.int32),
        np.empty(4, np.int32),
        np.zeros(8, np.int64),
    )


# ---------------------------------------------------------------- room


@leaf
def rows_up_to(count):
    """Room for rows, some to spare."""
    return (count + 4) // 4 * 4


@inner
def with_blocks(cells, columns, rows, nears, orders):
    """Arrays with room for so much more; all blocks are packed when there was none.  Amortised."""
    ends = cells.ends
    if (
        ends[COLUMNS_END] + columns <= len(cells.column)
        and ends[ROWS_END] + rows <= len(cells.term)
        and ends[NEARS] + nears <= len(cells.near)
        and ends[ORDERS] + orders <= len(cells.order)
    ):
        return cells
    live = np.zeros(4, np.int64)
    for c in range(ends[CELLS]):
        head = cells.head[c]
        needed = min(head[ROWS], rows_up_to(head[HEIGHT]))
        live[0] += head[COLUMNS]
        live[1] += needed
        live[2] += needed * head[COLUMNS]
        live[3] += head[DEPTH] * head[COLUMNS]
    packed = Cells(
        cells.frame, cells.head,
        in_large_pages(np.empty((live[0] + live[0] // 8 + columns, 4), np.int32)),
        in_large_pages(np.empty((live[0] + live[0] // 8 + columns, 7), np.float64)),
        in_large_pages(np.empty(live[1] + live[1] // 8 + rows, np.int32)),
        in_large_pages(np.empty((live[1] + live[1] // 8 + rows, 7), np.float64)),
        in_large_pages(np.empty(live[2] + live[2] // 8 + nears, np.float64)),
        in_large_pages(np.empty(live[3] + live[3] // 8 + orders, np.int16)),
        cells.group, cells.member, cells.dirty, ends,
    )  # fmt: skip
    ends[COLUMNS_END : ORDERS + 1] = 0
    for c in range(ends[CELLS]):
        head = cells.head[c]
        needed = min(head[ROWS], rows_up_to(head[HEIGHT]))
        move_cell(cells, packed, c, head[COLUMNS], needed, head[DEPTH])
    return packed


@inner
def move_cell(cells, target, c, columns, rows, depth):
    """The cell's blocks at the ends of the arrays of the target, with other sizes perhaps."""
    head, ends = cells.head[c], cells.ends
    first, row, near, order = ends[COLUMNS_END], ends[ROWS_END], ends[NEARS], ends[ORDERS]
    old_first, old_row, old_columns = head[FIRST_COLUMN], head[FIRST_ROW], head[COLUMNS]
    for j in range(head[WIDTH]):
        target.column[first + j] = cells.column[old_first + j]
        target.at[first + j] = cells.at[old_first + j]
        for p in range(cells.column[old_first + j, LISTED]):
            target.order[order + j * depth + p] = cells.order[head[ORDER] + j * head[DEPTH] + p]
    for i in range(head[HEIGHT]):
        target.term[row + i] = cells.term[old_row + i]
        target.field[row + i] = cells.field[old_row + i]
        for j in range(head[WIDTH]):
            target.near[near + i * columns + j] = cells.near[head[NEAR] + i * old_columns + j]
    ends[COLUMNS_END] += columns
    ends[ROWS_END] += rows
    ends[NEARS] += rows * columns
    ends[ORDERS] += depth * columns
    head[FIRST_COLUMN], head[COLUMNS] = first, columns
    head[FIRST_ROW], head[ROWS] = row, rows
    head[NEAR], head[ORDER], head[DEPTH] = near, order, depth


@inner
def resized(cells, c, columns, rows, depth):
    """A cell with room for so many columns and rows, and lists of so many terms.

    The arrays, which may be others now.  O(columns * rows).
    """
    cells = with_blocks(cells, columns, rows, rows * columns, depth * columns)
    move_cell(cells, cells, c, columns, rows, depth)
    return cells


@inner
def new_cell(cells):
    """The arrays, with one more cell that has nothing."""
    c = cells.ends[CELLS]
    if c == len(cells.head):
        cells = Cells(
            larger(cells.frame, 2 * c), larger(cells.head, 2 * c), cells.column, cells.at,
            cells.term, cells.field, cells.near, cells.order, cells.group, cells.member,
            larger(cells.dirty, 2 * c), cells.ends,
        )  # fmt: skip
    cells.ends[CELLS] = c + 1
    cells.frame[c] = 0.0
    cells.head[c] = 0
    return cells


@inner
def put_column(cells, c, k, lon, lat):
    """A new group, last in its cell, without members and a list: the arrays.  Amortised O(rows)."""
    head = cells.head[c]
    depth = min(np.int64(k), max(np.int64(4), head[ROWS]))
    if head[WIDTH] == head[COLUMNS] or depth > head[DEPTH]:
        width = head[WIDTH] + 1
        columns = head[COLUMNS]
        if width > columns:
            columns = width if width < 4 else width + width // 8
        cells = resized(cells, c, columns, head[ROWS], max(head[DEPTH], depth))
    at = head[FIRST_COLUMN] + head[WIDTH]
    cells, g = new_group(cells)
    column = cells.column[at]
    column[GROUP], column[K], column[LISTED], column[STAMP] = g, k, 0, -1
    cells.at[at, LON], cells.at[at, LAT] = lon, lat
    cells.group[g, CELL], cells.group[g, COLUMN] = c, head[WIDTH]
    head[WIDTH] += 1
    return cells


@inner
def take_column(cells, g):
    """A group leaves its cell and is vacant; the last one takes its place.  O(rows)."""
    c, j = cells.group[g, CELL], cells.group[g, COLUMN]
    head = cells.head[c]
    last = head[WIDTH] - 1
    first, near, order, depth = head[FIRST_COLUMN], head[NEAR], head[ORDER], head[DEPTH]
    if j < last:
        cells.column[first + j] = cells.column[first + last]
        cells.at[first + j] = cells.at[first + last]
        cells.group[cells.column[first + j, GROUP], COLUMN] = j
        for i in range(head[HEIGHT]):
            row = near + i * head[COLUMNS]
            cells.near[row + j] = cells.near[row + last]
        for p in range(cells.column[first + j, LISTED]):
            cells.order[order + j * depth + p] = cells.order[order + last * depth + p]
    head[WIDTH] = last
    cells.group[g, CELL], cells.group[g, COLUMN] = -1, -1
    cells.group[g, FIRST] = cells.ends[VACANT]
    cells.ends[VACANT] = 1 + g


# ---------------------------------------------------------------- members


@inner
def new_group(cells):
    """The arrays, and a group without members that is in no cell yet."""
    ends = cells.ends
    g = ends[VACANT] - 1
    if g >= 0:
        ends[VACANT] = cells.group[g, FIRST]
    else:
        g = ends[GROUPS]
        ends[GROUPS] = g + 1
        if g == len(cells.group):
            cells = Cells(
                cells.frame, cells.head, cells.column, cells.at, cells.term, cells.field,
                cells.near, cells.order, larger(cells.group, g + g // 4), cells.member,
                cells.dirty, ends,
            )  # fmt: skip
    cells.group[g, FIRST], cells.group[g, MEMBERS] = -1, 0
    return cells, g


@leaf
def column_for(cells, c, k, lon, lat):
    """The column of a cell for this place and k, -1 for none.  O(columns)."""
    first = cells.head[c, FIRST_COLUMN]
    for j in range(first, first + cells.head[c, WIDTH]):
        if cells.at[j, LON] == lon and cells.at[j, LAT] == lat and cells.column[j, K] == k:
            return j - first
    return np.int64(-1)


@leaf
def join(cells, g, slot):
    """One more member of a group, before all others.  O(1)."""
    group, member = cells.group[g], cells.member
    following = group[FIRST]
    member[slot, OF], member[slot, NEXT], member[slot, BEFORE] = g, following, -1
    if following >= 0:
        member[following, BEFORE] = slot
    group[FIRST] = slot
    group[MEMBERS] += 1


@leaf
def part(cells, slot):
    """A member leaves its group, which may have none then: the group.  O(1)."""
    member = cells.member
    g, following, before = member[slot, OF], member[slot, NEXT], member[slot, BEFORE]
    if before >= 0:
        member[before, NEXT] = following
    else:
        cells.group[g, FIRST] = following
    if following >= 0:
        member[following, BEFORE] = before
    member[slot] = -1
    cells.group[g, MEMBERS] -= 1
    return g


@leaf
def soil(cells, c, how):
    """The lists of the cell are to be looked at before the step ends."""
    if cells.head[c, DIRTY] == 0:
        cells.dirty[cells.ends[DIRTIES]] = c
        cells.ends[DIRTIES] += 1
    cells.head[c, DIRTY] = max(cells.head[c, DIRTY], how)


# ---------------------------------------------------------------- geometry


@inner
def place_middle(cells, c, rules):
    """Middle, directions and reach of a cell, from its columns.  O(columns)."""
    head, frame = cells.head[c], cells.frame[c]
    first, width = head[FIRST_COLUMN], head[WIDTH]
    low = np.full(3, np.inf)
    high = np.full(3, -np.inf)
    for j in range(first, first + width):
        x, y, z = spot(cells.at[j, LON], cells.at[j, LAT], rules.on_earth)
        low[0], low[1], low[2] = min(low[0], x), min(low[1], y), min(low[2], z)
        high[0], high[1], high[2] = max(high[0], x), max(high[1], y), max(high[2], z)
    x, y, z = (low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0, (low[2] + high[2]) / 2.0
    frame[U : V + 3] = 0.0
    frame[U], frame[V + 1] = 1.0, 1.0
    if rules.on_earth:
        up = math.sqrt(x * x + y * y + z * z)
        if up < 1.0:  # all around the Earth: any middle will do
            x, y, z = spot(cells.at[first, LON], cells.at[first, LAT], rules.on_earth)
            up = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / up, y / up, z / up
        # East, or any direction at the poles, and north of it.
        level = math.sqrt(x * x + y * y)
        ex, ey = (-y / level, x / level) if level > 1e-9 else (1.0, 0.0)
        frame[U], frame[U + 1], frame[U + 2] = ex, ey, 0.0
        frame[V], frame[V + 1], frame[V + 2] = -z * ey, z * ex, x * ey - y * ex
        x, y, z = x * EARTH_RADIUS, y * EARTH_RADIUS, z * EARTH_RADIUS
    frame[X], frame[Y], frame[Z] = x, y, z
    farthest = 0.0
    for j in range(first, first + width):
        farthest = max(farthest, place_column(frame, cells.at[j], rules))
    frame[REACH] = (1.0 + ROUNDING) * farthest


@leaf
def seen_from(frame, x, y, z, on_earth):
    """How far a spot is from the middle, and in which direction."""
    dx, dy, dz = x - frame[X], y - frame[Y], z - frame[Z]
    far = way(dx, dy, dz, on_earth)
    u = dx * frame[U] + dy * frame[U + 1] + dz * frame[U + 2]
    v = dx * frame[V] + dy * frame[V + 1] + dz * frame[V + 2]
    length = math.sqrt(u * u + v * v)
    if length > 0.0:
        return far, u / length, v / length
    return far, 1.0, 0.0


@leaf
def place_column(frame, at, rules):
    """Where the column is, seen from the middle: how far off."""
    x, y, z = spot(at[LON], at[LAT], rules.on_earth)
    far, u, v = seen_from(frame, x, y, z, rules.on_earth)
    at[ALONG_U], at[ALONG_V] = far * u, far * v
    at[AT_X], at[AT_Y], at[AT_Z] = x, y, z
    return far


@leaf
def column_distance(cells, j, lon, lat, x, y, z, rules):
    """From column j of all to a document: exact where there are no fields, else off by 1e-6."""
    if rules.field_error > 0.0:
        return way(
            cells.at[j, AT_X] - x, cells.at[j, AT_Y] - y, cells.at[j, AT_Z] - z, rules.on_earth
        )
    return distance(cells.at[j, LON], cells.at[j, LAT], lon, lat, rules.on_earth)


@leaf
def is_far(far, reach, rules):
    """Is the field good enough for a document so far from the middle?

    What the field leaves out begins with the third power of the distance to the middle, whose
    factor is at most that of `1 / (a + distance)` at the nearest place of the cell.
    """
    nearest = far - reach
    if nearest <= 0.0 or rules.field_error <= 0.0:
        return False
    if rules.on_earth and (reach > TOO_WIDE or far > TOO_FAR):
        return False
    t, u = reach / (rules.a + nearest), reach / nearest
    worst = t * (t * t + t * u + 0.5 * u * u)
    return worst * (rules.a + far + reach) <= rules.field_error * (rules.a + nearest)


@leaf
def far_field(far, u, v, rules):
    """The six coefficients of a document of weight 1."""
    value = 1.0 / (rules.a + far)
    slope = value * value
    bend = 2.0 * slope * value
    if rules.on_earth:
        angle = far / EARTH_RADIUS
        if angle > 1.0:
            turn = slope * math.cos(angle) / (math.sin(angle) * EARTH_RADIUS)
        else:  # the series of the cotangent, which is quicker
            q = angle * angle
            turn = slope / far * (1.0 - q * (1.0 / 3.0 + q * (1.0 / 45.0 + q * (2.0 / 945.0))))
    else:
        turn = slope / far
    return (
        value,
        slope * u,
        slope * v,
        0.5 * (bend * u * u - turn * v * v),
        (bend + turn) * u * v,
        0.5 * (bend * v * v - turn * u * u),
    )
