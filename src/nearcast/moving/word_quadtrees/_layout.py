"""The arrays of the quadtrees of messages, one for each word, and who comes and goes in them.

root      int64[V+1, s]   references by number of a word + 1 and by size of the place; row 0 is for
                          all messages, whatever their words; s is 1 as long as all are points
nodes     int64[N, 17]    16 children, and how many postings are below
postings  int64[P]        x << 46 | y << 31 | slot of the message; x and y are the 15-bit steps
                          (see `_frame` of the default boolean index) of the middle of its place
used      int64[16]       how much of each array is in use, and what is free

A reference is an int64 whose two low bits say what it points to:
    0 nothing · 1 a run of 2 to 64 postings: first << 9 | count << 2 · 2 a node (row << 2)
    3 one posting, in the reference itself (posting << 2)
A run owns 2, 4, 8, 16, 32 or 64 places. A node divides its square into 4 x 4; after SPACE_LEVELS
divisions, where steps have no more bits, nodes divide by the number of the slot, so that however
many messages are at one point, a run stays short. Pieces of `postings` that are free are chained by
their first cell, free nodes by their first child.

Sizes of places: 0 for points; then by how many steps a place reaches from its middle, at most
REACH[1], REACH[2], or any number of them. Places of several rectangles have the last size.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner

EMPTY, RUN, NODE, ONE = 0, 1, 2, 3
SIZES = 4
REACH = (0, 64, 1024, 1 << 15)
FANOUT, BELOW = 16, 16
WIDTH = FANOUT + 1
LONGEST_RUN = 64
MERGED = 32  # a node with no more postings becomes a run again
SPACE_LEVELS = 7
SLOT_MASK = (1 << 31) - 1
STEP_MASK = (1 << 15) - 1

# Cells of `used`: lengths, a free node (0 for none), and the first free piece of 2, 4, … 64 places.
POSTINGS, NODES, FREE_NODE, FREE_PIECES = range(4)


class Quadtrees(NamedTuple):
    """The arrays; see the module docstring."""

    root: NDArray[np.int64]
    nodes: NDArray[np.int64]
    postings: NDArray[np.int64]
    used: NDArray[np.int64]


def no_quadtrees(words: int, sizes: int = 1) -> Quadtrees:
    """No messages.  Place 0 and node 0 are never given out: 0 means none."""
    used = np.zeros(16, np.int64)
    used[POSTINGS] = used[NODES] = 1
    return Quadtrees(
        np.zeros((words + 1, sizes), np.int64),
        np.empty((16, WIDTH), np.int64),
        np.empty(1024, np.int64),
        used,
    )


@njit(cache=True, nogil=True, inline="always")
def posting_of(x, y, slot):
    return np.int64(x) << 46 | np.int64(y) << 31 | np.int64(slot)


@njit(cache=True, nogil=True, inline="always")
def x_of(posting):
    return posting >> 46


@njit(cache=True, nogil=True, inline="always")
def y_of(posting):
    return (posting >> 31) & STEP_MASK


@njit(cache=True, nogil=True, inline="always")
def run_at(reference):
    return reference >> 9


@njit(cache=True, nogil=True, inline="always")
def run_length(reference):
    return (reference >> 2) & 127


@njit(cache=True, nogil=True, inline="always")
def run_reference(at, count):
    return at << 9 | count << 2 | RUN


@njit(cache=True, nogil=True, inline="always")
def child_of(posting, level):
    """Which of 16 children holds a posting."""
    if level < SPACE_LEVELS:
        shift = 13 - 2 * level
        return ((y_of(posting) >> shift) & 3) << 2 | ((x_of(posting) >> shift) & 3)
    return ((posting & SLOT_MASK) >> (4 * (level - SPACE_LEVELS))) & 15


@inner
def count_of(trees, reference):
    """How many postings are at a reference.  O(1)."""
    kind = reference & 3
    if kind == NODE:
        return trees.nodes[reference >> 2, BELOW]
    if kind == RUN:
        return run_length(reference)
    return np.int64(kind == ONE)


@inner
def with_room(trees, postings, nodes):
    """The trees with room for so many more of each; grows by a quarter.  O(1) amortised."""
    used, rows, cells = trees.used, trees.nodes, trees.postings
    if used[POSTINGS] + postings > len(cells):
        more = np.empty(used[POSTINGS] + postings + len(cells) // 4, np.int64)
        more[: used[POSTINGS]] = cells[: used[POSTINGS]]
        cells = more
    if used[NODES] + nodes > len(rows):
        more_rows = np.empty((used[NODES] + nodes + len(rows) // 4, WIDTH), np.int64)
        more_rows[: used[NODES]] = rows[: used[NODES]]
        rows = more_rows
    return Quadtrees(trees.root, rows, cells, used)


@inner
def piece_for(count):
    """(how many places a run of so many postings owns, the cell of `used` with a free piece)."""
    size, cell = 2, FREE_PIECES
    while size < count:
        size *= 2
        cell += 1
    return size, cell


@inner
def _claim(trees, count):
    """Free places for a run: (trees, the first).  O(1) amortised.

    Where no piece of this size is free, a larger one is divided.
    """
    size, cell = piece_for(count)
    piece, at = size, cell
    while piece <= LONGEST_RUN and not trees.used[at]:
        piece *= 2
        at += 1
    if piece > LONGEST_RUN:
        trees = with_room(trees, size, 0)
        start = trees.used[POSTINGS]
        trees.used[POSTINGS] += size
        return trees, start
    start = trees.used[at]
    trees.used[at] = trees.postings[start]
    while piece > size:
        piece //= 2
        _release(trees, start + piece, piece)
    return trees, start


@inner
def _release(trees, start, size):
    cell = piece_for(size)[1]
    trees.postings[start] = trees.used[cell]
    trees.used[cell] = start


@inner
def _claim_node(trees):
    row = trees.used[FREE_NODE]
    if row:
        trees.used[FREE_NODE] = trees.nodes[row, 0]
    else:
        trees = with_room(trees, 0, 1)
        row = trees.used[NODES]
        trees.used[NODES] += 1
    trees.nodes[row] = 0
    return trees, row


@inner
def add(trees, row, size_class, posting):
    """Add a posting to the tree of a word.  O(depth), amortised."""
    at = np.int64(-1)  # the holder: root[row, size_class], or the child `child` of node `at`
    child, level = np.int64(0), 0
    while True:
        reference = trees.root[row, size_class] if at < 0 else trees.nodes[at, child]
        kind = reference & 3
        if kind == NODE:
            at = reference >> 2
            trees.nodes[at, BELOW] += 1
            child = child_of(posting, level)
            level += 1
            continue
        if kind == EMPTY:
            reference = posting << 2 | ONE
        elif kind == ONE:
            trees, start = _claim(trees, 2)
            trees.postings[start] = reference >> 2
            trees.postings[start + 1] = posting
            reference = run_reference(start, 2)
        else:
            start, count = run_at(reference), run_length(reference)
            if count == LONGEST_RUN:
                trees, node = _divided(trees, start, level)
                reference = node << 2 | NODE
            else:
                size = piece_for(count)[0]
                if count == size:
                    trees, larger = _claim(trees, count + 1)
                    for i in range(count):
                        trees.postings[larger + i] = trees.postings[start + i]
                    _release(trees, start, size)
                    start = larger
                trees.postings[start + count] = posting
                reference = run_reference(start, count + 1)
        if at < 0:
            trees.root[row, size_class] = reference
        else:
            trees.nodes[at, child] = reference
        if reference & 3 != NODE:
            return trees


@inner
def _divided(trees, start, level):
    """A node of what is in a full run: (trees, its row)."""
    trees, node = _claim_node(trees)
    counts = np.zeros(FANOUT, np.int64)
    for i in range(LONGEST_RUN):
        counts[child_of(trees.postings[start + i], level)] += 1
    starts = np.zeros(FANOUT, np.int64)
    for child in range(FANOUT):
        if counts[child] > 1:
            trees, starts[child] = _claim(trees, counts[child])
            trees.nodes[node, child] = run_reference(starts[child], counts[child])
    for i in range(LONGEST_RUN):
        posting = trees.postings[start + i]
        child = child_of(posting, level)
        if counts[child] > 1:
            trees.postings[starts[child]] = posting
            starts[child] += 1
        else:
            trees.nodes[node, child] = posting << 2 | ONE
    trees.nodes[node, BELOW] = LONGEST_RUN
    _release(trees, start, LONGEST_RUN)
    return trees, node


@inner
def take_out(trees, row, size_class, posting):
    """Remove a posting that is in the tree of a word.  O(depth)."""
    at = np.int64(-1)
    child, level = np.int64(0), 0
    while True:
        reference = trees.root[row, size_class] if at < 0 else trees.nodes[at, child]
        kind = reference & 3
        if kind == NODE:
            node = reference >> 2
            trees.nodes[node, BELOW] -= 1
            if trees.nodes[node, BELOW] > MERGED:
                at = node
                child = child_of(posting, level)
                level += 1
                continue
            trees, reference = _merged(trees, reference, posting)
        elif kind == ONE:
            reference = np.int64(EMPTY)
        else:
            start, last = run_at(reference), run_length(reference) - 1
            i = start
            while trees.postings[i] != posting:
                i += 1
            trees.postings[i] = trees.postings[start + last]
            size = piece_for(last + 1)[0]
            if last == 1:
                reference = trees.postings[start] << 2 | ONE
                _release(trees, start, size)
            else:
                if piece_for(last)[0] < size:
                    _release(trees, start + size // 2, size // 2)
                reference = run_reference(start, last)
        if at < 0:
            trees.root[row, size_class] = reference
        else:
            trees.nodes[at, child] = reference
        return trees


@inner
def _merged(trees, reference, without):
    """A run of what is below a node, but for one posting: (trees, its reference)."""
    waiting = np.empty(FANOUT * (SPACE_LEVELS + 9), np.int64)
    waiting[0] = reference
    depth, count = 1, 0
    trees, start = _claim(trees, MERGED)
    while depth:
        depth -= 1
        now = waiting[depth]
        if now & 3 == NODE:
            row = now >> 2
            for child in range(FANOUT):
                if trees.nodes[row, child]:
                    waiting[depth] = trees.nodes[row, child]
                    depth += 1
            trees.nodes[row, 0] = trees.used[FREE_NODE]
            trees.used[FREE_NODE] = row
        elif now & 3 == ONE:
            if now >> 2 != without:
                trees.postings[start + count] = now >> 2
                count += 1
        else:
            for i in range(run_at(now), run_at(now) + run_length(now)):
                if trees.postings[i] != without:
                    trees.postings[start + count] = trees.postings[i]
                    count += 1
            _release(trees, run_at(now), piece_for(run_length(now))[0])
    size = LONGEST_RUN // 2
    while piece_for(count)[0] < size:
        size //= 2
        _release(trees, start + size, size)
    return trees, run_reference(start, count)
