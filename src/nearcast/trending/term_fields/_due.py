"""Dirty cells: which blocks are to be looked at, and asking for their memory before it is needed.

Memory that one step asks for tells the next what else it needs: the head of a cell where its rows
are, rows which of them may be beyond a limit, limits which blocks these are. So some cells go
through each step together.
"""

import numpy as np

from nearcast.inner import inner, leaf
from nearcast.prefetch import prefetch_row
from nearcast.trending._nearby.documents import larger
from nearcast.trending._nearby.touched import with_room
from nearcast.trending.term_fields._cells import (
    ALL_LISTS,
    BLOCK,
    DEPTH,
    DIRTIES,
    DIRTY,
    FIRST_COLUMN,
    FIRST_ROW,
    FLOOR,
    GROWN,
    HEIGHT,
    NEXT_LIMIT,
    ORDER,
    ROWS_SHIFT,
    ROWS_TOGETHER,
    WIDTH,
    blocks_of,
    near_of,
)
from nearcast.trending.term_fields._lists import (
    look_at_block,
    look_at_cell,
    next_limit,
    room_to_look,
    score_block,
)

NUMBERS_OF_A_LINE = 8  # of the cache
FAR_GROWN = 1e4  # times the floor of a cell: limits are off by a millionth of a millionth of it
TOGETHER = 32  # cells
AHEAD = 4  # blocks


@inner
def clean(cells, tree, touched, spelling, rules):
    """Lists of dirty cells are right again."""
    dirty, count = cells.dirty, cells.ends[DIRTIES]
    due, beyond = np.empty(1024, np.int64), np.empty(1024, np.int64)
    room = room_to_look(np.int64(0), np.int64(0))
    for first in range(0, count, TOGETHER):
        end = min(first + TOGETHER, count)
        height, depth = ask_for_cells(cells, dirty[first:end])
        for n in range(first, end):
            c = np.int64(dirty[n])
            if cells.head[c, DIRTY] == ALL_LISTS or rules.patience <= 0.0:
                cells.head[c, DIRTY] = 0
                tree, touched = look_at_cell(cells, tree, c, touched, spelling, rules)
        if len(room[0]) < height or len(room[-1]) < depth:
            room = room_to_look(2 * height, 2 * depth)
        due, due_count, beyond, beyond_count = what_is_due(cells, dirty[first:end], due, beyond)
        for n in range(-AHEAD, due_count):
            if n + AHEAD < due_count:
                ask_for_block(cells, due[n + AHEAD] >> 32, due[n + AHEAD] & 0xFFFFFFFF)
            if n >= 0:
                c, b = due[n] >> 32, due[n] & 0xFFFFFFFF
                touched = with_room(touched, BLOCK, BLOCK * cells.head[c, DEPTH])
                score_block(cells, c, b, room[0])
                look_at_block(cells, c, b, room, touched, spelling, rules)
        for n in range(beyond_count):
            next_limit(cells, beyond[n] >> 32, beyond[n] & 0xFFFFFFFF)
        for n in range(first, end):
            cells.head[dirty[n], DIRTY] = 0
    cells.ends[DIRTIES] = 0
    return tree, touched


