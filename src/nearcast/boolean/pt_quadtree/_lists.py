"""The lists of a quadtree's cells: runs of records in the order of their IDs.

records  int32[R, 8]   see `nearcast.boolean._records`; two words of each entry are in the record
used     int64[2]      as in `nearcast.boolean._run_pool`
ids      int64[R]      the ID of each record of a list

A list is ordered by (ID, entry) except for its last TAIL records, which came later; when there are
more than TAIL_MOST of those, they are merged into the others. A record that is removed from the
ordered part stays as a dead one, whose bounds are NaN and meet no place, until the next merge or
until a quarter is dead. So a change of a long list does not move half of it.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._records import (
    EMPTY,
    ENTRY,
    MORE,
    NORTH,
    RUN,
    WEST,
    WORD_A,
    run_count,
    run_reference,
    run_room,
    run_start,
    settle_record,
)
from nearcast.boolean._run_pool import GARBAGE, RECORDS, RunPool, claim_records, empty_pool
from nearcast.boolean.pt_quadtree._layout import DEAD, NODES, TAIL
from nearcast.inner import inner

TAIL_MOST = 64

ALL_BUT_TWO = ~3  # `proven`, so that the first two words of a clause are those in its record


class Lists(NamedTuple):
    """The arrays; see the module docstring."""

    records: NDArray[np.int32]
    used: NDArray[np.int64]
    ids: NDArray[np.int64]


def empty_lists() -> Lists:
    """No list at all."""
    pool = empty_pool()
    return Lists(pool.records, pool.used, np.zeros(len(pool.records), np.int64))


@inner
def settle_first_words(clauses, record):
    """Put the first two words, the rarest, into the record: nothing is proven here."""
    settle_record(clauses, record, ALL_BUT_TWO)
    if clauses.required[record[ENTRY]] > 2:
        record[WORD_A] |= MORE


@inner
def copy_records(lists, begin, end, target, at):
    """Copy the records begin:end and their IDs to another place; forwards, so `at` may overlap."""
    for i in range(end - begin):
        for column in range(8):
            target.records[at + i, column] = lists.records[begin + i, column]
        target.ids[at + i] = lists.ids[begin + i]


@inner
def claim(lists, count):
    """Room for `count` more records at the end: (lists, where it begins).  O(1) amortised."""
    pool, start = claim_records(RunPool(lists.records, lists.used), count)
    ids = lists.ids
    if len(ids) < len(pool.records):
        ids = np.zeros(len(pool.records), np.int64)
        for i in range(len(lists.ids)):
            ids[i] = lists.ids[i]
    return Lists(pool.records, pool.used, ids), start


@njit(cache=True, nogil=True)
def resize(quadtree, lists, node, start, count, now):
    """Say that the list of a cell has shrunk from `count` to `now` records."""
    lists.used[GARBAGE] += run_room(count) - run_room(now)
    quadtree.lists[node] = run_reference(start, now) if now else EMPTY


@inner
def add_to_list(quadtree, lists, node, clauses, record, number):
    """Append a record with the ID `number` to a cell's list; returns the lists.

    O(1) amortised, O(list / TAIL_MOST) for the merging.
    """
    reference = quadtree.lists[node]
    start, count, room = np.int64(0), np.int64(0), np.int64(0)
    if reference != EMPTY:
        start, count = run_start(reference), run_count(reference)
        room = run_room(count)
    if count == room:
        old = start
        lists, start = claim(lists, run_room(count + 1))
        copy_records(lists, old, old + count, lists, start)
        lists.used[GARBAGE] += room
    lists.records[start + count] = record
    lists.ids[start + count] = number
    settle_first_words(clauses, lists.records[start + count])
    quadtree.lists[node] = run_reference(start, count + 1)
    quadtree.nodes[node, TAIL] += 1
    if quadtree.nodes[node, TAIL] > TAIL_MOST:
        put_in_order(quadtree, lists, node)
    return lists


@njit(cache=True, nogil=True, inline="always")
def comes_before(lists, at, number, entry):
    return lists.ids[at] < number or (lists.ids[at] == number and lists.records[at, ENTRY] < entry)


@njit(cache=True, nogil=True)
def put_in_order(quadtree, lists, node):
    """Forget the dead records of a list and merge its tail into the others.  O(list + tail²)."""
    reference = quadtree.lists[node]
    if reference == EMPTY:
        return
    records = lists.records
    start, count = run_start(reference), run_count(reference)
    tail = np.int64(quadtree.nodes[node, TAIL])
    ordered = start + count - tail
    late = Lists(np.empty((tail, 8), np.int32), lists.used, np.empty(tail, np.int64))
    copy_records(lists, ordered, start + count, late, 0)
    order = np.arange(tail)
    for i in range(1, tail):
        this, j = order[i], i
        while j and comes_before(
            late, this, late.ids[order[j - 1]], late.records[order[j - 1], ENTRY]
        ):
            order[j] = order[j - 1]
            j -= 1
        order[j] = this
    end = ordered
    if quadtree.nodes[node, DEAD]:
        bounds = records.view(np.float32)
        end = start
        for at in range(start, ordered):
            if not np.isnan(bounds[at, WEST]):
                copy_records(lists, at, at + 1, lists, end)
                end += 1
    # From the end, so that nothing is overwritten before it is moved.
    to = end + tail
    resize(quadtree, lists, node, start, count, to - start)
    at = end - 1
    for i in range(tail - 1, -1, -1):
        this = order[i]
        to -= 1
        while at >= start and not comes_before(
            lists, at, late.ids[this], late.records[this, ENTRY]
        ):
            copy_records(lists, at, at + 1, lists, to)
            at -= 1
            to -= 1
        copy_records(late, this, this + 1, lists, to)
    quadtree.nodes[node, TAIL], quadtree.nodes[node, DEAD] = 0, 0


@inner
def drop_from_list(quadtree, lists, node, entry, number):
    """Take an entry out of a cell's list.  O(log list) amortised."""
    records, ids = lists.records, lists.ids
    bounds = records.view(np.float32)
    reference = quadtree.lists[node]
    start, count = run_start(reference), run_count(reference)
    ordered = start + count - quadtree.nodes[node, TAIL]
    low, length = start, ordered - start
    while length > 0:
        half = length >> 1
        if comes_before(lists, low + half, number, entry):
            low += half + 1
            length -= half + 1
        else:
            length = half
    if (
        low < ordered
        and ids[low] == number
        and records[low, ENTRY] == entry
        and not np.isnan(bounds[low, WEST])
    ):
        for column in range(WEST, NORTH + 1):
            bounds[low, column] = np.nan
        quadtree.nodes[node, DEAD] += 1
        if 4 * quadtree.nodes[node, DEAD] > ordered - start:
            put_in_order(quadtree, lists, node)
        return
    at = ordered
    while records[at, ENTRY] != entry:
        at += 1
    copy_records(lists, start + count - 1, start + count, lists, at)
    quadtree.nodes[node, TAIL] -= 1
    resize(quadtree, lists, node, start, count, count - 1)


