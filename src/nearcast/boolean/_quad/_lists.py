"""Ranked-key lists of entries: shared by IQ-Tree and RQ-Tree.

lists    int32[n]   the list of each entry: 0 for entries that require no word, else 1 + the rank of
                    the last of their words, which is the rarest
owner    int32[P]   pairs of an entry and a cell it is attached to, see `_quad_cells`:
codes    int64[P]       the entry's position in a batch, and the cell
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import (
    EMPTY,
    ENTRY,
    MOST_PROVEN,
    run_count,
    run_reference,
    run_room,
    run_start,
    settle_record,
)
from nearcast.boolean._run_pool import GARBAGE, RunPool
from nearcast.inner import inner

LIST_BITS = 27  # words have no more, and the last rank is never used


@njit(cache=True, nogil=True)
def rarest_lists(clauses, entries):
    """The list of each entry.  O(entries)."""
    lists = np.zeros(len(entries), np.int32)
    for i in range(len(entries)):
        count = np.int64(clauses.required[entries[i]])
        if count:
            lists[i] = 1 + clauses.terms[clauses.start[entries[i]] + count - 1]
    return lists


@njit(cache=True, nogil=True)
def settle_all(clauses, records):
    """Note in each record what is left to check once its list is found: all words but the last."""
    for i in range(len(records)):
        last = np.int64(clauses.required[records[i, ENTRY]]) - 1
        proven = np.int64(1) << last if 0 <= last < MOST_PROVEN else np.int64(0)
        settle_record(clauses, records[i], proven)


@njit(cache=True, nogil=True)
def write_runs(records, owner, begins):
    """A pool with one run for each group of pairs: (pool, references).  O(pairs).

    Group g has the records of owner[begins[g]:begins[g + 1]].
    """
    groups = len(begins) - 1
    references = np.empty(groups, np.int64)
    used = np.zeros(2, np.int64)
    for g in range(groups):
        used[0] += run_room(begins[g + 1] - begins[g])
    rows = np.zeros((max(16, used[0]), 8), np.int32)
    start = 0
    for g in range(groups):
        count = begins[g + 1] - begins[g]
        for i in range(count):
            rows[start + i] = records[owner[begins[g] + i]]
        references[g] = run_reference(start, count)
        start += run_room(count)
    return RunPool(rows, used), references


@inner
def drop_entry(pool, reference, entry):
    """Take an entry's record out of a run; the new reference.  O(run).

    The last one fills its place: quicker than `drop_record`, which keeps the order.
    """
    start, count = run_start(reference), run_count(reference)
    at = start
    while pool.records[at, ENTRY] != entry:
        at += 1
    pool.records[at] = pool.records[start + count - 1]
    pool.used[GARBAGE] += run_room(count) - run_room(count - 1)
    if count == 1:
        return np.int64(EMPTY)
    return run_reference(start, count - 1)


@inner
def is_time_to_divide(count, capacity):
    """A list is looked at when it overflows and, if it stayed whole, each time it doubles."""
    tries, rest = divmod(count, capacity + 1)
    return rest == 0 and tries > 0 and (tries & (tries - 1)) == 0
