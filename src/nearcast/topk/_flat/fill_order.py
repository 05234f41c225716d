"""Many new subscriptions search the window best one beside the other that needs the same of it."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.topk._flat.arranged import LONG, SEVERAL, arranged_for, nothing_arranged
from nearcast.topk._flat.subscriptions import FIRST, LAT, LON, WORDS, Subscriptions
from nearcast.topk._flat.window import CELL_BITS, CELLS, HELD, cell_of


def in_fill_order(
    subscriptions: Subscriptions, slots: NDArray[np.int32], grid: tuple[float, float, float, float]
) -> NDArray[np.int32]:
    """Subscriptions in the order in which they are best filled."""
    return slots[np.argsort(fill_order(subscriptions, slots, grid))]


@njit(cache=True, nogil=True)
def fill_order(subscriptions, slots, grid):
    """A number for each: by the last word, neighbours together.

    Who searches the same ring for the same part of the world finds near what the last one needed.
    """
    order = np.empty(len(slots), np.int64)
    for n in range(len(slots)):
        place = subscriptions.place[slots[n]]
        cell = np.int64(cell_of(place[LON], place[LAT], grid))
        column, row = cell // CELLS, cell % CELLS
        near = 0
        for bit in range(CELL_BITS):  # of column and row in turn
            near |= (column >> bit & 1) << (2 * bit + 1) | (row >> bit & 1) << (2 * bit)
        order[n] = np.int64(last_word(subscriptions, slots[n])) << (2 * CELL_BITS) | near
    return order


@inner
def last_word(subscriptions, slot):
    """The most frequent of its words, whose ring is the longest to search."""
    return subscriptions.word[subscriptions.head[slot, FIRST] + subscriptions.head[slot, WORDS] - 1]


@inner
def arranged_next(subscriptions, slots, n, rings, arranged):
    """What is arranged for the n-th of subscriptions in order, given what was for the last."""
    word = last_word(subscriptions, slots[n])
    if n > 0 and word == last_word(subscriptions, slots[n - 1]):
        return arranged
    others = n + SEVERAL - 1  # of the same word, if there are as many
    if (
        rings.rings[word, HELD] >= LONG
        and others < len(slots)
        and last_word(subscriptions, slots[others]) == word
    ):
        return arranged_for(rings, word)
    return nothing_arranged()
