"""Rows that come at the end and go anywhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FEW = 1024  # rows that are not worth moving together
WASTE = 1 / 8  # of the rows: so many unused ones are


class Pool:
    """An array with room at its end, some of whose rows nobody uses any more.

    `unused` counts those; whoever owns the others refills the pool with them when it is wasteful.

    >>> pool = Pool(np.arange(3))
    >>> pool.extend(np.array([7]))
    >>> pool.used
    array([0, 1, 2, 7])
    >>> pool.refill(np.array([2, 7]))
    >>> pool.used, pool.unused
    (array([2, 7]), 0)
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self._rows = rows
        self._length = len(rows)
        self.unused = 0

    @property
    def used(self) -> NDArray[Any]:
        """The rows, unused ones among them, as a view."""
        return self._rows[: self._length]

    @property
    def nbytes(self) -> int:
        """Memory, spare room included."""
        return self._rows.nbytes

    def is_wasteful(self, more: int) -> bool:
        """Is there no room for so many more, but for rows that nobody uses?"""
        is_full = self._length + more > len(self._rows)
        return is_full and self.unused > FEW + WASTE * self._length

    def refill(self, rows: NDArray[Any]) -> None:
        """These are all that are used.  O(rows)."""
        self._length = len(rows)
        if 2 * self._length + FEW < len(self._rows):
            self._rows = np.empty((self._length + self._length // 4, *rows.shape[1:]), rows.dtype)
        self._rows[: self._length] = rows
        self.unused = 0

    def extend(self, rows: NDArray[Any]) -> None:
        """Append rows.  Amortised O(rows): the room grows by a quarter when it is full."""
        length = self._length + len(rows)
        if length > len(self._rows):
            grown = np.empty((length + length // 4, *self._rows.shape[1:]), self._rows.dtype)
            grown[: self._length] = self.used
            self._rows = grown
        self._rows[self._length : length] = rows
        self._length = length
