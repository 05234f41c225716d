"""Who has which part of the arrays.  They are drawn in `_cells`.

Three kinds of parts. Columns and lists are taken from the end of their arrays, and are packed when
that is reached: cells get others only when people come. Rows and pieces of `near` come and go with
documents: what is given up is kept for the next who needs as much. A piece is for ROWS_TOGETHER
rows of one cell, so that a cell gets more rows and loses some without any of its numbers moving.
"""

import numpy as np

from nearcast.inner import inner, leaf
from nearcast.large_pages import in_large_pages
from nearcast.trending.term_fields._cells import (
    BLOCK,
    CELLS,
    COLUMNS,
    COLUMNS_END,
    DEPTH,
    FIRST_COLUMN,
    FIRST_ROW,
    FREE_NEAR,
    FREE_ROWS,
    HEIGHT,
    KINDS,
    LISTED,
    NEAR_PIECES,
    NEARS,
    NO_PIECE,
    ORDER,
    ORDERS,
    ROW_PIECES,
    ROWS,
    ROWS_END,
    ROWS_SHIFT,
    WIDTH,
    Cells,
    blocks_of,
)


@inner
def tidy(cells):
    """The arrays, packed where more than an eighth of them was given up.  Amortised.

    Then the parts of a cell lie side by side again.
    """
    free_rows, free_blocks = np.int64(0), np.int64(0)
    for kind in range(KINDS):
        free_rows += kind * cells.free[kind, ROW_PIECES]
        free_blocks += kind * cells.free[kind, NEAR_PIECES]
    if 8 * (free_rows << ROWS_SHIFT) > cells.ends[ROWS_END]:
        cells = packed_rows(cells, np.int64(0))
    if 8 * (free_blocks << ROWS_SHIFT) > cells.ends[NEARS]:
        cells = packed_near(cells, np.int64(0))
    return cells


# ---------------------------------------------------------------- columns and lists


@inner
def with_columns(cells, c, columns, depth):
    """A cell has so many columns, with lists of so many terms: the arrays.  O(columns).

    Its pieces of `near` have as many blocks as before: see `with_blocks`.
    """
    ends, asked = cells.ends, depth * columns
    if ends[COLUMNS_END] + columns > len(cells.column) or ends[ORDERS] + asked > len(cells.order):
        cells = packed_columns(cells, columns, asked)
    move_columns(cells, cells, c, columns, depth)
    return cells


@inner
def packed_columns(cells, more, more_orders):
    """The arrays, in which columns and lists lie side by side, with room for more.  Amortised."""
    ends, width, orders = cells.ends, np.int64(0), np.int64(0)
    for c in range(ends[CELLS]):
        head = cells.head[c]
        width += head[COLUMNS]
        orders += head[DEPTH] * head[COLUMNS]
    width, orders = width + width // 8 + more, orders + orders // 8 + more_orders
    packed = Cells(
        cells.frame, cells.head,
        in_large_pages(np.empty((width, 4), np.int32)),
        in_large_pages(np.empty((width, 5), np.float64)),
        in_large_pages(np.empty(width, np.float64)),
        in_large_pages(np.empty(width, np.float64)),
        cells.term, cells.field, cells.piece, cells.near, cells.limit,
        in_large_pages(np.empty(orders, np.int32)),
        cells.group, cells.member, cells.dirty, cells.free, ends,
    )  # fmt: skip
    ends[COLUMNS_END], ends[ORDERS] = 0, 0
    for c in range(ends[CELLS]):
        move_columns(cells, packed, c, cells.head[c, COLUMNS], cells.head[c, DEPTH])
    return packed


@inner
def move_columns(cells, target, c, columns, depth):
    """The cell's columns and lists at the ends of the arrays of the target.  O(columns)."""
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
    head[FIRST_COLUMN], head[COLUMNS], head[ORDER], head[DEPTH] = first, columns, order, depth
    ends[COLUMNS_END] += columns
    ends[ORDERS] += depth * columns


# ---------------------------------------------------------------- rows


@inner
def with_rows(cells, c, rows):
    """A cell has room for so many rows, and keeps what it has: the arrays.  O(rows)."""
    cells = with_spare_rows(cells, rows)
    old, count = cells.head[c, FIRST_ROW], cells.head[c, ROWS]
    move_rows(cells, cells, c, rows)
    give_rows(cells, old, count)
    return cells


