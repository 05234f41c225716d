"""Dividing a cell and everything in it (section 4.1).

arena    int32[A]        rows of `records` to place; a task owns arena[begin:end]
tasks    int64[76, 3]    begin, end, cell
regions  float64[76, 4]  west, south, east, north of the cell

A task is popped, divided, and its parts are pushed in the order they lie in the arena, so that the
popped task always ends where the arena ends.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import EAST, NORTH, SOUTH, WEST, run_reference, run_room
from nearcast.boolean.pt_quadtree._layout import (
    COPIES,
    FIRST,
    LEVEL,
    MOST_WAITING,
    add_children,
    copy_words,
)
from nearcast.boolean.pt_quadtree._lists import claim, settle_first_words
from nearcast.inner import inner

# When even the emptiest child would have this share of a cell's entries, dividing is no use.
NOTHING_DIVIDED = 0.9


@njit(cache=True, nogil=True, inline="always")
def touched(bounds, middle_x, middle_y):
    """Which children a closed box touches: a bit for each, south-west first."""
    west, east = bounds[WEST] < middle_x, bounds[EAST] >= middle_x
    south, north = bounds[SOUTH] < middle_y, bounds[NORTH] >= middle_y
    return (west & south) | ((east & south) << 1) | ((west & north) << 2) | ((east & north) << 3)


@njit(cache=True, nogil=True)
def halve(region, child, middle_x, middle_y):
    """Make the region of a cell that of one of its children."""
    region[2 - 2 * (child & 1)] = middle_x
    region[3 - 2 * (child >> 1)] = middle_y


@inner
def write_list(quadtree, lists, clauses, records, ids, chosen, node):
    """Copy records[chosen] to a new list of a cell that has none; returns the lists."""
    count = len(chosen)
    if count == 0:
        return lists
    lists, start = claim(lists, run_room(count))
    for i in range(count):
        record = lists.records[start + i]
        for column in range(8):
            record[column] = records[chosen[i], column]
        settle_first_words(clauses, record)
        lists.ids[start + i] = ids[chosen[i]]
    quadtree.lists[node] = run_reference(start, np.int64(count))
    return lists


@inner
def is_worth_dividing(quadtree, settings, node, size, count, stays):
    """Do the parts separate entries, without too many copies?

    Copies multiply from level to level: their product is bounded, and with it the memory of the
    whole, where the paper divides until the lists are short.
    """
    if settings.is_smallest_cell:
        return stays < size
    total = count[0] + count[1] + count[2] + count[3]
    if quadtree.places[node, COPIES] * total > settings.most_copies * size:
        return False
    return min(count[0], count[1], count[2], count[3]) < NOTHING_DIVIDED * size


@njit(cache=True, nogil=True)
def build(quadtree, lists, clauses, settings, records, ids, arena, root, region):
    """Place records[arena] in the cell `root`, a leaf without a list: (quadtree, lists).

    The arena is ascending by (ID, entry), and so become the lists.  O(n) for each level.
    """
    bounds = records.view(np.float32)
    tasks = np.empty((MOST_WAITING, 3), np.int64)
    regions = np.empty((MOST_WAITING, 4), np.float64)
    tasks[0, 0], tasks[0, 1], tasks[0, 2] = 0, len(arena), root
    regions[0] = region
    depth = 1
    count = np.empty(4, np.int64)
    while depth:
        depth -= 1
        begin, end, node = tasks[depth, 0], tasks[depth, 1], tasks[depth, 2]
        region = regions[depth].copy()
        size = end - begin
        if size <= settings.leaf_capacity or quadtree.places[node, LEVEL] >= settings.most_levels:
            lists = write_list(quadtree, lists, clauses, records, ids, arena[begin:end], node)
            continue
        middle_x = np.float32(region[0] / 2 + region[2] / 2)
        middle_y = np.float32(region[1] / 2 + region[3] / 2)
        parts = np.empty(size, np.uint8)
        count[0], count[1], count[2], count[3] = 0, 0, 0, 0
        stays = np.int64(0)
        for i in range(size):
            part = touched(bounds[arena[begin + i]], middle_x, middle_y)
            if settings.is_smallest_cell and part & (part - 1):
                part, stays = 0, stays + 1
            parts[i] = part
            for child in range(4):
                count[child] += (part >> child) & 1
        if not is_worth_dividing(quadtree, settings, node, size, count, stays):
            lists = write_list(quadtree, lists, clauses, records, ids, arena[begin:end], node)
            continue

        source = arena[begin:end].copy()
        if stays:
            staying = np.empty(stays, np.int32)
            at = 0
            for i in range(size):
                if parts[i] == 0:
                    staying[at] = source[i]
                    at += 1
            lists = write_list(quadtree, lists, clauses, records, ids, staying, node)
        total = count[0] + count[1] + count[2] + count[3]
        copies = quadtree.places[node, COPIES] * max(1.0, total / size)
        quadtree = add_children(quadtree, node, middle_x, middle_y, copies)
        if begin + total > len(arena):
            wider = np.empty((begin + total) * 5 // 4, np.int32)
            copy_words(arena, 0, begin, wider, 0)
            arena = wider
        at = begin
        for child in range(4):
            tasks[depth, 0] = at
            for i in range(size):
                if (parts[i] >> child) & 1:
                    arena[at] = source[i]
                    at += 1
            tasks[depth, 1], tasks[depth, 2] = at, quadtree.nodes[node, FIRST] + child
            regions[depth] = region
            halve(regions[depth], child, middle_x, middle_y)
            depth += 1
    return quadtree, lists
