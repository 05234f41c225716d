"""Entries that come and go one at a time, and leaves that become too long.

waiting  int64[76]   cells to visit
full     int64[F]    leaves that are to be divided
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._clauses import Clauses
from nearcast.boolean._records import ENTRY, run_count, run_start
from nearcast.boolean._verify import grown
from nearcast.boolean.pt_quadtree._build import build, halve, touched
from nearcast.boolean.pt_quadtree._layout import (
    BELOW,
    CHANGES,
    COVER,
    ENTRIES,
    FIRST,
    LEVEL,
    MIDDLE_X,
    MIDDLE_Y,
    MOST_WAITING,
    NODES,
    OWN,
    PARENT,
    WITH_WORDS,
    WITHOUT_WORDS,
    Quadtree,
    Settings,
    add_token,
    has_token,
)
from nearcast.boolean.pt_quadtree._lists import (
    Lists,
    add_to_list,
    drop_from_list,
    put_in_order,
    resize,
)
from nearcast.boolean.pt_quadtree._pivots import fit_sets
from nearcast.inner import inner


def add_entries(
    quadtree: Quadtree,
    lists: Lists,
    clauses: Clauses,
    settings: Settings,
    numbering: NDArray[np.int32],
    frame: NDArray[np.float64],
    records: NDArray[np.int32],
    ids: NDArray[np.int64],
) -> tuple[Quadtree, Lists]:
    """Add records with their IDs, then divide the leaves that have become too long.

    O(levels + words log sets) for each list, and O(list) each time that a list doubles.
    """
    quadtree, lists, full = add_all(quadtree, lists, clauses, settings, records, ids)
    for node in full.tolist():
        if quadtree.nodes[node, FIRST] == 0:
            quadtree, lists = _divide(quadtree, lists, clauses, settings, numbering, frame, node)
    return quadtree, lists


def _divide(
    quadtree: Quadtree,
    lists: Lists,
    clauses: Clauses,
    settings: Settings,
    numbering: NDArray[np.int32],
    frame: NDArray[np.float64],
    node: int,
) -> tuple[Quadtree, Lists]:
    """Build a leaf again, now that it has many entries.  O(list)."""
    put_in_order(quadtree, lists, node)
    reference = int(quadtree.lists[node])
    start, count = run_start(reference), run_count(reference)
    records, ids = lists.records[start : start + count].copy(), lists.ids[start : start + count]
    resize(quadtree, lists, node, start, count, 0)
    root, region = _root_and_region(quadtree, frame, node)
    first_new = quadtree.used[NODES]
    arena = np.arange(count, dtype=np.int32)
    quadtree, lists = build(
        quadtree, lists, clauses, settings, records, ids.copy(), arena, node, region
    )
    if root == WITH_WORDS:
        quadtree, words = fit_sets(quadtree, lists, clauses, numbering, node, first_new)
        quadtree = announce_all(quadtree, node, words)
    return quadtree, lists


def _root_and_region(
    quadtree: Quadtree, frame: NDArray[np.float64], node: int
) -> tuple[int, NDArray[np.float64]]:
    """The root above a cell, and the cell's west, south, east, north.  O(levels)."""
    path = [node]
    while (parent := int(quadtree.nodes[path[-1], PARENT])) >= 0:
        path.append(parent)
    region = frame.copy()
    for parent, child in zip(path[:0:-1], path[-2::-1], strict=True):
        x, y = quadtree.places[parent, MIDDLE_X], quadtree.places[parent, MIDDLE_Y]
        halve(region, child - int(quadtree.nodes[parent, FIRST]), x, y)
    return path[-1], region


@inner
def next_cell(quadtree, settings, bounds, waiting, depth):
    """The next cell whose list holds an entry with these bounds: (cell, what is left waiting)."""
    while True:
        depth -= 1
        node = waiting[depth]
        first = quadtree.nodes[node, FIRST]
        if first == 0:
            return node, depth
        parts = touched(bounds, quadtree.places[node, MIDDLE_X], quadtree.places[node, MIDDLE_Y])
        if settings.is_smallest_cell and parts & (parts - 1):
            return node, depth
        for child in range(4):
            if (parts >> child) & 1:
                waiting[depth] = first + child
                depth += 1


