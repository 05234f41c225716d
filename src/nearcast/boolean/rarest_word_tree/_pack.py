"""Packing many entries into an R-tree of cache lines.

arena   int32[A, 8]   entries to place: entry, slot, flags, key (a keyword), and the box in the
                      steps of `_frame`: west, south, east, north

Entries are halved again and again along the border, of the four, in which they differ most, until
they fill leaves; so those of a leaf are alike in place and in size. Halves are multiples of what a
block of the level holds, so that inner blocks are full.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import MORE, NO_WORD
from nearcast.boolean.rarest_word_tree._layout import (
    EAST,
    FIRST_OF_PAIR,
    LANES,
    MOST_LANES,
    NORTH,
    NUMBER,
    PAIR,
    SECOND_OF_PAIR,
    SOUTH,
    WEST,
    WORD,
    claim_lanes,
)
from nearcast.inner import inner

# Columns of the arena; 4-7 are west, south, east, north.
ENTRY, SLOT, FLAGS, KEY, BOX = 0, 1, 2, 3, 4

LEAF_FILL = 15  # lanes of a new leaf: room for a few more before it is split


@inner
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


@inner
def write_lane(tree, row, position, word):
    """Put an entry of the arena into a lane."""
    write_box(tree.lines, position, row[BOX : BOX + 4], row[SLOT])
    tree.lines.view(np.int32)[position // LANES, WORD + position % LANES] = row[FLAGS] | word
    tree.where[row[ENTRY]] = position


@njit(cache=True, nogil=True)
def write_box(lines, position, box, number):
    """Put a box and the number it belongs to into a lane."""
    shorts, ints = lines.view(np.uint16), lines.view(np.int32)
    line, lane = position // LANES, position % LANES
    shorts[line, WEST + lane] = box[0]
    shorts[line, SOUTH + lane] = box[1]
    shorts[line, EAST + lane] = box[2]
    shorts[line, NORTH + lane] = box[3]
    ints[line, NUMBER + lane] = number


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
    for leaf in range(count):
        tree, start = claim_lanes(tree, np.int64(MOST_LANES))
        low = begin + leaf * LEAF_FILL
        high = min(end, low + LEAF_FILL)
        blocks[leaf] = start
        boxes[leaf] = arena[low, BOX : BOX + 4]
        for i in range(low, high):
            word = lane_word(clauses, arena[i, ENTRY], depth)
            write_lane(tree, arena[i], start + i - low, word)
            for c in range(2):
                boxes[leaf, c] = min(boxes[leaf, c], arena[i, BOX + c])
                boxes[leaf, c + 2] = max(boxes[leaf, c + 2], arena[i, BOX + c + 2])
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
                write_box(tree.lines, start + i - low, boxes[i], blocks[i])
                for c in range(2):
                    around[c] = min(around[c], boxes[i, c])
                    around[c + 2] = max(around[c + 2], boxes[i, c + 2])
            blocks[parent] = start
            boxes[parent] = around
        count = above
    return tree, blocks[0], height
