"""An R-tree over many records at once: top down, each node into parts as even as they are small.

stack     int64[T, 5]    begin, end: a range of the order; into how many parts it is divided;
                         the height of the node that gets them as children, and the node

The tree is as low as it can be with nodes and leaves an eighth empty, so that the first insertions
find room. Ranges are halved, in proportion to their parts, by `divide`: top-down greedy splitting
(García, López, Leutenegger: A Greedy Algorithm for Bulk Loading R-trees, 1998) with one cut tried
for each way to divide. Tiles of a plain sort (STR) come out where boxes are of one size; where
they are not, those of a size come together.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import ENTRY, MOST_PROVEN, settle_record
from nearcast.boolean.r_tree._divide import box_around, divide
from nearcast.boolean.r_tree._layout import (
    CHANGES,
    COUNT,
    ENTRIES,
    HEIGHT,
    NO_KEY,
    NODES,
    ROOT,
    attach,
    new_leaf,
    new_node,
)
from nearcast.boolean.r_tree._lists import list_node, most_keys
from nearcast.inner import inner


@inner
def filled(most):
    """So many of at most so many are put in a node or leaf at first."""
    return max(most - most // 8, min(most, 2))


@njit(cache=True, nogil=True)
def write_record(tree, clauses, settings, leaf, record):
    """Add a record to a leaf that has room."""
    home = leaf * settings.leaf_capacity + tree.leaves[leaf, COUNT]
    tree.leaves[leaf, COUNT] += 1
    entry = record[ENTRY]
    begin, required = clauses.start[entry], np.int64(clauses.required[entry])
    proven = np.int64(0)
    tree.keys[home] = NO_KEY
    for i in range(most_keys(clauses, entry, settings.listing)):
        rarest = required - 1 - i
        tree.keys[home, i] = clauses.terms[begin + rarest]
        if rarest < MOST_PROVEN:
            proven |= np.int64(1) << rarest
    tree.records[home] = record
    settle_record(clauses, tree.records[home], proven)
    tree.homes[entry] = home


@njit(cache=True, nogil=True)
def build(tree, clauses, settings, records):
    """Place all records in an empty tree; returns it.  O(n log n)."""
    count = len(records)
    tree.used[ENTRIES], tree.used[CHANGES] = count, 0
    if count == 0:
        return tree
    boxes = records.view(np.float32)[:, 4:8].copy()
    order = np.arange(count)
    room = np.empty(64, np.int64)  # how many entries go below a node, by its height
    room[0] = filled(settings.leaf_capacity)
    height = 0
    while height == 0 or room[height] < count:
        height += 1
        room[height] = room[height - 1] * filled(settings.fanout)
    root = tree.used[ROOT]
    tree.nodes[root, HEIGHT] = height

    stack = np.empty((64 * (height + 1), 5), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 3], stack[0, 4] = 0, count, height, root
    stack[0, 2] = -(-count // room[height - 1])
    depth = 1
    while depth:
        depth -= 1
        begin, end, parts = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        height, node = stack[depth, 3], stack[depth, 4]
        if parts > 1:
            half = parts // 2
            cut = (end - begin) * half // parts
            divide(boxes, order[begin:end], cut)
            middle = begin + cut
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = middle, end, parts - half
            depth += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = begin, middle, half
            stack[depth, 3], stack[depth, 4] = height, node
            depth += 1
            continue
        box = box_around(boxes, order[begin:end])
        if height == 1:
            tree, leaf = new_leaf(tree, settings)
            attach(tree, settings, node, leaf, box)
            for i in range(begin, end):
                write_record(tree, clauses, settings, leaf, records[order[i]])
        else:
            tree, child = new_node(tree, settings, height - 1)
            attach(tree, settings, node, child, box)
            stack[depth, 0], stack[depth, 1], stack[depth, 3] = begin, end, height - 1
            stack[depth, 2], stack[depth, 4] = -(-(end - begin) // room[height - 2]), child
            depth += 1
    for node in range(tree.used[NODES]):
        tree = list_node(tree, clauses, settings, node)
    return tree
