"""A row from the window alone: for a new subscription, or one that has run short."""

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.topk._flat.arranged import nothing_arranged
from nearcast.topk._flat.fill_order import arranged_next
from nearcast.topk._flat.search import NEVER, best_first, search
from nearcast.topk._flat.subscriptions import HELD, ROOM, START, STEP, THETA, K
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
        subscriptions, slot, messages, rings, arranged, idf, grid, space, NEVER, most, scores, seqs
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
    """Rows for new subscriptions in the order of `fill_order`: all rows, with more room perhaps."""
    arranged = nothing_arranged()
    for n in range(len(slots)):
        slot = slots[n]
        arranged = arranged_next(subscriptions, slots, n, rings, arranged)
        rows = with_spare(rows, most_entries(subscriptions.head[slot, K]) + STEP)
        fill_row(subscriptions, rows, slot, messages, rings, arranged, idf, grid, space)
    return rows
