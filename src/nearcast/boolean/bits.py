"""`Bits`: a bit for each of many things, made once and cleared after each message."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._words import BITS, no_words


class Bits:
    """Lends arrays of bits (see `_words`), one to each thread that matches.

    Every array that lies here is clear. To make one for each message would take longer than to
    match it, where there are a million words or subscriptions.

    >>> bits = Bits()
    >>> mine = bits.lend(100)
    >>> bits.take_back(mine)
    >>> bits.lend(100) is mine
    True
    """

    def __init__(self) -> None:
        self._spare: list[NDArray[np.uint64]] = []

    def lend(self, count: int) -> NDArray[np.uint64]:
        """Bits for at least so many, none of which is set."""
        try:
            bits = self._spare.pop()
        except IndexError:  # and not asked before: another thread may take the last one meanwhile
            bits = None
        if bits is None or BITS * (len(bits) - 1) < count:
            bits = no_words(count + count // 8)
        return bits

    def take_back(self, bits: NDArray[np.uint64]) -> None:
        """Bits that were lent, all cleared again."""
        self._spare.append(bits)
