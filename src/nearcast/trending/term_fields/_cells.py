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
    head     int64[C, 11]    the FIRST_COLUMN of COLUMNS, whole blocks, of which WIDTH are in use;
                             the FIRST_ROW of ROWS, of which HEIGHT are in use; ORDER: column j has
                             the rows order[ORDER + j * DEPTH:][:LISTED], best first; NODE, see
                             `_tree`; DIRTY, SOME_LISTS when blocks with a row that has GROWN past
                             its limit are to be looked at, ALL_LISTS when all are; LOOKED, the
                             step in which all were
    column   int32[n, 4]     the GROUP; K; LISTED, how many terms its list has;
                             STAMP, the step in which its list was remembered
    at       float64[n, 5]   LON, LAT; the spot AT_X, AT_Y, AT_Z
    along    float64[n]      the place (along, across) from the middle
    across   float64[n]
    term     int32[m]        row: the term, each once in a cell
    field    float64[m, 8]   row: the six coefficients; how much the term may have GROWN anywhere in
                             the cell since it was 0; at most the NEXT limit that it comes to
    piece    int64[n/BLOCK]  of each block: its row i has near[piece + i] and limit[piece + i]
    near     float64[N, BLOCK]
    limit    float64[N]      up to there a row may grow before a list of the block can change
    order    int16[...]
    group    int32[G, 4]     its CELL and COLUMN, -1 for a vacant one; FIRST of its members, of a
                             vacant one 1 + another vacant one; MEMBERS, how many
    member   int32[S, 3]     slot: the group that it is OF; the NEXT member and the one BEFORE, -1
                             for none
    dirty    int32[C]        the cells that are DIRTY, in any order
    free     int64[KINDS, 4] for ROWS of ROWS / ROWS_TOGETHER: FREE_ROWS, the first of so many rows
                             that nobody uses, of ROW_PIECES; FREE_NEAR, the first piece of `near`
                             of NEAR_PIECES. What is there leads to the next ones
    ends     int64[8]        CELLS; ends of the columns, rows, NEARS and ORDERS in use; DIRTIES;
                             GROUPS, with vacant ones; 1 + a VACANT group, 0 for none

BLOCK columns that are neighbours are a *block*: what is looked at together. What is no longer in
use of rows and `near` is given to the next who needs as much; other arrays are used up to their
end. All are packed when one is full.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner, leaf
from nearcast.large_pages import in_large_pages
from nearcast.space import EARTH_RADIUS
from nearcast.trending._nearby.documents import larger
from nearcast.trending._nearby.places import (
    LONG_WAY,
    curvature_of,
    distance,
    short_way,
    spot,
    way,
)

X, Y, Z, U, V, REACH, FLOOR = 0, 1, 2, 3, 6, 9, 10
FIRST_COLUMN, COLUMNS, WIDTH, FIRST_ROW, ROWS, HEIGHT, ORDER, DEPTH, NODE, DIRTY, LOOKED = range(11)
GROUP, K, LISTED, STAMP = range(4)
LON, LAT, AT_X, AT_Y, AT_Z = range(5)
GROWN, NEXT_LIMIT = 6, 7
CELL, COLUMN, FIRST, MEMBERS = range(4)
OF, NEXT, BEFORE = range(3)
SOME_LISTS, ALL_LISTS = np.int64(1), np.int64(2)
CELLS, COLUMNS_END, ROWS_END, NEARS, ORDERS, DIRTIES, GROUPS, VACANT = range(8)
FREE_ROWS, ROW_PIECES, FREE_NEAR, NEAR_PIECES = range(4)
ROWS_TOGETHER = 4
NO_PIECE = -1
KINDS = 64  # cells with more rows are few
BLOCK = 16  # columns: two lines of the cache for each row
CAPACITY = 384  # columns; with more a cell is divided
ROUNDING = 1e-9  # of distances in a cell
TOO_WIDE = 0.02 * EARTH_RADIUS  # a larger cell is no plane any more
TOO_FAR = 2.5 * EARTH_RADIUS  # behind, distances bend the other way


