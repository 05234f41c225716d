"""Runs of records that grow and shrink one record at a time.

records  int32[R, 8]   see `_records`
used     int64[2]      how many records are in use, and how many of those no run owns any more

A run that outgrows its room moves to the end and leaves its old place as garbage; the owner of the
references calls `packed` when garbage is more than half.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._records import (
    EMPTY,
    ENTRY,
    RUN,
    run_count,
    run_reference,
    run_room,
    run_start,
)
from nearcast.inner import inner

RECORDS, GARBAGE = 0, 1  # cells of `used`


class RunPool(NamedTuple):
    """The arrays; see the module docstring."""

    records: NDArray[np.int32]
    used: NDArray[np.int64]


def empty_pool() -> RunPool:
    """A pool without a record."""
    return RunPool(np.empty((16, 8), np.int32), np.zeros(2, np.int64))


@inner
def claim_records(pool, count):
    """Room for `count` more records at the end: (pool, where it begins).  O(1) amortised."""
    start = pool.used[RECORDS]
    records = pool.records
    if start + count > len(records):
        records = np.empty((max(start + count, len(records) + len(records) // 2), 8), np.int32)
        records[:start] = pool.records[:start]
    pool.used[RECORDS] += count
    return RunPool(records, pool.used), start


@inner
def append_record(pool, reference, record):
    """Add a record at the end of a run, or to none (EMPTY): (pool, the new reference).

    O(1) amortised.
    """
    start, count, room = 0, 0, 0
    if reference != EMPTY:
        start, count = run_start(reference), run_count(reference)
        room = run_room(count)
    if count == room:
        old = start
        pool, start = claim_records(pool, run_room(count + 1))
        pool.records[start : start + count] = pool.records[old : old + count]
        pool.used[GARBAGE] += room
    pool.records[start + count] = record
    return pool, run_reference(start, count + 1)


@njit(cache=True, nogil=True)
def drop_record(pool, reference, entry):
    """Take an entry's record out of a run; the new reference.  O(run).

    The order of the others is kept.
    """
    start, count = run_start(reference), run_count(reference)
    at = start
    while pool.records[at, ENTRY] != entry:
        at += 1
    for i in range(at, start + count - 1):
        pool.records[i] = pool.records[i + 1]
    pool.used[GARBAGE] += run_room(count) - run_room(count - 1)
    if count == 1:
        return np.int64(EMPTY)
    return run_reference(start, count - 1)


@njit(cache=True, nogil=True)
def packed(pool, references):
    """A pool without garbage; the run references among `references` are changed in place.  O(n)."""
    total = 0
    for reference in references:
        if reference & 3 == RUN:
            total += run_room(run_count(reference))
    records = np.empty((max(16, total), 8), np.int32)
    used = np.zeros(2, np.int64)
    for i in range(len(references)):
        if references[i] & 3 == RUN:
            start, count = run_start(references[i]), run_count(references[i])
            at = used[RECORDS]
            records[at : at + count] = pool.records[start : start + count]
            references[i] = run_reference(at, count)
            used[RECORDS] += run_room(count)
    return RunPool(records, used)
