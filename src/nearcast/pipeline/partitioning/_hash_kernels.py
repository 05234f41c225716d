"""64-bit hashes that stay the same for ever: ids are spread by them, and routes outlive a process.

```
numbers  int64[n]            integer ids
data     uint8[], offsets int64[n+1]   strings as Arrow holds them: data[offsets[i]:offsets[i+1]]
```
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.text._string_kernels import hash_bytes


@njit(cache=True, nogil=True)
def hash_numbers(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The next output of splitmix64 after each number as its state.  O(n)."""
    hashes = np.empty(len(numbers), np.uint64)
    for i in range(len(numbers)):
        z = np.uint64(numbers[i]) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes[i] = z ^ (z >> np.uint64(31))
    return hashes


@njit(cache=True, nogil=True)
def hash_strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """FNV-1a with a final mix of each string's bytes.  O(bytes)."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(hashes)):
        hashes[i] = hash_bytes(data, offsets[i], offsets[i + 1])
    return hashes
