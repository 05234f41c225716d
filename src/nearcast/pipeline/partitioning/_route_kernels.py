"""Shards as sets of bits.

```
masks   uint64[n, w]   row i goes to shard s where bit s % 64 of masks[i, s // 64] is set
start   int64[n+1]     row i goes to shards[start[i]:start[i+1]]
shards  int32[]        ascending, distinct within a row
```
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

Masks: TypeAlias = NDArray[np.uint64]
Starts: TypeAlias = NDArray[np.int64]
Shards: TypeAlias = NDArray[np.int32]

# The top 6 bits of a power of two times this number are different for each of the 64 powers.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
BIT_OF = np.empty(64, np.int32)
for _bit in range(64):
    BIT_OF[(int(DE_BRUIJN) << _bit) % 2**64 >> 58] = _bit


@njit(cache=True, nogil=True)
def lowest_bit(word: int) -> int:
    """The number of the lowest bit that is set in a uint64 other than 0.  O(1)."""
    lowest = word & (~word + np.uint64(1))
    return BIT_OF[(lowest * DE_BRUIJN) >> np.uint64(58)]


@njit(cache=True, nogil=True)
def set_bit(masks: Masks, row: int, shard: int) -> None:
    """Row `row` goes to `shard`.  O(1)."""
    masks[row, shard >> 6] |= np.uint64(1) << np.uint64(shard & 63)


@njit(cache=True, nogil=True)
def masks_of(start: Starts, shards: Shards, words: int) -> Masks:
    """The masks of routes, `words` numbers of 64 bits a row.  O(n * words + copies)."""
    masks = np.zeros((len(start) - 1, words), np.uint64)
    for row in range(len(masks)):
        for k in range(start[row], start[row + 1]):
            set_bit(masks, row, shards[k])
    return masks


@njit(cache=True, nogil=True)
def routes_of(masks: Masks) -> tuple[Starts, Shards]:
    """(start, shards) of masks.  O(n * words + copies)."""
    start = np.zeros(len(masks) + 1, np.int64)
    for row in range(len(masks)):
        copies = 0
        for word in range(masks.shape[1]):
            left = masks[row, word]
            while left:
                left &= left - np.uint64(1)
                copies += 1
        start[row + 1] = start[row] + copies
    shards = np.empty(start[len(masks)], np.int32)
    at = 0
    for row in range(len(masks)):
        for word in range(masks.shape[1]):
            left = masks[row, word]
            while left:
                shards[at] = 64 * word + lowest_bit(left)
                at += 1
                left &= left - np.uint64(1)
    return start, shards


@njit(cache=True, nogil=True)
def rows_by_shard(start: Starts, shards: Shards, count: int) -> tuple[Starts, Starts]:
    """(first, rows): shard s gets rows[first[s]:first[s+1]], ascending.  O(copies + count)."""
    first = np.zeros(count + 1, np.int64)
    for shard in shards:
        first[shard + 1] += 1
    for shard in range(count):
        first[shard + 1] += first[shard]
    rows = np.empty(len(shards), np.int64)
    at = first[:-1].copy()
    for row in range(len(start) - 1):
        for k in range(start[row], start[row + 1]):
            rows[at[shards[k]]] = row
            at[shards[k]] += 1
    return first, rows


@njit(cache=True, nogil=True)
def lowest_common(a: Masks, b: Masks) -> Shards:
    """The lowest bit set in both a[i] and b[i], or -1.  O(n * words)."""
    lowest = np.full(len(a), -1, np.int32)
    for i in range(len(a)):
        for word in range(a.shape[1]):
            both = a[i, word] & b[i, word]
            if both:
                lowest[i] = 64 * word + lowest_bit(both)
                break
    return lowest
