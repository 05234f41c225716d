"""The arrays of an R-tree whose nodes have inverted lists, and the functions that may grow them.

nodes     int32[N, 8]      one row per inner node, see the columns below
boxes     float32[N*f, 4]  branch n*f + i: the box around what is below child i of node n
children  int32[N*f]       that child: a node, or where the height is 1 a leaf
lists     int32[W, 4]      inverted lists: a word, and three sets of children as bits; a node owns
                           a hash table of such rows, see `_lists`
leaves    int32[L, 2]      the branch that refers to the leaf, and how many records it holds
records   int32[L*c, 8]    leaf l owns records[l*c : (l+1)*c], see `_records`
keys      int32[L*c, 2]    the words that a message must have to look at the record, or NO_KEY
homes     int32[E]         where the record of each entry is
used      int64[9]         how much of each array is in use, see the cells below

f is the fanout and c the leaf capacity. All leaves are equally far from the root, which is always
a node, if only with one leaf or none. Removed nodes and leaves wait in chains, through PARENT, for
the next that is needed, so blocks never move and nothing but `lists` ever has garbage.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner

# Columns of `nodes`: the branch that refers to the node (-1: the root), how many children it has,
# how far its leaves are, the children that no word may prune, and its inverted lists: where they
# begin, the rows they own, and how many of these have a word.
PARENT, COUNT, HEIGHT, ALWAYS, LIST_START, LIST_ROOM, LIST_WORDS = range(7)

# Columns of `leaves`: PARENT and COUNT as well.

# Cells of `used`; FREE_NODE and FREE_LEAF begin the chains, CHANGES are those since it was built.
NODES, LEAVES, ROWS, GARBAGE, ROOT, ENTRIES, CHANGES, FREE_NODE, FREE_LEAF = range(9)

NOBODY = -1  # ends a chain, is the parent of the root, and the home of an entry that is not there
NO_KEY = -1
NO_WORD_HERE = -1  # in a row of `lists` that is free

LEAST_ROWS = 8  # of a node's inverted lists


class RTree(NamedTuple):
    """The arrays; see the module docstring."""

    nodes: NDArray[np.int32]
    boxes: NDArray[np.float32]
    children: NDArray[np.int32]
    lists: NDArray[np.int32]
    leaves: NDArray[np.int32]
    records: NDArray[np.int32]
    keys: NDArray[np.int32]
    homes: NDArray[np.int32]
    used: NDArray[np.int64]


class Settings(NamedTuple):
    """What the arrays were built for; `listing` says which words are listed (see `_lists`)."""

    fanout: int
    leaf_capacity: int
    listing: int


def empty_tree(settings: Settings, entries: int) -> RTree:
    """A root without a leaf, and no home yet for so many entries."""
    used = np.zeros(9, np.int64)
    used[[NODES, ROWS]] = 1, LEAST_ROWS
    used[[FREE_NODE, FREE_LEAF]] = NOBODY
    nodes = np.zeros((1, 8), np.int32)
    nodes[0, [PARENT, HEIGHT, LIST_ROOM]] = NOBODY, 1, LEAST_ROWS
    lists = np.zeros((LEAST_ROWS, 4), np.int32)
    lists[:, 0] = NO_WORD_HERE
    return RTree(
        nodes,
        np.zeros((settings.fanout, 4), np.float32),
        np.zeros(settings.fanout, np.int32),
        lists,
        np.zeros((1, 2), np.int32),
        np.zeros((settings.leaf_capacity, 8), np.int32),
        np.zeros((settings.leaf_capacity, 2), np.int32),
        np.full(entries, NOBODY, np.int32),
        used,
    )


@inner
def wider_rows(rows, used, needed):
    """The first `used` rows in an array half as long again, the others zero."""
    wider = np.zeros((max(needed, len(rows) + len(rows) // 2), rows.shape[1]), rows.dtype)
    wider[:used] = rows[:used]
    return wider


@inner
def wider_cells(cells, used, needed):
    """The same of an array of one dimension."""
    wider = np.zeros(max(needed, len(cells) + len(cells) // 2), cells.dtype)
    wider[:used] = cells[:used]
    return wider


@njit(cache=True, nogil=True)
def new_node(tree, settings, height):
    """A node without children, its inverted lists to be written: (tree, node).

    O(1) amortised.
    """
    used, fanout = tree.used, settings.fanout
    node = used[FREE_NODE]
    if node != NOBODY:
        used[FREE_NODE] = tree.nodes[node, PARENT]
    else:
        node = used[NODES]
        used[NODES] += 1
        if node == len(tree.nodes):
            nodes = wider_rows(tree.nodes, node, node + 1)
            boxes = wider_rows(tree.boxes, node * fanout, len(nodes) * fanout)
            children = wider_cells(tree.children, node * fanout, len(nodes) * fanout)
            tree = RTree(
                nodes, boxes, children, tree.lists, tree.leaves,
                tree.records, tree.keys, tree.homes, used,
            )  # fmt: skip
    tree.nodes[node] = 0
    tree.nodes[node, PARENT] = NOBODY
    tree.nodes[node, HEIGHT] = height
    return tree, node


@njit(cache=True, nogil=True)
def new_leaf(tree, settings):
    """A leaf without records: (tree, leaf).  O(1) amortised."""
    used, capacity = tree.used, settings.leaf_capacity
    leaf = used[FREE_LEAF]
    if leaf != NOBODY:
        used[FREE_LEAF] = tree.leaves[leaf, PARENT]
    else:
        leaf = used[LEAVES]
        used[LEAVES] += 1
        if leaf == len(tree.leaves):
            leaves = wider_rows(tree.leaves, leaf, leaf + 1)
            records = wider_rows(tree.records, leaf * capacity, len(leaves) * capacity)
            keys = wider_rows(tree.keys, leaf * capacity, len(leaves) * capacity)
            tree = RTree(
                tree.nodes, tree.boxes, tree.children, tree.lists, leaves,
                records, keys, tree.homes, used,
            )  # fmt: skip
    tree.leaves[leaf, PARENT], tree.leaves[leaf, COUNT] = NOBODY, 0
    return tree, leaf


@inner
def claim_rows(tree, count):
    """So many more rows of inverted lists, all free: (tree, where they begin).

    O(count) amortised.
    """
    start = tree.used[ROWS]
    if start + count > len(tree.lists):
        lists = wider_rows(tree.lists, start, start + count)
        tree = RTree(
            tree.nodes, tree.boxes, tree.children, lists, tree.leaves,
            tree.records, tree.keys, tree.homes, tree.used,
        )  # fmt: skip
    tree.used[ROWS] += count
    tree.lists[start : start + count] = 0
    tree.lists[start : start + count, 0] = NO_WORD_HERE
    return tree, start


@inner
def lists_of(tree, node):
    """Where the inverted lists of a node begin, and how many rows they own.

    As int64, like all numbers that are passed on: every kernel is then compiled once.
    """
    return np.int64(tree.nodes[node, LIST_START]), np.int64(tree.nodes[node, LIST_ROOM])


@njit(cache=True, nogil=True)
def attach(tree, settings, node, child, box):
    """Make a node or leaf the last child of `node`, which has room for it; returns which it is."""
    position = np.int64(tree.nodes[node, COUNT])
    tree.nodes[node, COUNT] += 1
    branch = node * settings.fanout + position
    tree.boxes[branch] = box
    tree.children[branch] = child
    if tree.nodes[node, HEIGHT] == 1:
        tree.leaves[child, PARENT] = branch
    else:
        tree.nodes[child, PARENT] = branch
    return position


@inner
def leaves_below(tree, settings, child, height):
    """The leaves below a node of that height, or the leaf itself where it is 0.  O(leaves)."""
    found = np.empty(64, np.int32)
    found[0] = child
    count = 1
    for _ in range(height):  # level by level: all leaves are equally far
        below = np.empty(count * settings.fanout, np.int32)
        total = 0
        for node in found[:count]:
            first = node * settings.fanout
            several = tree.nodes[node, COUNT]
            below[total : total + several] = tree.children[first : first + several]
            total += several
        found, count = below, total
    return found[:count]