@leaf
def ask_for_cells(cells, some):
    """What tells which blocks of cells are due is on its way: the most rows, the longest lists."""
    last_of_head, last_of_frame = cells.head[:, DEPTH:], cells.frame[:, FLOOR:]
    for c in some:
        prefetch_row(cells.head, c)
        prefetch_row(last_of_head, c)
        prefetch_row(last_of_frame, c)
    height, depth = np.int64(0), np.int64(0)
    for c in some:
        head = cells.head[c]
        height, depth = max(height, head[HEIGHT]), max(depth, head[DEPTH])
        for row in range(head[FIRST_ROW], head[FIRST_ROW] + head[HEIGHT]):
            prefetch_row(cells.field, row)
        for row in range(head[FIRST_ROW], head[FIRST_ROW] + head[HEIGHT], 2 * NUMBERS_OF_A_LINE):
            prefetch_row(cells.term, row)
        for i in range(0, head[HEIGHT], NUMBERS_OF_A_LINE * ROWS_TOGETHER):
            prefetch_row(cells.piece, (head[FIRST_ROW] + i) >> ROWS_SHIFT)
    for c in some:
        head = cells.head[c]
        for i in range(head[HEIGHT]):
            field = cells.field[head[FIRST_ROW] + i]
            if field[GROWN] > field[NEXT_LIMIT]:
                for b in range(0, blocks_of(head[WIDTH]), NUMBERS_OF_A_LINE // ROWS_TOGETHER):
                    prefetch_row(cells.limit, near_of(cells, head, i, b))
    return height, depth


@inner
def what_is_due(cells, some, due, beyond):
    """Blocks of which a row may have grown past its limit, (cell << 32 | block of each, count), and
    rows that have, (cell << 32 | row of each, count).  O(rows), O(blocks) for those beyond."""
    due_count, beyond_count = np.int64(0), np.int64(0)
    for c in some:
        c = np.int64(c)
        head = cells.head[c]
        if head[DIRTY] == 0:
            continue
        height, blocks = head[HEIGHT], blocks_of(head[WIDTH])
        if due_count + blocks > len(due):
            due = larger(due, 2 * (due_count + blocks))
        if beyond_count + height > len(beyond):
            beyond = larger(beyond, 2 * (beyond_count + height))
        begin_at_zero(cells, c)
        mine = beyond_count
        for i in range(height):
            field = cells.field[head[FIRST_ROW] + i]
            beyond[beyond_count] = c << 32 | i
            beyond_count += field[GROWN] > field[NEXT_LIMIT]
        for b in range(blocks):
            is_due = False
            for n in range(mine, beyond_count):
                i = beyond[n] & 0xFFFFFFFF
                grown = cells.field[head[FIRST_ROW] + i, GROWN]
                is_due |= cells.limit[near_of(cells, head, i, b)] < grown
            due[due_count] = c << 32 | b
            due_count += is_due
    return due, due_count, beyond, beyond_count


@leaf
def begin_at_zero(cells, c):
    """Rows have grown by nothing again, if one has by so much that a little more would be lost.

    It may be many times what rows have, where a cell is wide.  O(rows), O(rows * blocks) rarely.
    """
    head, most = cells.head[c], 0.0
    fields = cells.field[head[FIRST_ROW] : head[FIRST_ROW] + head[HEIGHT]]
    for field in fields:
        most = max(most, field[GROWN])
    if most <= FAR_GROWN * cells.frame[c, FLOOR]:
        return
    for b in range(blocks_of(head[WIDTH])):
        for i in range(len(fields)):
            cells.limit[near_of(cells, head, i, b)] -= fields[i, GROWN]
    for field in fields:
        field[NEXT_LIMIT] -= field[GROWN]
        field[GROWN] = 0.0


@leaf
def ask_for_block(cells, c, b):
    """What is read of a block is on its way.  O(rows)."""
    head, half = cells.head[c], cells.near[:, NUMBERS_OF_A_LINE:]
    first = head[FIRST_COLUMN] + b * BLOCK
    for i in range(head[HEIGHT]):
        at = near_of(cells, head, i, b)
        prefetch_row(cells.near, at)
        prefetch_row(half, at)
    for i in range(0, head[HEIGHT], ROWS_TOGETHER):
        prefetch_row(cells.limit, near_of(cells, head, i, b))
    for j in range(first, first + BLOCK, NUMBERS_OF_A_LINE):
        prefetch_row(cells.along, j)
        prefetch_row(cells.across, j)
        prefetch_row(cells.column, j)
        prefetch_row(cells.column, j + NUMBERS_OF_A_LINE // 2)
    order = head[ORDER] + b * BLOCK * head[DEPTH]
    for at in range(order, order + BLOCK * head[DEPTH], 2 * NUMBERS_OF_A_LINE):
        prefetch_row(cells.order, at)
