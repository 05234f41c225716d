"""Packing many entries into an R-tree of cache lines.

arena   int32[A, 8]   entries to place: entry, slot, flags, key (a keyword), and the box in the
                      steps of `_frame`: west, south, east, north

Entries are halved again and again along the border, of the four, in which they differ most, until
they fill leaves; so those of a leaf are alike in place and in size. Halves are multiples of what a
block of the level holds, so that inner blocks are full.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import FORBIDS, MORE, NO_WORD
from nearcast.boolean.rarest_word_tree._layout import (
    FIRST_OF_PAIR,
    MOST_LANES,
    PAIR,
    SECOND_OF_PAIR,
    border_at,
    claim_lanes,
    ints_of,
    number_at,
    shorts_of,
)
from nearcast.inner import inner, leaf

# Columns of the arena; 4-7 are west, south, east, north.
ENTRY, SLOT, FLAGS, KEY, BOX = 0, 1, 2, 3, 4

LEAF_FILL = 15  # lanes of a new leaf: room for a few more before it is split


@leaf
def next_word(clauses, entry, depth):
    """The keyword that comes after the `depth` rarest, or -1."""
    left = np.int64(clauses.required[entry]) - depth
    if left <= 0:
        return np.int64(-1)
    return np.int64(clauses.terms[clauses.start[entry] + left - 1])


@njit(cache=True, nogil=True)
def lane_word(clauses, entry, depth):
    """What a lane says of the keywords after the `depth` rarest: see `_layout`."""
    left = np.int64(clauses.required[entry]) - depth
    if left <= 0:
        return NO_WORD
    last = clauses.start[entry] + left - 1
    word = np.int64(clauses.terms[last])
    if left == 1:
        return word
    following = np.int64(clauses.terms[last - 1])
    if word < FIRST_OF_PAIR and following < SECOND_OF_PAIR:
        pair = PAIR | word * SECOND_OF_PAIR | following
        return pair | MORE if left > 2 else pair
    return word | MORE


@leaf
def number_and_word(row, word):
    """What a lane has for an entry of the arena, whose keywords left to check are `word`."""
    word |= row[FLAGS]
    return (row[ENTRY] if word & (MORE | FORBIDS) else row[SLOT]), word


@leaf
def write_lane(tree, row, position, width, word):
    """Put an entry of the arena into a lane."""
    number, word = number_and_word(row, word)
    write_box(tree.lines, position, width, row[BOX : BOX + 4], number)
    ints_of(tree.lines)[number_at(position, width) + width] = word
    tree.where[row[ENTRY]] = position


@leaf
def entry_in(tree, chains, position, width):
    """Which entry is in this lane?  O(entries of its subscription)."""
    ints, at = ints_of(tree.lines), number_at(position, width)
    entry = ints[at]
    if not ints[at + width] & (MORE | FORBIDS):
        entry = chains.first[entry]
        while tree.where[entry] != position:
            entry = chains.following[entry]
    return entry


@njit(cache=True, nogil=True)
def write_box(lines, position, width, box, number):
    """Put a box and the number it belongs to into a lane."""
    shorts, border = shorts_of(lines), border_at(position, width)
    shorts[border] = box[0]
    shorts[border + width] = box[1]
    shorts[border + 2 * width] = box[2]
    shorts[border + 3 * width] = box[3]
    ints_of(lines)[number_at(position, width)] = number


@inner
def _select(arena, begin, end, middle, column):
    """Reorder so that arena[begin:middle] has the lowest values of a column.  O(n) expected."""
    low, high = begin, end - 1
    while low < high:
        pivot = arena[(low + high) >> 1, column]
        i, j = low, high
        while i <= j:
            while arena[i, column] < pivot:
                i += 1
            while arena[j, column] > pivot:
                j -= 1
            if i <= j:
                for c in range(8):
                    arena[i, c], arena[j, c] = arena[j, c], arena[i, c]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@inner
def arrange(arena, begin, end):
    """Bring entries that are alike together.  O(n log n)."""
    tasks = np.empty((64, 2), np.int64)
    tasks[0] = begin, end
    depth = 1
    while depth:
        depth -= 1
        low, high = tasks[depth]
        leaves = (high - low + LEAF_FILL - 1) // LEAF_FILL
        if leaves == 1:
            continue
        widest, spread = BOX, -1
        for column in range(BOX, BOX + 4):
            least, most = arena[low, column], arena[low, column]
            for i in range(low, high):
                value = arena[i, column]
                least, most = min(least, value), max(most, value)
            if most - least > spread:
                widest, spread = column, most - least
        unit = 1
        while unit * MOST_LANES < leaves:
            unit *= MOST_LANES
        middle = low + max(1, (leaves // 2 + unit // 2) // unit) * unit * LEAF_FILL
        if spread > 0:
            _select(arena, low, high, middle, widest)
        tasks[depth] = low, middle
        tasks[depth + 1] = middle, high
        depth += 2


@inner
def pack(tree, clauses, arena, begin, end, depth):
    """An R-tree of arena[begin:end], whose `depth` rarest keywords are known to be there:
    (tree, its root block, its height)."""
    arrange(arena, begin, end)
    count = (end - begin + LEAF_FILL - 1) // LEAF_FILL
    blocks = np.empty(count, np.int64)
    boxes = np.empty((count, 4), np.int32)
    for at in range(count):
        tree, start = claim_lanes(tree, np.int64(MOST_LANES))
        low = begin + at * LEAF_FILL
        high = min(end, low + LEAF_FILL)
        blocks[at] = start
        boxes[at] = arena[low, BOX : BOX + 4]
        for i in range(low, high):
            word = lane_word(clauses, arena[i, ENTRY], depth)
            write_lane(tree, arena[i], start + i - low, MOST_LANES, word)
            for c in range(2):
                boxes[at, c] = min(boxes[at, c], arena[i, BOX + c])
                boxes[at, c + 2] = max(boxes[at, c + 2], arena[i, BOX + c + 2])
    height = 0
    while count > 1:
        height += 1
        above = (count + MOST_LANES - 1) // MOST_LANES
        for parent in range(above):
            tree, start = claim_lanes(tree, np.int64(MOST_LANES))
            low = parent * MOST_LANES
            high = min(count, low + MOST_LANES)
            around = boxes[low].copy()
            for i in range(low, high):
                write_box(tree.lines, start + i - low, MOST_LANES, boxes[i], blocks[i])
                for c in range(2):
                    around[c] = min(around[c], boxes[i, c])
                    around[c + 2] = max(around[c + 2], boxes[i, c + 2])
            blocks[parent] = start
            boxes[parent] = around
        count = above
    return tree, blocks[0], height