@njit(cache=True, nogil=True)
def add_all(quadtree, lists, clauses, settings, records, ids):
    """Add records to all lists they belong to: (quadtree, lists, leaves that are full now)."""
    bounds = records.view(np.float32)
    waiting = np.empty(MOST_WAITING, np.int64)
    full, count = np.empty(64, np.int64), 0
    for i in range(len(records)):
        entry = records[i, ENTRY]
        has_words = clauses.required[entry] > 0
        waiting[0] = WITH_WORDS if has_words else WITHOUT_WORDS
        depth = np.int64(1)
        while depth:
            node, depth = next_cell(quadtree, settings, bounds[i], waiting, depth)
            lists = add_to_list(quadtree, lists, node, clauses, records[i], ids[i])
            if has_words:
                quadtree = add_pivot(quadtree, clauses, entry, node)
            if (
                quadtree.nodes[node, FIRST] == 0
                and quadtree.places[node, LEVEL] < settings.most_levels
                and is_time_to_divide(settings, run_count(quadtree.lists[node]))
            ):
                if count == len(full):
                    full = grown(full, count + 1)
                full[count] = node
                count += 1
        quadtree.used[ENTRIES] += 1
        quadtree.used[CHANGES] += 1
    return quadtree, lists, full[:count]


@njit(cache=True, nogil=True)
def drop_all(quadtree, lists, clauses, settings, records, ids):
    """Take records out of all lists they are in.  O(levels + log list) for each list, amortised."""
    bounds = records.view(np.float32)
    waiting = np.empty(MOST_WAITING, np.int64)
    for i in range(len(records)):
        entry = records[i, ENTRY]
        waiting[0] = WITH_WORDS if clauses.required[entry] else WITHOUT_WORDS
        depth = np.int64(1)
        while depth:
            node, depth = next_cell(quadtree, settings, bounds[i], waiting, depth)
            drop_from_list(quadtree, lists, node, entry, ids[i])
        quadtree.used[ENTRIES] -= 1
        quadtree.used[CHANGES] += 1


@inner
def is_time_to_divide(settings, count):
    """A leaf is tried when it overflows and, if that did not help, each time it doubles."""
    tries, rest = divmod(count, settings.leaf_capacity + 1)
    return rest == 0 and tries > 0 and (tries & (tries - 1)) == 0


@inner
def add_pivot(quadtree, clauses, entry, node):
    """See to it that a word of the entry leads to the cell; returns the quadtree.

    One that does already, or else its first, which is rarest and so leads the fewest messages here.
    O(words levels log sets).
    """
    start = clauses.start[entry]
    for i in range(start, start + clauses.required[entry]):
        word = clauses.terms[i]
        if has_token(quadtree, node, OWN, word) or is_covered(quadtree, node, word):
            return quadtree
    word = clauses.terms[start]
    quadtree = add_token(quadtree, node, OWN, word)
    return announce(quadtree, node, word)


@inner
def is_covered(quadtree, node, word):
    """Does a cell above have the word in its cover set?"""
    above = quadtree.nodes[node, PARENT]
    while above >= 0:
        if has_token(quadtree, above, COVER, word):
            return True
        above = quadtree.nodes[above, PARENT]
    return False


@inner
def announce(quadtree, node, word):
    """Put a word that no cell above covers into their sets, as far as it is not there."""
    above = quadtree.nodes[node, PARENT]
    while above >= 0 and not has_token(quadtree, above, BELOW, word):
        quadtree = add_token(quadtree, above, BELOW, word)
        above = quadtree.nodes[above, PARENT]
    return quadtree


@njit(cache=True, nogil=True)
def announce_all(quadtree, node, words):
    """Put words that now lead below a cell into the sets above; returns the quadtree."""
    for word in words:
        if not is_covered(quadtree, node, word):
            quadtree = announce(quadtree, node, word)
    return quadtree
