"""Candidates as records: what the lists and leaves of most indexes of the room hold.

records   int32[R, 8]    columns 4-7 are float32 bounds seen through `.view`

A record is half a cache line and settles most candidates by itself: the entry, the subscription's
slot, two keywords that the way to it did not prove, and the bounds, rounded outward. Flags sit in
the high bits of the first keyword.

A *run* is some records that lie side by side; a reference to it is an int64 whose two low bits are
1 (other values are free for what else an index refers to): start << 28 | count << 2 | 1. Runs own
`run_room(count)` records, so that a reference needs no capacity.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean.subscription_store import MOST_KEYWORDS, Entries
from nearcast.inner import inner

EMPTY, RUN = 0, 1  # kinds of reference

# Columns of `records`; 4-7 are west, south, east, north.
ENTRY, SLOT, WORD_A, WORD_B = range(4)
WEST, SOUTH, EAST, NORTH = 4, 5, 6, 7

# WORD_A and WORD_B hold a keyword or NO_WORD; WORD_A has flags above the keyword's bits.
NO_WORD = (1 << 27) - 1
SHAPED = 1 << 27  # the region is not a plain box: the bounds alone never decide
SHARED = 1 << 28  # the subscription has several entries: it may be found twice
FORBIDS = 1 << 29  # the clause has forbidden words
MORE = 1 << 30  # the clause has more keywords to check than these two

MOST_PROVEN = 62  # keyword offsets beyond this many are never marked proven

assert MOST_KEYWORDS <= NO_WORD


def records_of(entries: Entries) -> NDArray[np.int32]:
    """Entries as records; what is left to check is filled in by `settle_record`."""
    records = np.zeros((len(entries), 8), np.int32)
    records[:, ENTRY] = entries.entry
    records[:, SLOT] = entries.slot
    records[:, WORD_A] = SHAPED * entries.is_shaped + SHARED * entries.is_shared
    records.view(np.float32)[:, 4:8] = entries.bounds
    return records


@inner
def settle_record(clauses, record, proven):
    """Fill in which keywords are left to check: the last two, or a note to look it up.

    Bit i of `proven` says that a message that gets here has the i-th keyword of the entry.
    """
    entry = record[ENTRY]
    start = clauses.start[entry]
    flags = record[WORD_A] & (SHAPED | SHARED)
    if clauses.forbidden[entry]:
        flags |= FORBIDS
    record[WORD_A], record[WORD_B] = NO_WORD, NO_WORD
    left = 0
    for i in range(clauses.required[entry] - 1, -1, -1):
        if i < MOST_PROVEN and (proven >> i) & 1:
            continue
        if left == 2:
            flags |= MORE
            break
        record[WORD_A + left] = clauses.terms[start + i]
        left += 1
    record[WORD_A] |= flags


@njit(cache=True, nogil=True, inline="always")
def run_reference(start, count):
    return (start << 28) | (count << 2) | RUN


@njit(cache=True, nogil=True, inline="always")
def run_start(reference):
    return reference >> 28


@njit(cache=True, nogil=True, inline="always")
def run_count(reference):
    return (reference >> 2) & 0x3FFFFFF


@njit(cache=True, nogil=True)
def run_room(count):
    """Records a run of `count` owns: whole cache lines of two, an eighth of slack at the most.

    A function of the count alone, and a run that grows within its room keeps it: steps double at
    powers of two, which are multiples of both steps.
    """
    step = 2
    while 16 * step <= count:
        step *= 2
    return (count + step - 1) // step * step
