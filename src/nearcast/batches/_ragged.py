"""Rows of different lengths in flat arrays: building and checking them.

The layout is drawn in `_ragged_kernels.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def start_of(counts: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Where each row starts, given how long it is; one more entry says where the last one ends.

    >>> start_of(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    start = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def joined_starts(starts: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """The start array of ragged columns put one after the other.

    >>> joined_starts([np.array([0, 2, 3]), np.array([0, 4])])
    array([0, 2, 3, 7])
    """
    return start_of(np.concatenate([np.diff(start) for start in starts]))


def check_start(name: str, start: npt.NDArray[np.int64], rows: int, size: int) -> None:
    """Refuse a start array that does not cut `size` values into `rows` rows."""
    check_ends(name, start, rows, size)
    if bool((start[1:] < start[:-1]).any()):
        raise ValueError(f"{name} must rise from row to row")


def check_ends(name: str, start: npt.NDArray[np.int64], rows: int, size: int) -> None:
    """The part of `check_start` that needs only the ends.  O(1)."""
    check_array(name, start, np.int64, (rows + 1,))
    if start[0] != 0 or start[-1] != size:
        raise ValueError(f"{name} must rise from 0 to {size}, the number of values it cuts")


def check_array(
    name: str, array: npt.NDArray[Any], dtype: type[np.generic], shape: tuple[int, ...]
) -> None:
    """Refuse an array of another type or shape."""
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name} must be {np.dtype(dtype)}{list(shape)}, not {array.dtype}{list(array.shape)}"
        )


def check_codes(name: str, codes: npt.NDArray[np.int32], size: int) -> None:
    """Refuse codes that are not numbers of the `size` words of a lexicon."""
    check_array(name, codes, np.int32, (codes.size,))
    if len(codes) and not (0 <= codes.min() and codes.max() < size):
        raise ValueError(f"{name} must be numbers of the {size} words of the lexicon")