@inner
def with_spare_rows(cells, rows):
    """So many rows, one after the other, are nobody's: the arrays.  O(1) amortised."""
    kind = rows >> ROWS_SHIFT
    is_free = kind < KINDS and cells.free[min(kind, KINDS - 1), ROW_PIECES] > 0
    if not is_free and cells.ends[ROWS_END] + rows > len(cells.term):
        cells = packed_rows(cells, rows)
    return cells


@inner
def copy_rows(cells, c):
    """A cell with the rows of another gets its own, which are there, without pieces.  O(rows)."""
    head = cells.head[c]
    move_rows(cells, cells, c, head[ROWS])
    for at in range(head[FIRST_ROW] >> ROWS_SHIFT, (head[FIRST_ROW] + head[ROWS]) >> ROWS_SHIFT):
        cells.piece[at] = NO_PIECE


@inner
def packed_rows(cells, more):
    """The arrays, in which rows lie side by side, with room for more.  Amortised."""
    ends, height = cells.ends, np.int64(0)
    for c in range(ends[CELLS]):
        height += cells.head[c, ROWS]
    height = 2 * height + more
    packed = Cells(
        cells.frame, cells.head, cells.column, cells.at, cells.along, cells.across,
        in_large_pages(np.empty(height, np.int32)),
        in_large_pages(np.empty((height, 8), np.float64)),
        in_large_pages(np.empty(height >> ROWS_SHIFT, np.int64)),
        cells.near, cells.limit, cells.order, cells.group, cells.member, cells.dirty, cells.free,
        ends,
    )  # fmt: skip
    ends[ROWS_END] = 0
    cells.free[:, FREE_ROWS], cells.free[:, ROW_PIECES] = 0, 0
    for c in range(ends[CELLS]):
        move_rows(cells, packed, c, cells.head[c, ROWS])
    return packed


@inner
def move_rows(cells, target, c, rows):
    """The cell has other rows, in the target, with the same pieces of `near`.  O(rows)."""
    head = cells.head[c]
    old, height, row = head[FIRST_ROW], head[HEIGHT], take_rows(target, rows)
    target.term[row : row + height] = cells.term[old : old + height]
    target.field[row : row + height] = cells.field[old : old + height]
    for q in range(rows >> ROWS_SHIFT):
        had = q < head[ROWS] >> ROWS_SHIFT
        piece = cells.piece[(old >> ROWS_SHIFT) + q] if had else np.int64(NO_PIECE)
        target.piece[(row >> ROWS_SHIFT) + q] = piece
    head[FIRST_ROW], head[ROWS] = row, rows


@leaf
def take_rows(cells, rows):
    """So many rows that nobody uses: the first.  O(1)."""
    kind, ends = rows >> ROWS_SHIFT, cells.ends
    if kind < KINDS and cells.free[kind, ROW_PIECES] > 0:
        at = cells.free[kind, FREE_ROWS]
        cells.free[kind, FREE_ROWS] = cells.term[at]
        cells.free[kind, ROW_PIECES] -= 1
        return at
    ends[ROWS_END] += rows
    return ends[ROWS_END] - rows


@leaf
def give_rows(cells, at, rows):
    """Nobody uses these rows any more.  O(1)."""
    kind = rows >> ROWS_SHIFT
    if 0 < kind < KINDS:
        cells.term[at] = cells.free[kind, FREE_ROWS]
        cells.free[kind, FREE_ROWS] = at
        cells.free[kind, ROW_PIECES] += 1


# ---------------------------------------------------------------- pieces of near


@inner
def with_piece(cells, c, i):
    """Row i of a cell has a piece of `near`: the arrays.  O(1) amortised."""
    head = cells.head[c]
    at = (head[FIRST_ROW] + i) >> ROWS_SHIFT
    if cells.piece[at] == NO_PIECE:
        blocks = head[COLUMNS] // BLOCK
        if not has_near(cells, blocks):
            cells = packed_near(cells, blocks)
        cells.piece[at] = take_near(cells, blocks)
    return cells


@inner
def with_blocks(cells, c, old_blocks):
    """A cell that has more blocks than before has larger pieces: the arrays.  O(columns * rows)."""
    head = cells.head[c]
    first = head[FIRST_ROW] >> ROWS_SHIFT
    had = cells.piece[first : first + (head[ROWS] >> ROWS_SHIFT)].copy()
    size = old_blocks << ROWS_SHIFT
    near, limit = np.empty((len(had) * size, BLOCK)), np.empty(len(had) * size)
    for q in range(len(had)):
        if had[q] != NO_PIECE:
            near[q * size : (q + 1) * size] = cells.near[had[q] : had[q] + size]
            limit[q * size : (q + 1) * size] = cells.limit[had[q] : had[q] + size]
            give_near(cells, had[q], old_blocks)
            cells.piece[first + q] = NO_PIECE
    for q in range(len(had)):
        if had[q] != NO_PIECE:
            cells = with_piece(cells, c, q << ROWS_SHIFT)
            at = cells.piece[first + q]
            cells.near[at : at + size] = near[q * size : (q + 1) * size]
            cells.limit[at : at + size] = limit[q * size : (q + 1) * size]
    return cells


