"""A row from the window alone: for a new subscription, or one that has run short."""

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.topk._flat.arranged import LONG, SEVERAL, arranged_for, nothing_arranged
from nearcast.topk._flat.search import best_first, search
from nearcast.topk._flat.subscriptions import (
    FIRST,
    HELD,
    LAT,
    LON,
    ROOM,
    START,
    STEP,
    THETA,
    WORDS,
    K,
)
from nearcast.topk._flat.window import CELL_BITS, CELLS, cell_of
from nearcast.topk._flat.window import HELD as RING_HELD
from nearcast.topk.word_lists._rows import (
    claim_row,
    most_entries,
    release_row,
    usual_entries,
    with_spare,
    without_dominated,
)


@inner
def fill_row(subscriptions, rows, slot, messages, rings, arranged, idf, grid, space):
    """A row from the window alone, with a threshold that fits; there is spare room."""
    k = subscriptions.head[slot, K]
    most = usual_entries(k)
    scores, seqs = np.empty(most), np.empty(most, np.int32)
    size, lost = search(
        subscriptions, slot, messages, rings, arranged, idf, grid, space, most, scores, seqs
    )
    best_first(scores, seqs, size, most)
    worst = scores[size - 1] if size > 0 else 0.0
    theta = 0.0
    if lost >= 0.0 or size == most:
        theta = worst
        if lost == worst:
            # Older ones of the lowest score are missing. They never come into the list where k
            # newer ones of that score are here; else that score is not kept.
            equal = 0
            while equal < size and scores[size - 1 - equal] == worst:
                equal += 1
            if equal < k:
                size -= equal
                theta = scores[size - 1]
    size = without_dominated(scores, seqs, size, k)
    release_row(subscriptions, rows, slot)
    steps = size // STEP + 1
    at = claim_row(rows, steps)
    rows.score[at * STEP : at * STEP + size] = scores[:size]
    rows.seq[at * STEP : at * STEP + size] = seqs[:size]
    head = subscriptions.head[slot]
    head[START], head[HELD], head[ROOM] = at, size, steps * STEP
    subscriptions.place[slot, THETA] = theta


@njit(cache=True, nogil=True)
def fill_rows(subscriptions, rows, slots, messages, rings, idf, grid, space):
    """Rows for new subscriptions, by their last words; the rows, with more room perhaps."""
    arranged = nothing_arranged()
    for n in range(len(slots)):
        slot = slots[n]
        word = last_word(subscriptions, slot)
        if n == 0 or word != last_word(subscriptions, slots[n - 1]):
            arranged = nothing_arranged()
            others = n + SEVERAL - 1  # of the same word, if there are as many
            if (
                rings.rings[word, RING_HELD] >= LONG
                and others < len(slots)
                and last_word(subscriptions, slots[others]) == word
            ):
                arranged = arranged_for(rings, word)
        rows = with_spare(rows, most_entries(subscriptions.head[slot, K]) + STEP)
        fill_row(subscriptions, rows, slot, messages, rings, arranged, idf, grid, space)
    return rows


@njit(cache=True, nogil=True)
def fill_order(subscriptions, slots, grid):
    """A number for each, by which they are best filled: by the last word, neighbours together.

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
