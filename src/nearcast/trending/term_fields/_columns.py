"""Columns of a cell: groups and their members.  The arrays are drawn in `_cells`."""

import numpy as np

from nearcast.inner import inner, leaf
from nearcast.trending._nearby.documents import larger
from nearcast.trending.term_fields._cells import (
    BEFORE,
    BLOCK,
    CELL,
    COLUMN,
    COLUMNS,
    DEPTH,
    FIRST,
    FIRST_COLUMN,
    GROUP,
    GROUPS,
    HEIGHT,
    LAT,
    LISTED,
    LON,
    MEMBERS,
    NEXT,
    OF,
    ORDER,
    ROWS,
    STAMP,
    VACANT,
    WIDTH,
    Cells,
    K,
    blocks_of,
    near_of,
)
from nearcast.trending.term_fields._room import with_blocks, with_columns


@inner
def put_column(cells, c, k, lon, lat):
    """A new group, last in its cell, without members and a list: the arrays.  Amortised O(rows)."""
    head = cells.head[c]
    depth = min(np.int64(k), max(np.int64(4), head[ROWS]))
    if head[WIDTH] == head[COLUMNS] or depth > head[DEPTH]:
        old = columns = head[COLUMNS]
        if head[WIDTH] == columns:
            columns = blocks_of(columns + 1 + columns // 8) * BLOCK
        cells = with_columns(cells, c, columns, max(head[DEPTH], depth))
        if columns > old:
            cells = with_blocks(cells, c, old // BLOCK)
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
            mine = near_of(cells, head, i, j // BLOCK)
            other = near_of(cells, head, i, last // BLOCK)
            cells.near[mine, j % BLOCK] = cells.near[other, last % BLOCK]
            cells.limit[mine] = min(cells.limit[mine], cells.limit[other])
        for p in range(cells.column[first + j, LISTED]):
            cells.order[order + j * depth + p] = cells.order[order + last * depth + p]
    head[WIDTH] = last
    cells.group[g, CELL], cells.group[g, COLUMN] = -1, -1
    cells.group[g, FIRST] = cells.ends[VACANT]
    cells.ends[VACANT] = 1 + g


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