@leaf
def give_pieces(cells, head, rows, blocks):
    """The pieces of a cell behind so many rows are anybody's."""
    begin, end = head[FIRST_ROW] + rows, head[FIRST_ROW] + head[ROWS]
    for at in range(begin >> ROWS_SHIFT, end >> ROWS_SHIFT):
        if cells.piece[at] != NO_PIECE:
            give_near(cells, cells.piece[at], blocks)
            cells.piece[at] = NO_PIECE


@leaf
def has_near(cells, blocks):
    """Is there a piece for so many blocks?  O(KINDS)."""
    is_there = cells.ends[NEARS] + (blocks << ROWS_SHIFT) <= len(cells.near)
    for kind in range(blocks, KINDS):
        is_there |= cells.free[kind, NEAR_PIECES] > 0
    return is_there


@leaf
def take_near(cells, blocks):
    """A piece for so many blocks, of which there is one: where it is.  O(KINDS).

    One that was given up, as large; else the end of the array; else a part of a larger one.
    """
    ends, size = cells.ends, blocks << ROWS_SHIFT
    is_room = ends[NEARS] + size <= len(cells.near)
    for kind in range(blocks, KINDS):
        if kind > blocks and is_room:
            break
        if cells.free[kind, NEAR_PIECES] > 0:
            at = cells.free[kind, FREE_NEAR]
            cells.free[kind, FREE_NEAR] = np.int64(cells.near[at, 0])
            cells.free[kind, NEAR_PIECES] -= 1
            give_near(cells, at + size, kind - blocks)
            return at
    ends[NEARS] += size
    return ends[NEARS] - size


@leaf
def give_near(cells, at, blocks):
    """Nobody uses this piece for so many blocks any more.  O(1)."""
    if 0 < blocks < KINDS:
        cells.near[at, 0] = cells.free[blocks, FREE_NEAR]
        cells.free[blocks, FREE_NEAR] = at
        cells.free[blocks, NEAR_PIECES] += 1


@inner
def packed_near(cells, more):
    """The arrays, in which pieces lie side by side, with room for more blocks.  Amortised."""
    ends, total = cells.ends, np.int64(0)
    for c in range(ends[CELLS]):
        head = cells.head[c]
        for q in range(head[ROWS] >> ROWS_SHIFT):
            if cells.piece[(head[FIRST_ROW] >> ROWS_SHIFT) + q] != NO_PIECE:
                total += head[COLUMNS] // BLOCK << ROWS_SHIFT
    total = 2 * total + (more << ROWS_SHIFT)
    packed = Cells(
        cells.frame, cells.head, cells.column, cells.at, cells.along, cells.across, cells.term,
        cells.field, cells.piece,
        in_large_pages(np.empty((total, BLOCK), np.float64)),
        in_large_pages(np.empty(total, np.float64)),
        cells.order, cells.group, cells.member, cells.dirty, cells.free, ends,
    )  # fmt: skip
    ends[NEARS] = 0
    cells.free[:, FREE_NEAR], cells.free[:, NEAR_PIECES] = 0, 0
    for c in range(ends[CELLS]):
        head = cells.head[c]
        blocks = head[COLUMNS] // BLOCK
        size = blocks << ROWS_SHIFT
        for q in range(head[ROWS] >> ROWS_SHIFT):
            at = (head[FIRST_ROW] >> ROWS_SHIFT) + q
            old = cells.piece[at]
            if old != NO_PIECE:
                to = take_near(packed, blocks)
                packed.near[to : to + size] = cells.near[old : old + size]
                packed.limit[to : to + size] = cells.limit[old : old + size]
                cells.piece[at] = to
    return packed


@inner
def scale_near(cells, scale):
    """All that pieces have is so many times what it was."""
    for c in range(cells.ends[CELLS]):
        head = cells.head[c]
        size = head[COLUMNS] // BLOCK << ROWS_SHIFT
        for q in range(head[ROWS] >> ROWS_SHIFT):
            at = cells.piece[(head[FIRST_ROW] >> ROWS_SHIFT) + q]
            if at != NO_PIECE:
                cells.near[at : at + size] *= scale
                cells.limit[at : at + size] *= scale
