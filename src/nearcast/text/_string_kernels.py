"""The hash table under `StringTable`.

data  uint8[D]    the UTF-8 bytes of all strings, one after another
start int64[N+1]  string i is data[start[i]:start[i+1]]; what comes after is spare
slots int32[2^k]  open addressing, linear probing: a string's number, or -1 for an empty slot

The strings asked for come as Arrow holds them: string j is queried[offsets[j]:offsets[j+1]].
"""

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.prefetch import prefetch_row

EMPTY = -1
TOGETHER = 64


@njit(cache=True, nogil=True)
def hash_bytes(data, first, last):
    """FNV-1a, then a final mix, because the table uses the low bits only.  O(length)."""
    value = np.uint64(0xCBF29CE484222325)
    for i in range(first, last):
        value = (value ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))


@inner
def slot_of(queried, first, last, data, start, slots):
    """The slot of the string, or the empty slot where it belongs.  O(length), expected."""
    home = np.int64(hash_bytes(queried, first, last) & np.uint64(len(slots) - 1))
    return slot_from(home, queried, first, last, data, start, slots)


@inner
def slot_from(slot, queried, first, last, data, start, slots):
    """The same, when the slot where to begin is known."""
    mask = len(slots) - 1
    while slots[slot] != EMPTY:
        begin = start[slots[slot]]
        if start[slots[slot] + 1] - begin == last - first:
            same = True
            for i in range(last - first):
                if data[begin + i] != queried[first + i]:
                    same = False
                    break
            if same:
                break
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def find_strings(queried, offsets, data, start, slots, numbers):
    """Write the number of every string to `numbers`, EMPTY for the unknown.  O(bytes).

    Some at a time, step by step: what a step reads was asked for in the step before.
    """
    home = np.empty(TOGETHER, np.int64)
    for low in range(0, len(numbers), TOGETHER):
        high = min(low + TOGETHER, len(numbers))
        for j in range(low, high):
            value = hash_bytes(queried, offsets[j], offsets[j + 1])
            home[j - low] = np.int64(value & np.uint64(len(slots) - 1))
            prefetch_row(slots, home[j - low])
        for j in range(low, high):
            prefetch_row(start, slots[home[j - low]])
        for j in range(low, high):
            if slots[home[j - low]] != EMPTY:
                prefetch_row(data, start[slots[home[j - low]]])
        for j in range(low, high):
            first, last = offsets[j], offsets[j + 1]
            numbers[j] = slots[slot_from(home[j - low], queried, first, last, data, start, slots)]


@njit(cache=True, nogil=True)
def add_strings(queried, offsets, position, data, start, slots, count, capacity, numbers):
    """Number the strings that `find_strings` did not know, from `position` on, from `count` up.

    Stops at the first string that has no room; returns the position reached and the new count.
    """
    while position < len(numbers):
        if numbers[position] != EMPTY:
            position += 1
            continue
        first, last = offsets[position], offsets[position + 1]
        slot = slot_of(queried, first, last, data, start, slots)
        if slots[slot] == EMPTY:
            begin = start[count]
            if count == capacity or begin + last - first > len(data):
                break
            for i in range(last - first):
                data[begin + i] = queried[first + i]
            start[count + 1] = begin + last - first
            slots[slot] = count
            count += 1
        numbers[position] = slots[slot]
        position += 1
    return position, count


@njit(cache=True, nogil=True)
def fill_slots(data, start, count, slots):
    """Enter the first `count` strings, all distinct, into empty `slots`.  O(bytes)."""
    mask = len(slots) - 1
    for number in range(count):
        value = hash_bytes(data, start[number], start[number + 1])
        slot = np.int64(value & np.uint64(mask))
        while slots[slot] != EMPTY:
            slot = (slot + 1) & mask
        slots[slot] = number
