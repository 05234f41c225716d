"""Rows of different lengths, kept in two flat arrays.

```
start  int64[n+1]   row i owns values[start[i]:start[i+1]]
values any[start[n]]
```
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit

Starts = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Value = TypeVar("Value", bound=np.generic)


@njit(cache=True, nogil=True)
def gather(
    start: Starts, values: npt.NDArray[Value], rows: npt.NDArray[np.integer[Any]]
) -> tuple[Starts, npt.NDArray[Value]]:
    """The given rows, in the given order, as (start, values) of their own.  O(the result)."""
    out_start = np.empty(len(rows) + 1, np.int64)
    out_start[0] = 0
    for i in range(len(rows)):
        row = rows[i]
        out_start[i + 1] = out_start[i] + start[row + 1] - start[row]
    out = np.empty(out_start[len(rows)], values.dtype)
    for i in range(len(rows)):
        first = start[rows[i]]
        to = out_start[i]
        for k in range(out_start[i + 1] - to):
            out[to + k] = values[first + k]
    return out_start, out


@njit(cache=True, nogil=True)
def put_rows(
    values: npt.NDArray[Value], end: Starts, begin: Starts, out: npt.NDArray[Value]
) -> None:
    """Put row i, which ends at values[end[i]], to out[begin[i]:].  O(values)."""
    first = 0
    for i in range(len(end)):
        to = begin[i]
        for k in range(end[i] - first):
            out[to + k] = values[first + k]
        first = end[i]


@njit(cache=True, nogil=True)
def distinct(start: Starts, codes: Codes, size: int) -> tuple[Starts, Codes, Codes]:
    """Drop repeated codes from each row; codes are in [0, size).  O(rows + codes + size).

    Returns (out_start, out, rank): the rows without repeats, in order of first occurrence, and for
    each given code its position in its row there.
    """
    seen_in = np.full(size, -1, np.int64)  # the last row that held the code ...
    seen_at = np.empty(size, np.int32)  # ... and its position there
    out_start = np.empty(len(start), np.int64)
    out = np.empty_like(codes)
    rank = np.empty(len(codes), np.int32)
    kept = 0
    out_start[0] = 0
    for row in range(len(start) - 1):
        for k in range(start[row], start[row + 1]):
            code = codes[k]
            if seen_in[code] != row:
                seen_in[code] = row
                seen_at[code] = kept - out_start[row]
                out[kept] = code
                kept += 1
            rank[k] = seen_at[code]
        out_start[row + 1] = kept
    return out_start, out[:kept].copy(), rank