class Cells(NamedTuple):
    """The arrays; see the module docstring."""

    frame: NDArray[np.float64]
    head: NDArray[np.int64]
    column: NDArray[np.int32]
    at: NDArray[np.float64]
    along: NDArray[np.float64]
    across: NDArray[np.float64]
    term: NDArray[np.int32]
    field: NDArray[np.float64]
    piece: NDArray[np.int64]
    near: NDArray[np.float64]
    limit: NDArray[np.float64]
    order: NDArray[np.int16]
    group: NDArray[np.int32]
    member: NDArray[np.int32]
    dirty: NDArray[np.int32]
    free: NDArray[np.int64]
    ends: NDArray[np.int64]


def no_cells() -> Cells:
    """The arrays of none."""
    return Cells(
        np.zeros((4, 11), np.float64),
        np.zeros((4, 11), np.int64),
        np.empty((16, 4), np.int32),
        np.empty((16, 5), np.float64),
        np.empty(16, np.float64),
        np.empty(16, np.float64),
        np.empty(16, np.int32),
        np.empty((16, 8), np.float64),
        np.empty(1, np.int64),
        np.empty((4, BLOCK), np.float64),
        np.empty(4, np.float64),
        np.empty(64, np.int16),
        np.empty((16, 4), np.int32),
        np.full((0, 3), -1, np.int32),
        np.empty(4, np.int32),
        np.zeros((KINDS, 4), np.int64),
        np.zeros(8, np.int64),
    )


# ---------------------------------------------------------------- room


@leaf
def rows_up_to(count):
    """Room for rows, some to spare."""
    return (count + ROWS_TOGETHER) // ROWS_TOGETHER * ROWS_TOGETHER


@leaf
def blocks_of(columns):
    """How many blocks have room for so many columns."""
    return (columns + BLOCK - 1) // BLOCK


