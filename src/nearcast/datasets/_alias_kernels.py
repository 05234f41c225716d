"""Draws from any finite distribution in constant time: Walker's alias table.

keep    float64[n]  column i answers i with this probability ...
other   int32[n]    ... and other[i] else
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.datasets._random_kernels import fraction


@njit(cache=True, nogil=True)
def _fill(share: NDArray[np.float64], keep: NDArray[np.float64], other: NDArray[np.int32]) -> None:
    """Pair each column below the average with one above it (Vose's method).  O(n)."""
    n = share.size
    small = np.empty(n, np.int32)
    large = np.empty(n, np.int32)
    smalls = 0
    larges = 0
    for i in range(n):
        if share[i] < 1.0:
            small[smalls] = i
            smalls += 1
        else:
            large[larges] = i
            larges += 1
    while smalls > 0 and larges > 0:
        smalls -= 1
        low, high = small[smalls], large[larges - 1]
        keep[low] = share[low]
        other[low] = high
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            larges -= 1
            small[smalls] = high
            smalls += 1
    # What is left differs from the average by rounding only.
    for i in range(smalls):
        keep[small[i]] = 1.0
        other[small[i]] = small[i]
    for i in range(larges):
        keep[large[i]] = 1.0
        other[large[i]] = large[i]


def alias_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """`(keep, other)` for positive weights, which need not add up to 1."""
    n = weights.size
    keep, other = np.empty(n, np.float64), np.empty(n, np.int32)
    # A running sum, because np.sum adds in an order that differs between machines.
    _fill(weights * (n / np.cumsum(weights)[-1]), keep, other)
    return keep, other


@njit(cache=True, nogil=True)
def pick(keep: NDArray[np.float64], other: NDArray[np.int32], state: int) -> int:
    """The column that this state's draw falls on.  O(1)."""
    place = fraction(state) * keep.size
    column = int(place)
    return column if place - column < keep[column] else int(other[column])
