"""What no index of this kind can beat: one cache miss a keyword, one write a match.

lines   int64[2**27]  1 GB; the first of each 8 (a cache line) holds the number of the next line
word_start, match_start   int64[m+1]  keywords and matches of message m, as in their batches
answers int64[]       one cell per match

The lines form one cycle in random order, and each address comes from the read before it, so that
neither the prefetcher nor out-of-order execution can hide a read.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

BYTES = 1 << 30
_PER_LINE = 8  # int64 in 64 bytes


def scattered_cycle(size: int) -> NDArray[np.int64]:
    """Lines that lead to one another, through all of them and back to the first.

    `size` in bytes is a power of two.
    """
    count = size // (8 * _PER_LINE)
    order = _scatter(np.arange(count, dtype=np.uint64), count)
    lines = np.zeros(count * _PER_LINE, np.int64)
    lines[order * _PER_LINE] = np.roll(order, -1)
    return lines


def _scatter(numbers: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """A fixed permutation of 0..count-1 that looks random; every step is invertible mod 2**n."""
    mask = np.uint64(count - 1)
    shift = np.uint64(max(1, (count - 1).bit_length() // 2))
    for factor in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D):
        numbers = (numbers * np.uint64(factor)) & mask
        numbers ^= numbers >> shift
    return numbers.astype(np.int64)


@njit(cache=True, nogil=True)
def visit(
    lines: NDArray[np.int64],
    word_start: NDArray[np.int64],
    match_start: NDArray[np.int64],
    answers: NDArray[np.int64],
    line: int,
) -> int:
    """Read a line per keyword and write a cell per match.  O(keywords + matches)."""
    for message in range(word_start.size - 1):
        for _ in range(word_start[message], word_start[message + 1]):
            line = lines[line * _PER_LINE]
        for match in range(match_start[message], match_start[message + 1]):
            answers[match] = line
    return line