@leaf
def near_of(piece, head, i, j):
    """Where `near` and `limit` have row i for the block of column j of a cell."""
    return piece[(head[FIRST_COLUMN] + j) // BLOCK] + i


@leaf
def take_rows(cells, rows):
    """So many rows that nobody uses: the first.  O(1)."""
    kind, ends = rows // ROWS_TOGETHER, cells.ends
    if kind < KINDS and cells.free[kind, ROW_PIECES] > 0:
        at = cells.free[kind, FREE_ROWS]
        cells.free[kind, FREE_ROWS] = cells.term[at]
        cells.free[kind, ROW_PIECES] -= 1
        return at
    ends[ROWS_END] += rows
    return ends[ROWS_END] - rows


@leaf
def take_near(cells, rows):
    """A piece of `near` for so many rows.  O(1)."""
    kind, ends = rows // ROWS_TOGETHER, cells.ends
    if kind < KINDS and cells.free[kind, NEAR_PIECES] > 0:
        at = cells.free[kind, FREE_NEAR]
        cells.free[kind, FREE_NEAR] = np.int64(cells.near[at, 0])
        cells.free[kind, NEAR_PIECES] -= 1
        return at
    ends[NEARS] += rows
    return ends[NEARS] - rows


@leaf
def give_rows(cells, at, rows):
    """Nobody uses these rows any more.  O(1)."""
    kind = rows // ROWS_TOGETHER
    if 0 < kind < KINDS:
        cells.term[at] = cells.free[kind, FREE_ROWS]
        cells.free[kind, FREE_ROWS] = at
        cells.free[kind, ROW_PIECES] += 1


@leaf
def give_near(cells, at, rows):
    """Nobody uses this piece of `near` any more.  O(1)."""
    kind = rows // ROWS_TOGETHER
    if 0 < kind < KINDS:
        cells.near[at, 0] = cells.free[kind, FREE_NEAR]
        cells.free[kind, FREE_NEAR] = at
        cells.free[kind, NEAR_PIECES] += 1


@leaf
def has_room(cells, columns, rows, blocks, orders):
    """Is there room for so many columns, for blocks of so many rows, and for lists?"""
    ends, kind = cells.ends, rows // ROWS_TOGETHER
    old_rows, old_pieces = 0, 0
    if kind < KINDS:
        old_rows = rows * min(1, cells.free[kind, ROW_PIECES])
        old_pieces = min(blocks, cells.free[kind, NEAR_PIECES])
    return (
        ends[COLUMNS_END] + columns <= len(cells.column)
        and ends[ROWS_END] + rows - old_rows <= len(cells.term)
        and ends[NEARS] + (blocks - old_pieces) * rows <= len(cells.near)
        and ends[ORDERS] + orders <= len(cells.order)
    )


@inner
def with_room_for_cell(cells, columns, rows, blocks, orders):
    """Arrays with room for so much more; all are packed when there was none.  Amortised."""
    if has_room(cells, columns, rows, blocks, orders):
        return cells
    ends, live = cells.ends, np.zeros(4, np.int64)
    for c in range(ends[CELLS]):
        head = cells.head[c]
        needed = min(head[ROWS], rows_up_to(head[HEIGHT]))
        live[0] += head[COLUMNS]
        live[1] += needed
        live[2] += needed * (head[COLUMNS] // BLOCK)
        live[3] += head[DEPTH] * head[COLUMNS]
    live += live // 8
    width, height = live[0] + columns, live[1] + rows
    nears = live[2] + rows * blocks
    packed = Cells(
        cells.frame, cells.head,
        in_large_pages(np.empty((width, 4), np.int32)),
        in_large_pages(np.empty((width, 5), np.float64)),
        in_large_pages(np.empty(width, np.float64)),
        in_large_pages(np.empty(width, np.float64)),
        in_large_pages(np.empty(height, np.int32)),
        in_large_pages(np.empty((height, 8), np.float64)),
        np.empty(blocks_of(width), np.int64),
        in_large_pages(np.empty((nears, BLOCK), np.float64)),
        in_large_pages(np.empty(nears, np.float64)),
        in_large_pages(np.empty(live[3] + orders, np.int16)),
        cells.group, cells.member, cells.dirty, cells.free, ends,
    )  # fmt: skip
    ends[COLUMNS_END : ORDERS + 1] = 0
    cells.free[:] = 0
    for c in range(ends[CELLS]):
        head = cells.head[c]
        needed = min(head[ROWS], rows_up_to(head[HEIGHT]))
        move_columns(cells, packed, c, head[COLUMNS], head[DEPTH])
        move_rows(cells, packed, c, needed)
    return packed


@inner
def move_columns(cells, target, c, columns, depth):
    """The cell's columns and lists at the ends of the arrays of the target.

    Their pieces of `near` are those they had. O(columns).
    """
    head, ends, old = cells.head[c], cells.ends, cells.head[c].copy()
    first, order = ends[COLUMNS_END], ends[ORDERS]
    for j in range(old[WIDTH]):
        target.column[first + j] = cells.column[old[FIRST_COLUMN] + j]
        target.at[first + j] = cells.at[old[FIRST_COLUMN] + j]
        for p in range(cells.column[old[FIRST_COLUMN] + j, LISTED]):
            target.order[order + j * depth + p] = cells.order[old[ORDER] + j * old[DEPTH] + p]
    for j in range(blocks_of(old[WIDTH]) * BLOCK):
        target.along[first + j] = cells.along[old[FIRST_COLUMN] + j]
        target.across[first + j] = cells.across[old[FIRST_COLUMN] + j]
    for b in range(columns // BLOCK):
        had = b < old[COLUMNS] // BLOCK
        piece = cells.piece[old[FIRST_COLUMN] // BLOCK + b] if had else np.int64(NO_PIECE)
        target.piece[first // BLOCK + b] = piece
    head[FIRST_COLUMN], head[COLUMNS], head[ORDER], head[DEPTH] = first, columns, order, depth
    ends[COLUMNS_END] += columns
    ends[ORDERS] += depth * columns


@inner
def move_rows(cells, target, c, rows):
    """The cell has rows and pieces of `near` of its own in the target.  O(columns * rows)."""
    head, old = cells.head[c], cells.head[c].copy()
    row, height = take_rows(target, rows), old[HEIGHT]
    target.term[row : row + height] = cells.term[old[FIRST_ROW] : old[FIRST_ROW] + height]
    target.field[row : row + height] = cells.field[old[FIRST_ROW] : old[FIRST_ROW] + height]
    head[FIRST_ROW], head[ROWS] = row, rows
    first = head[FIRST_COLUMN] // BLOCK
    for b in range(first, first + head[COLUMNS] // BLOCK):
        source, to = target.piece[b], take_near(target, rows)
        target.piece[b] = to
        if b < first + blocks_of(head[WIDTH]) and source != NO_PIECE:
            target.near[to : to + height] = cells.near[source : source + height]
            target.limit[to : to + height] = cells.limit[source : source + height]


@inner
def resized(cells, c, columns, rows, depth):
    """A cell with room for so many columns and rows, and lists of so many terms.

    The arrays, which may be others now.  O(columns * rows).
    """
    head, blocks = cells.head[c], columns // BLOCK
    if columns != head[COLUMNS] or depth != head[DEPTH]:
        cells = with_room_for_cell(cells, columns, rows, blocks, depth * columns)
        old_first, old_columns = head[FIRST_COLUMN], head[COLUMNS]
        move_columns(cells, cells, c, columns, depth)
        for b in range(blocks, old_columns // BLOCK):
            give_near(cells, cells.piece[old_first // BLOCK + b], head[ROWS])
    else:
        cells = with_room_for_cell(cells, 0, rows, blocks, 0)
    old_pieces = cells.piece[head[FIRST_COLUMN] // BLOCK :][:blocks].copy()
    old_row, old_rows = head[FIRST_ROW], head[ROWS]
    move_rows(cells, cells, c, rows)
    give_rows(cells, old_row, old_rows)
    for old in old_pieces:
        if old != NO_PIECE:
            give_near(cells, old, old_rows)
    return cells


@inner
def new_cell(cells):
    """The arrays, with one more cell that has nothing."""
    c = cells.ends[CELLS]
    if c == len(cells.head):
        cells = Cells(
            larger(cells.frame, 2 * c), larger(cells.head, 2 * c), cells.column, cells.at,
            cells.along, cells.across, cells.term, cells.field, cells.piece, cells.near,
            cells.limit, cells.order, cells.group, cells.member, larger(cells.dirty, 2 * c),
            cells.free, cells.ends,
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
        columns = head[COLUMNS]
        if head[WIDTH] == columns:
            columns = blocks_of(columns + 1 + columns // 8) * BLOCK
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
    first, order, depth = head[FIRST_COLUMN], head[ORDER], head[DEPTH]
    if j < last:
        cells.column[first + j] = cells.column[first + last]
        cells.at[first + j] = cells.at[first + last]
        cells.group[cells.column[first + j, GROUP], COLUMN] = j
        cells.along[first + j], cells.across[first + j] = (
            cells.along[first + last], cells.across[first + last]
        )  # fmt: skip
        for i in range(head[HEIGHT]):
            mine, other = near_of(cells.piece, head, i, j), near_of(cells.piece, head, i, last)
            cells.near[mine, j % BLOCK] = cells.near[other, last % BLOCK]
            cells.limit[mine] = min(cells.limit[mine], cells.limit[other])
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
                cells.frame, cells.head, cells.column, cells.at, cells.along, cells.across,
                cells.term, cells.field, cells.piece, cells.near, cells.limit, cells.order,
                larger(cells.group, g + g // 4), cells.member, cells.dirty, cells.free, ends,
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
        farthest = max(farthest, place_column(cells, frame, j, rules))
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
def place_column(cells, frame, j, rules):
    """Where column j of all is, seen from the middle: how far off."""
    at = cells.at[j]
    x, y, z = spot(at[LON], at[LAT], rules.on_earth)
    far, u, v = seen_from(frame, x, y, z, rules.on_earth)
    cells.along[j], cells.across[j] = far * u, far * v
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


@njit(cache=True, nogil=True, error_model="numpy")
def closeness(at, x, y, z, a, curvature, own):
    """What a document of weight 1 counts at each of some columns.  Several at a time.

    `curvature` as in `short_way`; nobody is a LONG_WAY off.
    """
    for j in range(len(at)):
        dx, dy, dz = at[j, AT_X] - x, at[j, AT_Y] - y, at[j, AT_Z] - z
        own[j] = 1.0 / (a + short_way(math.sqrt(dx * dx + dy * dy + dz * dz), curvature))


@leaf
def near_columns(cells, c, lon, lat, x, y, z, far, rules, own):
    """What a document of weight 1 counts at each column of a cell, whose middle is `far` off."""
    first, width = cells.head[c, FIRST_COLUMN], cells.head[c, WIDTH]
    is_short = not rules.on_earth or far + cells.frame[c, REACH] < LONG_WAY
    if rules.field_error > 0.0 and is_short:
        at = cells.at[first : first + width]
        closeness(at, x, y, z, rules.a, curvature_of(rules.on_earth), own)
        return
    for j in range(width):
        own[j] = 1.0 / (rules.a + column_distance(cells, first + j, lon, lat, x, y, z, rules))


@leaf
def has_fields(reach, rules):
    """May a cell of this reach have documents in its fields?"""
    return rules.field_error > 0.0 and not (rules.on_earth and reach > TOO_WIDE)


@leaf
def is_far(far, reach, rules):
    """Is the field good enough for a document so far from the middle?"""
    if not has_fields(reach, rules) or (rules.on_earth and far > TOO_FAR):
        return False
    return is_smooth(far, reach, rules.a, rules.field_error)


@leaf
def is_smooth(far, reach, a, field_error):
    """Does the field of a plane leave out so little, of a document so far from the middle?

    What the field leaves out begins with the third power of the distance to the middle, whose
    factor is at most that of `1 / (a + distance)` at the nearest place of the cell. No branch and
    no division.
    """
    near = far - reach
    most = a + near
    worst = reach * reach * reach * (near * near + near * most + 0.5 * most * most)
    allowed = field_error * most * most * most * most * near * near
    return (near > 0.0) & (worst * (a + far + reach) <= allowed)


@leaf
def short_turn(turn, angle):
    """What it would be in a plane, on the Earth: the series of the cotangent of a small angle."""
    q = angle * angle
    return turn * (1.0 - q * (1.0 / 3.0 + q * (1.0 / 45.0 + q * (2.0 / 945.0))))


@leaf
def far_field(far, u, v, rules):
    """The six coefficients of a document of weight 1."""
    value = 1.0 / (rules.a + far)
    slope = value * value
    if rules.on_earth:
        angle = far / EARTH_RADIUS
        if angle > 1.0:
            turn = slope * math.cos(angle) / (math.sin(angle) * EARTH_RADIUS)
        else:
            turn = short_turn(slope / far, angle)
    else:
        turn = slope / far
    return coefficients(value, turn, u, v)


@leaf
def coefficients(value, turn, u, v):
    """Those of a field that has this value in the middle, and turns so much with the direction."""
    slope = value * value
    bend = 2.0 * slope * value
    return (
        value,
        slope * u,
        slope * v,
        0.5 * (bend * u * u - turn * v * v),
        (bend + turn) * u * v,
        0.5 * (bend * v * v - turn * u * u),
    )
