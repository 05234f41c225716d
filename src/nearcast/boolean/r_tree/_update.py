"""Entries that come and go, in place (A. Guttman: R-trees, SIGMOD 1984).

An entry goes down to where boxes grow least, and is listed on its way; a leaf or node that is full
becomes two, and their inverted lists are written anew. An entry that goes is known by its home, so
nothing is searched for; what it leaves behind, boxes too large and words too many, stays until the
tree is built again, which is when as many entries have come and gone as it was built with. A leaf
or node that is empty goes at once.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import ENTRY
from nearcast.boolean.r_tree._build import write_record
from nearcast.boolean.r_tree._divide import box_around, divide, enlarge, finite, size_of
from nearcast.boolean.r_tree._layout import (
    ALWAYS,
    CHANGES,
    COUNT,
    ENTRIES,
    FREE_LEAF,
    FREE_NODE,
    GARBAGE,
    HEIGHT,
    LIST_ROOM,
    LIST_WORDS,
    NO_WORD_HERE,
    NOBODY,
    PARENT,
    ROOT,
    attach,
    lists_of,
    new_leaf,
    new_node,
)
from nearcast.boolean.r_tree._lists import (
    list_child,
    list_entry,
    list_node,
    move_bit,
)
from nearcast.inner import inner


@inner
def least_enlarged(boxes, box):
    """Which of the boxes has to grow least to contain `box`; of equal ones the smallest.

    O(n).
    """
    best, least_growth, least_area = 0, (np.inf, np.inf), np.inf
    for i in range(len(boxes)):
        area, border = size_of(boxes[i])
        width = finite(max(boxes[i, 2], box[2])) - finite(min(boxes[i, 0], box[0]))
        height = finite(max(boxes[i, 3], box[3])) - finite(min(boxes[i, 1], box[1]))
        growth = (width * height - area, width + height - border)
        if growth < least_growth or (growth == least_growth and area < least_area):
            best, least_growth, least_area = i, growth, area
    return best


@inner
def leaf_for(tree, clauses, settings, record):
    """The leaf where a record belongs, its entry listed and its box within those on the way.

    O(fanout) at each level: (tree, leaf).
    """
    box = record.view(np.float32)[4:8]
    node = tree.used[ROOT]
    if tree.nodes[node, COUNT] == 0:
        tree, leaf = new_leaf(tree, settings)
        attach(tree, settings, node, leaf, box)
    while True:
        first = node * settings.fanout
        position = least_enlarged(tree.boxes[first : first + tree.nodes[node, COUNT]], box)
        enlarge(tree.boxes[first + position], box)
        tree = list_entry(tree, clauses, settings, node, position, record[ENTRY])
        child = np.int64(tree.children[first + position])
        if tree.nodes[node, HEIGHT] == 1:
            return tree, child
        node = child


@inner
def split_leaf(tree, clauses, settings, leaf, record):
    """Divide a full leaf and one more record between it and a new one, not hung anywhere yet.

    O(leaf): (tree, the box around what the leaf keeps, the new leaf, the box around that).
    """
    capacity = settings.leaf_capacity
    first = leaf * capacity
    records = np.empty((capacity + 1, 8), np.int32)
    records[:capacity] = tree.records[first : first + capacity]
    records[capacity] = record
    boxes = records.view(np.float32)[:, 4:8].copy()
    order = np.arange(capacity + 1)
    cut = (capacity + 1) // 2
    divide(boxes, order, cut)
    tree, other = new_leaf(tree, settings)
    tree.records[first : first + capacity] = 0
    tree.leaves[leaf, COUNT] = 0
    for i in range(capacity + 1):
        write_record(tree, clauses, settings, leaf if i < cut else other, records[order[i]])
    return tree, box_around(boxes, order[:cut]), other, box_around(boxes, order[cut:])


@inner
def share_branch(tree, clauses, settings, branch, box, other, other_box):
    """Part of what was below a branch is now `other`, to be hung beside it; nodes up may split."""
    fanout = settings.fanout
    while True:
        node, position = branch // fanout, branch % fanout
        tree.boxes[branch] = box
        count = tree.nodes[node, COUNT]
        if count < fanout:
            move_bit(tree, node, position, position)
            tree = list_child(tree, clauses, settings, node, position)
            position = attach(tree, settings, node, other, other_box)
            return list_child(tree, clauses, settings, node, position)

        # One child too many: this node keeps the first group, a new one beside it the other.
        boxes = np.empty((count + 1, 4), np.float32)
        children = np.empty(count + 1, np.int64)
        first = node * fanout
        boxes[:count], boxes[count] = tree.boxes[first : first + count], other_box
        children[:count], children[count] = tree.children[first : first + count], other
        order = np.arange(count + 1)
        cut = (count + 1) // 2
        divide(boxes, order, cut)
        height = np.int64(tree.nodes[node, HEIGHT])
        tree, beside = new_node(tree, settings, height)
        tree.nodes[node, COUNT] = 0
        for i in range(count + 1):
            child = order[i]
            attach(tree, settings, node if i < cut else beside, children[child], boxes[child])
        tree = list_node(tree, clauses, settings, node)
        tree = list_node(tree, clauses, settings, beside)
        box, other_box = box_around(boxes, order[:cut]), box_around(boxes, order[cut:])
        other = beside
        branch = np.int64(tree.nodes[node, PARENT])
        if branch == NOBODY:
            tree, root = new_node(tree, settings, height + 1)
            tree.used[ROOT] = root
            attach(tree, settings, root, node, box)
            attach(tree, settings, root, other, other_box)
            return list_node(tree, clauses, settings, root)


@inner
def remove(tree, settings, entry):
    """Take an entry out.  O(1), and O(words of a node) for each leaf or node that empties."""
    capacity = settings.leaf_capacity
    home = np.int64(tree.homes[entry])
    leaf = home // capacity
    tree.leaves[leaf, COUNT] -= 1
    last = leaf * capacity + tree.leaves[leaf, COUNT]
    tree.records[home] = tree.records[last]
    tree.keys[home] = tree.keys[last]
    tree.homes[tree.records[home, ENTRY]] = home
    tree.homes[entry] = NOBODY
    tree.records[last] = 0
    if tree.leaves[leaf, COUNT] == 0:
        branch = np.int64(tree.leaves[leaf, PARENT])
        tree.leaves[leaf, PARENT] = tree.used[FREE_LEAF]
        tree.used[FREE_LEAF] = leaf
        detach(tree, settings, branch)


@inner
def detach(tree, settings, branch):
    """Let go of a branch below which nothing is left, and of nodes that have no other."""
    fanout = settings.fanout
    while True:
        node, position = branch // fanout, branch % fanout
        tree.nodes[node, COUNT] -= 1
        last = np.int64(tree.nodes[node, COUNT])
        if last == 0:
            branch = np.int64(tree.nodes[node, PARENT])
            if branch == NOBODY:
                clear_root(tree, node)
                return
            free_node(tree, node)
            continue
        move_bit(tree, node, last, position)
        if last != position:
            moved = node * fanout + last
            tree.boxes[branch], tree.children[branch] = tree.boxes[moved], tree.children[moved]
            if tree.nodes[node, HEIGHT] == 1:
                tree.leaves[tree.children[branch], PARENT] = branch
            else:
                tree.nodes[tree.children[branch], PARENT] = branch
        break
    root = tree.used[ROOT]
    while tree.nodes[root, COUNT] == 1 and tree.nodes[root, HEIGHT] > 1:
        child = np.int64(tree.children[root * fanout])
        free_node(tree, root)
        tree.nodes[child, PARENT] = NOBODY
        tree.used[ROOT] = child
        root = child


@inner
def free_node(tree, node):
    """Put a node in the chain of those that wait for use."""
    tree.used[GARBAGE] += tree.nodes[node, LIST_ROOM]
    tree.nodes[node] = 0
    tree.nodes[node, PARENT] = tree.used[FREE_NODE]
    tree.used[FREE_NODE] = node


@inner
def clear_root(tree, root):
    """Nothing is left: a root without a child, ready for its first leaf."""
    start, room = lists_of(tree, root)
    tree.lists[start : start + room] = 0
    tree.lists[start : start + room, 0] = NO_WORD_HERE
    tree.nodes[root, LIST_WORDS], tree.nodes[root, ALWAYS] = 0, 0
    tree.nodes[root, HEIGHT] = 1


@njit(cache=True, nogil=True)
def insert_all(tree, clauses, settings, records):
    """Add the records' entries, one after the other; returns the tree.  O(fanout) a level each.

    It calls the steps itself: calls within calls within calls are compiled again at every depth.
    """
    for record in records:
        tree, leaf = leaf_for(tree, clauses, settings, record)
        if tree.leaves[leaf, COUNT] < settings.leaf_capacity:
            write_record(tree, clauses, settings, leaf, record)
        else:
            tree, box, other, other_box = split_leaf(tree, clauses, settings, leaf, record)
            branch = np.int64(tree.leaves[leaf, PARENT])
            tree = share_branch(tree, clauses, settings, branch, box, other, other_box)
    tree.used[ENTRIES] += len(records)
    tree.used[CHANGES] += len(records)
    return tree


@njit(cache=True, nogil=True)
def remove_all(tree, settings, entries):
    """Take entries out, one after the other.  O(1) each, see `remove`."""
    for entry in entries:
        remove(tree, settings, entry)
    tree.used[ENTRIES] -= len(entries)
    tree.used[CHANGES] += len(entries)
