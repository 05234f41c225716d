"""A tree of cells, and how far each term is from the lists below a node.

    ball   float64[N, 6]  every subscription below is within RADIUS of the spot X, Y, Z; FLOOR, the
                          lowest of its cells; SPLIT, of an inner node: what has more on the axis is
                          to the right
    link   int32[N, 6]    LEFT, RIGHT, -1 for a leaf; PARENT, -1 for the root; AXIS; CELL of a leaf,
                          -1 else; VERSION, of what is known about terms
    known  float64[G, 4]  an open hash table: KEY, node * 2**32 + term, -1 for nothing; SPARE of
                          that term below that node, for that VERSION of it; half a cache line each
    counts int64[2]       NODES; ENTRIES of the table

A term that is no row of a cell has less than MARGIN of the last score of any list there. That a
new document cannot change this is known without a look at the cells below a node while what it may
add there is covered by SPARE: what was missing to MARGIN when it was last computed, from all
documents of the term, less what came since. ALL_HAVE_IT says that the term is a row of every cell
below; a negative SPARE counts the documents until it is worth a new try, since the last has shown
that the cells below must be asked.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf
from nearcast.large_pages import in_large_pages
from nearcast.prefetch import prefetch_row
from nearcast.trending._nearby.documents import larger
from nearcast.trending._nearby.places import way
from nearcast.trending.term_fields._cells import FLOOR as CELL_FLOOR
from nearcast.trending.term_fields._cells import NODE, REACH

X, Y, Z, RADIUS, FLOOR, SPLIT = range(6)
LEFT, RIGHT, PARENT, AXIS, CELL, VERSION = range(6)
KEY, SPARE, OF_VERSION = range(3)
NODES, ENTRIES = range(2)
MARGIN = 0.9
ALL_HAVE_IT = np.inf
UNKNOWN = np.nan
MOST_ENTRIES = 1 << 20
SHORT = 1.0 - 4e-6  # distances from spots may be too long by this share


class Tree(NamedTuple):
    """The arrays; see the module docstring."""

    ball: NDArray[np.float64]
    link: NDArray[np.int32]
    known: NDArray[np.float64]
    counts: NDArray[np.int64]


def no_tree() -> Tree:
    """The arrays of no node."""
    return Tree(
        np.zeros((4, 6), np.float64),
        np.full((4, 6), -1, np.int32),
        np.full((64, 4), -1.0),
        np.zeros(2, np.int64),
    )


# ---------------------------------------------------------------- nodes


@inner
def new_leaf(tree, parent, cell):
    """The arrays, with one more leaf, the last node."""
    n = tree.counts[NODES]
    if n == len(tree.link):
        tree = Tree(larger(tree.ball, 2 * n), larger(tree.link, 2 * n), tree.known, tree.counts)
    tree.counts[NODES] = n + 1
    tree.ball[n] = 0.0
    link = tree.link[n]
    link[LEFT], link[RIGHT], link[PARENT], link[AXIS] = -1, -1, parent, 0
    link[CELL], link[VERSION] = cell, 0
    return tree


@leaf
def leaf_of(tree, x, y, z):
    """The leaf for a spot.  O(depth)."""
    node = np.int64(0)
    while tree.link[node, LEFT] >= 0:
        axis = tree.link[node, AXIS]
        value = x if axis == 0 else (y if axis == 1 else z)
        node = tree.link[node, RIGHT] if value > tree.ball[node, SPLIT] else tree.link[node, LEFT]
    return node


@leaf
def reach_out(tree, node, x, y, z, on_earth):
    """A new subscription below a node: it and those above cover it.  O(depth)."""
    while node >= 0:
        ball = tree.ball[node]
        far = way(x - ball[X], y - ball[Y], z - ball[Z], on_earth) * (2.0 - SHORT)
        if far > ball[RADIUS]:
            ball[RADIUS] = far
            tree.link[node, VERSION] += 1
        node = tree.link[node, PARENT]


@leaf
def settle(tree, cells, c):
    """The nodes above a cell know its floor.  O(depth)."""
    node = cells.head[c, NODE]
    while node >= 0:
        link = tree.link[node]
        if link[LEFT] < 0:
            floor = cells.frame[c, CELL_FLOOR]
        else:
            floor = min(tree.ball[link[LEFT], FLOOR], tree.ball[link[RIGHT], FLOOR])
        if floor < tree.ball[node, FLOOR]:
            link[VERSION] += 1
        elif floor == tree.ball[node, FLOOR]:
            break
        tree.ball[node, FLOOR] = floor
        node = link[PARENT]


@leaf
def begin_again(tree, cells, c):
    """A cell was built: its leaf is around it, and nothing is known about terms on the way up."""
    node = cells.head[c, NODE]
    ball, frame = tree.ball[node], cells.frame[c]
    ball[X], ball[Y], ball[Z] = frame[X], frame[Y], frame[Z]
    ball[RADIUS] = frame[REACH]
    while node >= 0:
        tree.link[node, VERSION] += 1
        node = tree.link[node, PARENT]


# ---------------------------------------------------------------- what is known of terms


@leaf
def key_of(node, term):
    """What stands for both in the table."""
    return (np.int64(node) << 32) | np.int64(term)


@leaf
def first_entry(tree, key):
    """Where the search for a key begins."""
    return ((key * np.int64(-7046029254386353131)) >> 29) & (len(tree.known) - 1)


@leaf
def ask_for_node(tree, node, term):
    """A node, and what is known of the term there, is on its way."""
    prefetch_row(tree.ball, node)
    prefetch_row(tree.link, node)
    prefetch_row(tree.known, first_entry(tree, key_of(node, term)))


@leaf
def entry_of(tree, node, term):
    """Where the table has the node and the term, or would have them.  O(1) expected."""
    wanted, mask = key_of(node, term), len(tree.known) - 1
    at, key = first_entry(tree, wanted), np.float64(wanted)
    while tree.known[at, KEY] != key and tree.known[at, KEY] != -1.0:
        at = (at + 1) & mask
    return at


@leaf
def known_spare(tree, at, node):
    """What an entry says, NaN where there is nothing or it is of an older version."""
    if tree.known[at, KEY] == -1.0 or tree.known[at, OF_VERSION] != tree.link[node, VERSION]:
        return UNKNOWN
    return tree.known[at, SPARE]


@leaf
def put_spare(tree, node, term, spare):
    """The table knows this.  O(1) expected."""
    at = entry_of(tree, node, term)
    if tree.known[at, KEY] == -1.0:
        tree.known[at, KEY] = np.float64(key_of(node, term))
        tree.counts[ENTRIES] += 1
    tree.known[at, SPARE] = spare
    tree.known[at, OF_VERSION] = tree.link[node, VERSION]


@inner
def with_entries(tree):
    """A table that is less than three quarters full; one that may not be larger begins anew."""
    if 4 * tree.counts[ENTRIES] < 3 * len(tree.known):
        return tree
    old = tree.known
    size = min(2 * len(old), MOST_ENTRIES)
    known = in_large_pages(np.empty((size, 4)))
    known[:] = -1.0
    tree = Tree(tree.ball, tree.link, known, tree.counts)
    tree.counts[ENTRIES] = 0
    if size > len(old):
        for i in range(len(old)):
            if old[i, KEY] != -1.0:
                key = np.int64(old[i, KEY])
                node, term = key >> 32, key & 0xFFFFFFFF
                if old[i, OF_VERSION] == tree.link[node, VERSION]:
                    put_spare(tree, node, term, old[i, SPARE])
    return tree


@leaf
def no_longer_row(tree, node, term):
    """A term is no row of a leaf any more: not of all cells above either.  O(depth)."""
    while node >= 0:
        at = entry_of(tree, node, term)
        if tree.known[at, KEY] != -1.0:
            tree.known[at, OF_VERSION] = -1.0
        node = tree.link[node, PARENT]
