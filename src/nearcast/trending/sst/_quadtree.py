"""Cells of subscriptions with summary labels (section 3.4 of the paper).

    box     float64[N, 7]  the corners LOW and HIGH of the spots below; LABEL, the lowest last score
                           of their lists
    middle  float64[N, 2]  lon, lat where a cell with children is cut
    link    int32[N, 5]    CHILD, the first of four, -1 for a leaf; PARENT, -1 for the root; FIRST,
                           a leaf's first subscription; COUNT of subscriptions below; DEPTH
    counts  int64[2]       NODES; VACANT, the first of four vacant ones, whose CHILD leads on

A cell with more subscriptions than its capacity (M of the paper) is cut in four in the middle of
what it has, since a plane has no border; four with half as many together are one again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.trending._nearby.documents import larger
from nearcast.trending.sst._lists import BEFORE, LAT, LEAF, LON, NEXT, X, last_score

LOW, HIGH, LABEL = 0, 3, 6
CHILD, PARENT, FIRST, COUNT, DEPTH = range(5)
NODES, VACANT = range(2)
DEEPEST = 60


class Quadtree(NamedTuple):
    """The arrays; see the module docstring."""

    box: NDArray[np.float64]
    middle: NDArray[np.float64]
    link: NDArray[np.int32]
    counts: NDArray[np.int64]


def no_quadtree() -> Quadtree:
    """One empty cell."""
    tree = Quadtree(
        np.empty((4, 7), np.float64),
        np.empty((4, 2), np.float64),
        np.full((4, 5), -1, np.int32),
        np.array([1, -1], np.int64),
    )
    tree.box[0] = [np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf, np.inf]
    tree.link[0, COUNT] = tree.link[0, DEPTH] = 0
    return tree


@inner
def begin_leaf(tree, node, parent, depth):
    """An empty cell."""
    tree.box[node, LOW:HIGH] = np.inf
    tree.box[node, HIGH:LABEL] = -np.inf
    tree.box[node, LABEL] = np.inf
    link = tree.link[node]
    link[CHILD], link[PARENT], link[FIRST], link[COUNT], link[DEPTH] = -1, parent, -1, 0, depth


@inner
def cover(tree, node, lists, slot):
    """The cell's box has the subscription."""
    for axis in range(3):
        value = lists.place[slot, X + axis]
        tree.box[node, LOW + axis] = min(tree.box[node, LOW + axis], value)
        tree.box[node, HIGH + axis] = max(tree.box[node, HIGH + axis], value)


@inner
def child_of(tree, node, lists, slot):
    """The quarter for a subscription."""
    right = lists.place[slot, LON] > tree.middle[node, 0]
    upper = lists.place[slot, LAT] > tree.middle[node, 1]
    return np.int64(tree.link[node, CHILD]) + right + 2 * upper


@inner
def chain(tree, node, lists, slot):
    """The subscription is in the leaf."""
    following = tree.link[node, FIRST]
    lists.head[slot, LEAF], lists.head[slot, NEXT], lists.head[slot, BEFORE] = node, following, -1
    if following >= 0:
        lists.head[following, BEFORE] = slot
    tree.link[node, FIRST] = slot
    tree.link[node, COUNT] += 1
    cover(tree, node, lists, slot)
    tree.box[node, LABEL] = min(tree.box[node, LABEL], last_score(lists, slot))


@inner
def insert(tree, lists, slot, capacity):
    """Algorithm 5.  O(depth), amortised."""
    node = np.int64(0)
    while tree.link[node, CHILD] >= 0:
        tree.link[node, COUNT] += 1
        cover(tree, node, lists, slot)
        node = child_of(tree, node, lists, slot)
    chain(tree, node, lists, slot)
    tree = cut(tree, lists, node, capacity)
    relabel(tree, lists, np.int64(lists.head[slot, LEAF]))
    return tree