@njit(cache=True, nogil=True)
def pack_lists(lists, references):
    """Lists without garbage; the run references are changed in place.  O(n)."""
    lists, _ = claim(lists, np.int64(0))  # other runs among the records may not have IDs
    total = 0
    for reference in references:
        if reference & 3 == RUN:
            total += run_room(run_count(reference))
    new = Lists(
        np.zeros((max(16, total), 8), np.int32),
        np.zeros(2, np.int64),
        np.zeros(max(16, total), np.int64),
    )
    for i in range(len(references)):
        if references[i] & 3 == RUN:
            start, count = run_start(references[i]), run_count(references[i])
            at = new.used[RECORDS]
            copy_records(lists, start, start + count, new, at)
            references[i] = run_reference(at, count)
            new.used[RECORDS] += run_room(count)
    return new


@njit(cache=True, nogil=True)
def renumber_lists(quadtree, lists, old, new):
    """Replace each ID old[i] by new[i], both ascending; the dead go first.  O(n log n)."""
    for node in range(quadtree.used[NODES]):
        put_in_order(quadtree, lists, node)
        reference = quadtree.lists[node]
        if reference != EMPTY:
            start = run_start(reference)
            for i in range(start, start + run_count(reference)):
                lists.ids[i] = new[np.searchsorted(old, lists.ids[i])]
