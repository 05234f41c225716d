"""Entries of an AP+-Tree that come, go and move, and what becomes of the messages meanwhile."""

import numpy as np
from numba import njit

from nearcast.boolean._records import EMPTY, ENTRY, RUN, SHAPED, WORD_A, run_start
from nearcast.boolean.ap_tree._layout import CHILDREN, GARBAGE, RECORDS, get_child
from nearcast.boolean.ap_tree._update import change, repack
from nearcast.inner import inner
from nearcast.moving.ap_plus_tree._lists import COUNT, INNER, NEXT, carried, lift, with_positions
from nearcast.moving.ap_plus_tree._paths import entry_paths

TAKEN_OUT, PUT_IN = 1, 2  # what happens to an entry: one of them, or both when it moves


@njit(cache=True, nogil=True)
def change_entries(tree, lists, clauses, statistics, settings, old, new, world, what):
    """Take entries out, put them in, or move them: (tree, lists, is the root due?, moved).

    `old` and `new` are their records with the rectangles of before and after. An entry that stays
    in its leaves has just its records there rewritten; the others are counted as moved.
    """
    paths, regions = np.empty((64, 2), np.int64), np.empty((64, 4), np.float64)
    new_paths, new_regions = np.empty((64, 2), np.int64), np.empty((64, 4), np.float64)
    moved = 0
    for i in range(len(old)):
        entry = old[i, ENTRY]
        if what == TAKEN_OUT | PUT_IN:
            paths, regions, count = entry_paths(
                tree, clauses, entry, old[i].view(np.float32)[4:8], world, paths, regions
            )
            new_paths, new_regions, new_count = entry_paths(
                tree, clauses, entry, new[i].view(np.float32)[4:8], world, new_paths, new_regions
            )
            if count == new_count and (paths[:count] == new_paths[:count]).all():
                for k in range(count):
                    if paths[k, 1]:
                        _rewrite(tree, paths[k, 0], entry, new[i])
                continue
            moved += 1
        for step in (TAKEN_OUT, PUT_IN):
            if not what & step:
                continue
            record = old[i] if step == TAKEN_OUT else new[i]
            tree, lists, is_due = _change_one(
                tree, lists, clauses, statistics, settings, record, world, step == PUT_IN,
                paths, regions,
            )  # fmt: skip
            if is_due:
                return tree, lists, True, moved
    return tree, lists, False, moved


@inner
def _rewrite(tree, position, entry, record):
    """Give the record of an entry in a leaf another rectangle."""
    at = run_start(get_child(tree, position))
    while tree.records[at, ENTRY] != entry:
        at += 1
    tree.records[at, 4:8] = record[4:8]
    tree.records[at, WORD_A] = (tree.records[at, WORD_A] & ~SHAPED) | (record[WORD_A] & SHAPED)


@inner
def _change_one(
    tree, lists, clauses, statistics, settings, record, world, adding, paths, regions
):  # fmt: skip
    """One change; messages below a node that is built again stay where it hangs."""
    bounds = record.view(np.float32)[4:8]
    paths, regions, count = entry_paths(tree, clauses, record[ENTRY], bounds, world, paths, regions)
    before = np.empty(count, np.int64)
    for k in range(count):
        before[k] = get_child(tree, paths[k, 0])
    tree, is_due = change(tree, clauses, statistics, settings, record, world, adding)
    if is_due:
        return tree, lists, True
    lists = with_positions(lists, tree.used[CHILDREN])
    for k in range(count):
        position, now = paths[k, 0], get_child(tree, paths[k, 0])
        if now == before[k] or (now & 3 in (EMPTY, RUN) and before[k] & 3 in (EMPTY, RUN)):
            continue
        if before[k] & 3 in (EMPTY, RUN):
            at = lists.first[position + 1]
            while at:
                lists.used[INNER] += lists.chunks[at, COUNT]
                at = lists.chunks[at, NEXT]
        else:
            lists = lift(tree, lists, before[k], position)
    if tree.used[GARBAGE] > 1024 + tree.used[RECORDS] // 2:
        packed = repack(tree)
        lists = carried(tree, packed, lists)
        tree = packed
    return tree, lists, False
