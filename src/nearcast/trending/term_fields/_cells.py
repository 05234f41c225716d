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
    piece    int64[m/4]      of ROWS_TOGETHER rows: where they have `near` and `limit`, those for a
                             block after those for another; NO_PIECE where no row is in use
    near     float64[N, BLOCK]
    limit    float64[N]      up to there a row may grow before a list of the block can change
    order    int32[...]
    group    int32[G, 4]     its CELL and COLUMN, -1 for a vacant one; FIRST of its members, of a
                             vacant one 1 + another vacant one; MEMBERS, how many
    member   int32[S, 3]     slot: the group that it is OF; the NEXT member and the one BEFORE, -1
                             for none
    dirty    int32[C]        the cells that are DIRTY, in any order
    free     int64[KINDS, 4] for ROWS of ROWS / ROWS_TOGETHER: FREE_ROWS, the first of so many rows
                             that nobody uses, of ROW_PIECES; for so many blocks: FREE_NEAR, the
                             first piece of `near` of NEAR_PIECES. What is there leads to the next
    ends     int64[8]        CELLS; ends of the columns, rows, NEARS and ORDERS in use; DIRTIES;
                             GROUPS, with vacant ones; 1 + a VACANT group, 0 for none

BLOCK columns that are neighbours are a *block*: what is looked at together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf
from nearcast.trending._nearby.documents import larger

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
ROWS_SHIFT = 2
ROWS_TOGETHER = 1 << ROWS_SHIFT
NO_PIECE = -1
KINDS = 64  # cells with more rows or blocks are few
BLOCK = 16  # columns: two lines of the cache for each row
CAPACITY = 384  # columns; with more a cell is divided


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
    order: NDArray[np.int32]
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
        np.empty(4, np.int64),
        np.empty((4, BLOCK), np.float64),
        np.empty(4, np.float64),
        np.empty(64, np.int32),
        np.empty((16, 4), np.int32),
        np.full((0, 3), -1, np.int32),
        np.empty(4, np.int32),
        np.zeros((KINDS, 4), np.int64),
        np.zeros(8, np.int64),
    )


@leaf
def blocks_of(columns):
    """How many blocks have room for so many columns."""
    return (columns + BLOCK - 1) // BLOCK


@leaf
def rows_up_to(count):
    """Room for rows, some to spare."""
    return (count + ROWS_TOGETHER) // ROWS_TOGETHER * ROWS_TOGETHER


@leaf
def near_of(cells, head, i, b):
    """Where `near` and `limit` have row i of a cell for its block b."""
    piece = cells.piece[(head[FIRST_ROW] + i) >> ROWS_SHIFT]
    return piece + (b << ROWS_SHIFT) + (i & (ROWS_TOGETHER - 1))


@leaf
def soil(cells, c, how):
    """The lists of the cell are to be looked at before the step ends."""
    if cells.head[c, DIRTY] == 0:
        cells.dirty[cells.ends[DIRTIES]] = c
        cells.ends[DIRTIES] += 1
    cells.head[c, DIRTY] = max(cells.head[c, DIRTY], how)


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
