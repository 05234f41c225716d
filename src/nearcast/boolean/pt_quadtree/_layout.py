"""The arrays of a PT-Quadtree, and the few functions that may grow them.

nodes    int32[N, 10]    one row for each cell, see the columns below
places   float32[N, 4]   the lines a cell is divided at (x, y), copies, level
lists    int64[N]        references to the cell's own list, a run of records (see `_lists`)
tokens   int32[K]        sets of words, each ascending
used     int64[5]        nodes in use, tokens in use, those of them that are garbage, entries,
                         changes since built

There are two quadtrees over the same frame: cell 0 is the root of all entries with words, cell 1
of those without any (`ANY`), which no set of words could prune. The four children of a cell lie
side by side: south-west, south-east, north-west, north-east. Cells are half-open and the outermost
ones unbounded, so that a point is in exactly one leaf; an entry touches every cell that its closed
bounds touch.

A cell has three sets of words:
- OWN: a pivotal word of each entry of its own list
- COVER: words that are pivotal in every list below
- BELOW: the other words that are pivotal in lists below
A COVER word is taken out of the sets of the children, so that it is looked for once. A set of `n`
words owns `block_room(n)` tokens; one that outgrows them moves to the end.

`copies` is how often the average entry on the way here is stored.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean.mbr_trie._layout import block_room, lower_bound
from nearcast.inner import inner

WITH_WORDS, WITHOUT_WORDS = 0, 1  # the two roots

# Columns of `nodes`: the first child (0: a leaf), the parent, start and size of each set, and how
# many of the list's records are not in order yet, and how many are dead.
FIRST, PARENT, OWN, OWN_COUNT, COVER, COVER_COUNT, BELOW, BELOW_COUNT, TAIL, DEAD = range(10)

# Columns of `places`.
MIDDLE_X, MIDDLE_Y, COPIES, LEVEL = range(4)

# Cells of `used`.
NODES, TOKENS, LOOSE_TOKENS, ENTRIES, CHANGES = range(5)

MOST_LEVELS = 24  # float32 cannot tell the borders of much smaller cells apart
MOST_WAITING = 3 * MOST_LEVELS + 4  # cells, while one goes down to a leaf


class Quadtree(NamedTuple):
    """The arrays; see the module docstring."""

    nodes: NDArray[np.int32]
    places: NDArray[np.float32]
    lists: NDArray[np.int64]
    tokens: NDArray[np.int32]
    used: NDArray[np.int64]


class Settings(NamedTuple):
    """What the kernels know of the parameters."""

    leaf_capacity: int
    most_levels: int
    most_copies: float
    is_smallest_cell: bool


def empty_quadtree() -> Quadtree:
    """Two roots, both leaves without anything."""
    quadtree = Quadtree(
        np.zeros((16, 10), np.int32),
        np.zeros((16, 4), np.float32),
        np.zeros(16, np.int64),
        np.zeros(64, np.int32),
        np.array([2, 0, 0, 0, 0], np.int64),
    )
    quadtree.nodes[:2, PARENT] = -1
    quadtree.places[:2, COPIES] = 1
    return quadtree


@inner
def add_children(quadtree, node, middle_x, middle_y, copies):
    """Divide a cell at two lines: the quadtree; its four children are leaves without anything."""
    nodes, places, lists = quadtree.nodes, quadtree.places, quadtree.lists
    first = quadtree.used[NODES]
    if first + 4 > len(nodes):
        room = 4 + len(nodes) + len(nodes) // 2
        nodes = np.zeros((room, 10), np.int32)
        places = np.zeros((room, 4), np.float32)
        lists = np.zeros(room, np.int64)
        for i in range(first):
            for column in range(10):
                nodes[i, column] = quadtree.nodes[i, column]
            for column in range(4):
                places[i, column] = quadtree.places[i, column]
            lists[i] = quadtree.lists[i]
    quadtree.used[NODES] += 4
    nodes[node, FIRST] = first
    places[node, MIDDLE_X], places[node, MIDDLE_Y] = middle_x, middle_y
    for child in range(first, first + 4):
        nodes[child, PARENT] = node
        places[child, COPIES] = copies
        places[child, LEVEL] = places[node, LEVEL] + 1
    return Quadtree(nodes, places, lists, quadtree.tokens, quadtree.used)


@inner
def copy_words(words, begin, end, target, at):
    """Copy words[begin:end] to target[at:]; a loop compiles in a tenth of a slice's time."""
    for i in range(end - begin):
        target[at + i] = words[begin + i]


@inner
def claim_tokens(quadtree, count):
    """Room for `count` more tokens at the end: (quadtree, where it begins).  O(1) amortised."""
    start = quadtree.used[TOKENS]
    tokens = quadtree.tokens
    if start + count > len(tokens):
        tokens = np.zeros(max(start + count, len(tokens) + len(tokens) // 2), np.int32)
        copy_words(quadtree.tokens, 0, start, tokens, 0)
    quadtree.used[TOKENS] += count
    return Quadtree(quadtree.nodes, quadtree.places, quadtree.lists, tokens, quadtree.used), start


@inner
def put_set(quadtree, node, column, words):
    """Give a cell this set in place of the one in `column`; returns the quadtree.  O(set)."""
    quadtree.used[LOOSE_TOKENS] += block_room(quadtree.nodes[node, column + 1])
    quadtree, start = claim_tokens(quadtree, block_room(len(words)))
    copy_words(words, 0, len(words), quadtree.tokens, start)
    quadtree.nodes[node, column], quadtree.nodes[node, column + 1] = start, len(words)
    return quadtree


@inner
def has_token(quadtree, node, column, word):
    """Is the word in the cell's set?  O(log set)."""
    start, count = quadtree.nodes[node, column], quadtree.nodes[node, column + 1]
    at = lower_bound(quadtree.tokens, start, start + count, word)
    return at < start + count and quadtree.tokens[at] == word


@inner
def add_token(quadtree, node, column, word):
    """Put a word that is not there yet into the cell's set; returns the quadtree.  O(set)."""
    start = np.int64(quadtree.nodes[node, column])
    count = np.int64(quadtree.nodes[node, column + 1])
    room = block_room(count)
    if count == room:
        old = start
        quadtree, start = claim_tokens(quadtree, block_room(count + 1))
        copy_words(quadtree.tokens, old, old + count, quadtree.tokens, start)
        quadtree.used[LOOSE_TOKENS] += room
        quadtree.nodes[node, column] = start
    at = start + count
    while at > start and quadtree.tokens[at - 1] > word:
        quadtree.tokens[at] = quadtree.tokens[at - 1]
        at -= 1
    quadtree.tokens[at] = word
    quadtree.nodes[node, column + 1] = count + 1
    return quadtree


@njit(cache=True, nogil=True)
def pack_tokens(quadtree):
    """The same quadtree without garbage among its tokens.  O(tokens + nodes)."""
    nodes, used = quadtree.nodes, quadtree.used
    tokens = np.zeros(max(64, used[TOKENS] - used[LOOSE_TOKENS]), np.int32)
    end = 0
    for node in range(used[NODES]):
        for column in (OWN, COVER, BELOW):
            start, count = np.int64(nodes[node, column]), np.int64(nodes[node, column + 1])
            copy_words(quadtree.tokens, start, start + count, tokens, end)
            nodes[node, column] = end
            end += block_room(count)
    used[TOKENS], used[LOOSE_TOKENS] = end, 0
    return Quadtree(nodes, quadtree.places, quadtree.lists, tokens, used)