@inner
def cut(tree, lists, node, capacity):
    """A leaf with too many becomes four; one of them again, where all went into it."""
    while tree.link[node, COUNT] > capacity and tree.link[node, DEPTH] < DEEPEST:
        west, south, east, north = np.inf, np.inf, -np.inf, -np.inf
        slot = np.int64(tree.link[node, FIRST])
        while slot >= 0:
            lon, lat = lists.place[slot, LON], lists.place[slot, LAT]
            west, east = min(west, lon), max(east, lon)
            south, north = min(south, lat), max(north, lat)
            slot = np.int64(lists.head[slot, NEXT])
        if west == east and south == north:
            return tree
        child = tree.counts[VACANT]
        if child >= 0:
            tree.counts[VACANT] = tree.link[child, CHILD]
        else:
            child = tree.counts[NODES]
            tree.counts[NODES] = child + 4
            if child + 4 > len(tree.link):
                size = 2 * (child + 4)
                tree = Quadtree(
                    larger(tree.box, size), larger(tree.middle, size), larger(tree.link, size),
                    tree.counts,
                )  # fmt: skip
        tree.middle[node, 0] = west + (east - west) / 2.0
        tree.middle[node, 1] = south + (north - south) / 2.0
        for quarter in range(child, child + 4):
            begin_leaf(tree, quarter, node, tree.link[node, DEPTH] + 1)
        slot = np.int64(tree.link[node, FIRST])
        tree.link[node, CHILD], tree.link[node, FIRST] = child, -1
        full = child
        while slot >= 0:
            following = np.int64(lists.head[slot, NEXT])
            chain(tree, child_of(tree, node, lists, slot), lists, slot)
            slot = following
        for quarter in range(child, child + 4):
            if tree.link[quarter, COUNT] > tree.link[full, COUNT]:
                full = quarter
        node = full
    return tree


@inner
def remove(tree, lists, slot, capacity):
    """Algorithm 6.  O(depth), amortised."""
    node = np.int64(lists.head[slot, LEAF])
    following, before = lists.head[slot, NEXT], lists.head[slot, BEFORE]
    if before >= 0:
        lists.head[before, NEXT] = following
    else:
        tree.link[node, FIRST] = following
    if following >= 0:
        lists.head[following, BEFORE] = before
    leaf = node
    while node >= 0:
        tree.link[node, COUNT] -= 1
        node = np.int64(tree.link[node, PARENT])
    relabel(tree, lists, leaf)
    parent = np.int64(tree.link[leaf, PARENT])
    while parent >= 0 and tree.link[parent, COUNT] <= capacity // 2:
        unite(tree, lists, parent)
        leaf, parent = parent, np.int64(tree.link[parent, PARENT])
    relabel(tree, lists, leaf)


@inner
def unite(tree, lists, node):
    """Four leaves are one."""
    child = np.int64(tree.link[node, CHILD])
    begin_leaf(tree, node, tree.link[node, PARENT], tree.link[node, DEPTH])
    for quarter in range(child, child + 4):
        slot = np.int64(tree.link[quarter, FIRST])
        while slot >= 0:
            following = np.int64(lists.head[slot, NEXT])
            chain(tree, node, lists, slot)
            slot = following
    tree.link[child, CHILD] = tree.counts[VACANT]
    tree.counts[VACANT] = child


@inner
def relabel(tree, lists, node):
    """The labels of a leaf and of all cells above it.  O(capacity + depth)."""
    label_leaf(tree, lists, node)
    node = np.int64(tree.link[node, PARENT])
    while node >= 0:
        label_inner(tree, node)
        node = np.int64(tree.link[node, PARENT])


@inner
def relabel_changed(tree, lists, node):
    """As `relabel`, where labels were right before lists changed: only as far as they changed."""
    label_leaf(tree, lists, node)
    node = np.int64(tree.link[node, PARENT])
    while node >= 0 and label_inner(tree, node):
        node = np.int64(tree.link[node, PARENT])


@inner
def label_leaf(tree, lists, node):
    """The lowest last score of the lists of a leaf.  O(capacity)."""
    label = np.inf
    slot = np.int64(tree.link[node, FIRST])
    while slot >= 0:
        label = min(label, last_score(lists, slot))
        slot = np.int64(lists.head[slot, NEXT])
    tree.box[node, LABEL] = label


@inner
def label_inner(tree, node):
    """The lowest label of its quarters: is it another one than before?"""
    child = np.int64(tree.link[node, CHILD])
    label = min(
        min(tree.box[child, LABEL], tree.box[child + 1, LABEL]),
        min(tree.box[child + 2, LABEL], tree.box[child + 3, LABEL]),
    )
    is_other = label != tree.box[node, LABEL]
    tree.box[node, LABEL] = label
    return is_other
