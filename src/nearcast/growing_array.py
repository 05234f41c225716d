"""An array that grows at its end without copying itself each time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """Rows of an array plus spare room for more.

    >>> numbers = GrowingArray(np.array([1, 2]))
    >>> numbers.extend(np.array([3]))
    >>> numbers.used
    array([1, 2, 3])
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self._rows = rows
        self._length = len(rows)

    @property
    def used(self) -> NDArray[Any]:
        """The rows in use, as a view.  O(1)."""
        return self._rows[: self._length]

    def extend(self, rows: NDArray[Any]) -> None:
        """Append rows.  Amortised O(rows): the room grows by half when it is full."""
        length = self._length + len(rows)
        if length > len(self._rows):
            grown = np.empty((length + length // 2, *self._rows.shape[1:]), self._rows.dtype)
            grown[: self._length] = self.used
            self._rows = grown
        self._rows[self._length : length] = rows
        self._length = length

    def shrink(self, count: int) -> NDArray[Any]:
        """Take the last `count` rows off and return a copy of them.  O(count).

        >>> numbers = GrowingArray(np.array([1, 2, 3]))
        >>> numbers.shrink(2), numbers.used
        (array([2, 3]), array([1]))
        """
        self._length -= count
        return self._rows[self._length : self._length + count].copy()
