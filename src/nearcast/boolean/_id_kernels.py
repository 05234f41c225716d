"""Integer ids in an open-addressing table.

table   int32[2^k]   slots, or FREE, or GONE where a removed one was
number  int64[S]     the id in each slot
"""

import numpy as np
from numba import njit

FREE, GONE = -1, -2


@njit(cache=True, nogil=True, inline="always")
def _home(value, mask):
    mixed = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))


@njit(cache=True, nogil=True)
def find_ids(table, number, ids, slots):
    """Write the slot of each id to `slots`, -1 where it is unknown.  O(1) expected each."""
    mask = len(table) - 1
    for i in range(len(ids)):
        at = _home(ids[i], mask)
        slots[i] = -1
        while table[at] != FREE:
            if table[at] >= 0 and number[table[at]] == ids[i]:
                slots[i] = table[at]
                break
            at = (at + 1) & mask


@njit(cache=True, nogil=True)
def enter_ids(table, number, slots):
    """Enter slots whose ids are not in the table yet; returns how many FREE cells it took."""
    mask = len(table) - 1
    taken = 0
    for i in range(len(slots)):
        at = _home(number[slots[i]], mask)
        while table[at] >= 0:
            at = (at + 1) & mask
        taken += table[at] == FREE
        table[at] = slots[i]
    return taken


@njit(cache=True, nogil=True)
def drop_ids(table, number, slots):
    """Take slots that are in the table out of it.  O(1) expected each."""
    mask = len(table) - 1
    for slot in slots:
        at = _home(number[slot], mask)
        while table[at] != slot:
            at = (at + 1) & mask
        table[at] = GONE
