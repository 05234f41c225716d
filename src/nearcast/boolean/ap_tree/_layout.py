"""The arrays of an AP-Tree, and the few functions that may grow them.

nodes     int32[N, 8]    one row per k-node or s-node, see the columns below
keys      int32[K]       k-node: (lowest, highest) keyword of each cut, cuts in ascending order
edges     float32[G]     s-node: inner grid lines along x, then along y
children  int64[C]       references, see below; a node owns a contiguous run of them
weights   int32[C, 2]    entries below each child: now, and when its node was built
records   int32[R, 8]    leaf contents; columns 4-7 are float32 bounds seen through `.view`
used      int64[8]       how much of each array is in use, the root reference, the records that are
                         garbage, and the entries the tree holds

A reference is an int64 whose two low bits say what it points to:
    0 nothing · 1 leaf (start << 28 | count << 2) · 2 k-node (row << 2) · 3 s-node (row << 2)
A k-node with c cuts owns c + 2 children: the cuts, REST (keywords between the cuts, which only
later insertions bring) and DUMMY (entries without a keyword at this offset). An s-node with m x n
cells owns m*n + 1 children: the cells, row by row, and DUMMY (entries that contain the node).

A record is half a cache line and settles most candidates by itself: the entry, the subscription's
slot, two keywords the path did not prove, and the bounds, rounded outward. Flags sit in the high
bits of the first keyword.

Leaves own `leaf_room(count)` records, so that a reference needs no capacity; what a move leaves
behind is garbage until `repack`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

EMPTY, LEAF, KEYWORD_NODE, SPATIAL_NODE = 0, 1, 2, 3

# Columns of `nodes`.
KEY_START, WIDTH, HEIGHT, CHILD_START, OFFSET, WEIGHT, WEIGHT_BUILT, CHANGES = range(8)

# Columns of `records`; 4-7 are west, south, east, north.
ENTRY, SLOT, WORD_A, WORD_B = range(4)
WEST, SOUTH, EAST, NORTH = 4, 5, 6, 7

# WORD_A and WORD_B hold a keyword or NO_WORD; WORD_A has flags above the keyword's bits.
NO_WORD = (1 << 27) - 1
SHAPED = 1 << 27  # the region is not a plain box: the bounds alone never decide
SHARED = 1 << 28  # the subscription has several entries: it may be found twice
FORBIDS = 1 << 29  # the clause has forbidden words
MORE = 1 << 30  # the clause has more keywords to check than these two

# Cells of `used`.
NODES, KEYS, EDGES, CHILDREN, RECORDS, ROOT, GARBAGE, ENTRIES = range(8)


class Tree(NamedTuple):
    """The arrays; see the module docstring."""

    nodes: NDArray[np.int32]
    keys: NDArray[np.int32]
    edges: NDArray[np.float32]
    children: NDArray[np.int64]
    weights: NDArray[np.int32]
    records: NDArray[np.int32]
    used: NDArray[np.int64]


def empty_tree() -> Tree:
    """A tree with no node and no record."""
    return Tree(
        np.empty((16, 8), np.int32),
        np.empty(64, np.int32),
        np.empty(64, np.float32),
        np.empty(64, np.int64),
        np.empty((64, 2), np.int32),
        np.empty((64, 8), np.int32),
        np.zeros(8, np.int64),
    )


@njit(cache=True, nogil=True, inline="always")
def leaf_reference(start, count):
    return (start << 28) | (count << 2) | LEAF


@njit(cache=True, nogil=True, inline="always")
def leaf_start(reference):
    return reference >> 28


@njit(cache=True, nogil=True, inline="always")
def leaf_count(reference):
    return (reference >> 2) & 0x3FFFFFF


@njit(cache=True, nogil=True)
def leaf_room(count):
    """Records a leaf of `count` owns: whole cache lines of two, an eighth of slack at the most.

    A function of the count alone, and a leaf that grows within its room keeps it: steps double at
    powers of two, which are multiples of both steps.
    """
    step = 2
    while 16 * step <= count:
        step *= 2
    return (count + step - 1) // step * step


@njit(cache=True, nogil=True)
def _wider(length, needed):
    return max(needed, length + length // 2)


@njit(cache=True, nogil=True)
def reserve(tree, nodes, keys, edges, children, records):
    """The tree with room for so many more of each; grows by half.  O(1) amortised."""
    used = tree.used
    new_nodes, new_keys, new_edges = tree.nodes, tree.keys, tree.edges
    new_children, new_weights, new_records = tree.children, tree.weights, tree.records
    need = used[NODES] + nodes
    if need > len(new_nodes):
        new_nodes = np.empty((_wider(len(tree.nodes), need), 8), np.int32)
        new_nodes[: used[NODES]] = tree.nodes[: used[NODES]]
    need = used[KEYS] + keys
    if need > len(new_keys):
        new_keys = np.empty(_wider(len(tree.keys), need), np.int32)
        new_keys[: used[KEYS]] = tree.keys[: used[KEYS]]
    need = used[EDGES] + edges
    if need > len(new_edges):
        new_edges = np.empty(_wider(len(tree.edges), need), np.float32)
        new_edges[: used[EDGES]] = tree.edges[: used[EDGES]]
    need = used[CHILDREN] + children
    if need > len(new_children):
        room = _wider(len(tree.children), need)
        new_children = np.empty(room, np.int64)
        new_children[: used[CHILDREN]] = tree.children[: used[CHILDREN]]
        new_weights = np.empty((room, 2), np.int32)
        new_weights[: used[CHILDREN]] = tree.weights[: used[CHILDREN]]
    need = used[RECORDS] + records
    if need > len(new_records):
        new_records = np.empty((_wider(len(tree.records), need), 8), np.int32)
        new_records[: used[RECORDS]] = tree.records[: used[RECORDS]]
    return Tree(new_nodes, new_keys, new_edges, new_children, new_weights, new_records, used)


@njit(cache=True, nogil=True)
def set_child(tree, position, reference):
    """Hang `reference` at `children[position]`, or at the root when position is -1."""
    if position < 0:
        tree.used[ROOT] = reference
    else:
        tree.children[position] = reference


@njit(cache=True, nogil=True)
def get_child(tree, position):
    if position < 0:
        return tree.used[ROOT]
    return tree.children[position]


@njit(cache=True, nogil=True, inline="always")
def find_cut(keys, start, cuts, word):
    """Which cut holds `word`, or -1 for the gaps between cuts.  O(log cuts), branch-free."""
    low = start
    length = cuts
    while length > 1:
        half = length >> 1
        low += half * 2 * (keys[low + 2 * half] <= word)
        length -= half
    if keys[low] <= word <= keys[low + 1]:
        return (low - start) >> 1
    return -1


@njit(cache=True, nogil=True, inline="always")
def find_slab(edges, start, lines, value):
    """Which of the `lines + 1` half-open slabs holds `value`.  O(lines), one cache line of them."""
    slab = 0
    for i in range(start, start + lines):
        slab += edges[i] <= value
    return slab
