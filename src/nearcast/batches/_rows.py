"""Rows chosen by a caller, and batches to be joined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nearcast.model.shapes import Space


def check_row(row: int, rows: int) -> None:
    """Refuse a row number outside [0, rows)."""
    if not 0 <= row < rows:
        raise IndexError(f"row {row} is outside a batch of {rows}; rows count from 0")


def row_numbers(chosen: npt.ArrayLike, rows: int) -> npt.NDArray[np.int64]:
    """The chosen rows as int64[], each of them in [0, rows).

    >>> row_numbers([True, False], 2)
    Traceback (most recent call last):
    TypeError: rows must be integers, not bool; of a mask take np.flatnonzero
    """
    numbers = np.asarray(chosen)
    if not len(numbers):
        return np.empty(0, np.int64)
    if not np.issubdtype(numbers.dtype, np.integer):
        raise TypeError(
            f"rows must be integers, not {numbers.dtype}; of a mask take np.flatnonzero"
        )
    check_row(int(numbers.min()), rows)
    check_row(int(numbers.max()), rows)
    return numbers.astype(np.int64)


def check_one_space(spaces: Sequence[Space]) -> None:
    """Refuse to join batches of different spaces."""
    if len(set(spaces)) > 1:
        raise ValueError("batches of the Earth and of the plane cannot be joined; use one space")
