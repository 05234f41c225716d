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
    0 nothing · 1 leaf, a run of records · 2 k-node (row << 2) · 3 s-node (row << 2)
A k-node with c cuts owns c + 2 children: the cuts, REST (keywords between the cuts, which only
later insertions bring) and DUMMY (entries without a keyword at this offset). An s-node with m x n
cells owns m*n + 1 children: the cells, row by row, and DUMMY (entries that contain the node).

Runs are those of `nearcast.boolean._records`; what a move leaves behind is garbage until `repack`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner

KEYWORD_NODE, SPATIAL_NODE = 2, 3  # kinds of reference, beside EMPTY and RUN

# Columns of `nodes`.
KEY_START, WIDTH, HEIGHT, CHILD_START, OFFSET, WEIGHT, WEIGHT_BUILT, CHANGES = range(8)

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


@inner
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


@inner
def set_child(tree, position, reference):
    """Hang `reference` at `children[position]`, or at the root when position is -1."""
    if position < 0:
        tree.used[ROOT] = reference
    else:
        tree.children[position] = reference


@inner
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
