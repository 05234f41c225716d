"""Batches carry the words they use and no others."""

import numpy as np
from numpy.typing import NDArray


def words_in_use(
    codes: NDArray[np.int32], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Which of `size` codes occur, in order, and each code as its number among those.

    >>> in_use, renumbered = words_in_use(np.array([7, 2, 7], np.int32), 10)
    >>> in_use.tolist(), renumbered.tolist()
    ([2, 7], [1, 0, 1])
    """
    occurs = np.zeros(size, np.bool_)
    occurs[codes] = True
    number = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(occurs), number[codes]
