"""Integer ids in an open-addressing table.

table   int32[2^k]   slots, or FREE, or GONE where a removed one was
number  int64[S]     the id in each slot
"""

import numpy as np
from numba import njit

from nearcast.prefetch import prefetch_row

FREE, GONE = -1, -2
AHEAD = 32


@njit(cache=True, nogil=True, inline="always")
def _home(value, mask):
    mixed = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))


@njit(cache=True, nogil=True)
def find_id(table, number, value):
    """The slot of an id, -1 for an unknown one.  O(1) expected."""
    mask = len(table) - 1
    at = _home(value, mask)
    while table[at] != FREE:
        if table[at] >= 0 and number[table[at]] == value:
            return table[at]
        at = (at + 1) & mask
    return -1


@njit(cache=True, nogil=True)
def find_ids(table, number, ids, slots):
    """Write the slot of each id to `slots`, -1 where it is unknown.  O(1) expected each.

    Cells, and the ids that they lead to, are on their way before they are needed.
    """
    mask, last = len(table) - 1, len(ids) - 1
    for i in range(-2 * AHEAD if len(ids) else 0, len(ids)):
        prefetch_row(table, _home(ids[min(i + 2 * AHEAD, last)], mask))
        if i >= -AHEAD:
            at = _home(ids[min(i + AHEAD, last)], mask)
            while table[at] != FREE:
                prefetch_row(number, table[at])
                at = (at + 1) & mask
        if i >= 0:
            slots[i] = find_id(table, number, ids[i])


@njit(cache=True, nogil=True)
def enter_ids(table, number, slots):
    """Enter slots whose ids are not in the table yet; returns how many FREE cells it took."""
    mask, last = len(table) - 1, len(slots) - 1
    taken = 0
    for i in range(len(slots)):
        prefetch_row(table, _home(number[slots[min(i + AHEAD, last)]], mask))
        at = _home(number[slots[i]], mask)
        while table[at] >= 0:
            at = (at + 1) & mask
        taken += table[at] == FREE
        table[at] = slots[i]
    return taken


@njit(cache=True, nogil=True)
def drop_ids(table, number, slots):
    """Take slots that are in the table out of it.  O(1) expected each."""
    mask, last = len(table) - 1, len(slots) - 1
    for i in range(-AHEAD if len(slots) else 0, len(slots)):
        prefetch_row(number, slots[min(i + 2 * AHEAD, last)])
        prefetch_row(table, _home(number[slots[min(i + AHEAD, last)]], mask))
        if i < 0:
            continue
        slot = slots[i]
        at = _home(number[slot], mask)
        while table[at] != slot:
            at = (at + 1) & mask
        table[at] = GONE


@njit(cache=True, nogil=True)
def put_numbers(numbers, slots, end, begin, out):
    """Put the numbers of row i, whose slots end at end[i], to out[begin[i]:].

    O(slots), reads on their way before they are needed.
    """
    last = len(slots) - 1
    for i in range(min(AHEAD, len(slots))):
        prefetch_row(numbers, slots[i])
    first = 0
    for row in range(len(end)):
        to = begin[row] - first
        for i in range(first, end[row]):
            prefetch_row(numbers, slots[min(i + AHEAD, last)])
            out[to + i] = numbers[slots[i]]
        first = end[row]
