"""The best messages of each subscription, and some that may become so.

A *row* holds the messages of one subscription that score at least its threshold, best first, of
equal scores the newer first; those that k newer ones of at least the same score stand before may
be missing: they cannot come into the list before they leave the window. Where a row begins, how
many entries it has and its threshold, 0 when it has every message of the window, stand with the
subscription.

    score  float64[E]   of each entry
    seq    int32[E]     the message, by arrival
    free   int32[C]     the first free row of STEP * class entries, in steps, -1 for none; `seq` of
                        a free row leads to the next
    used   int64[2]     entries in use, with free rows; entries in free rows
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.large_pages import in_large_pages
from nearcast.prefetch import prefetch_row
from nearcast.topk._flat.subscriptions import HELD, ROOM, START, STEP, THETA

ENTRIES, FREE = 0, 1  # cells of `used`
LINE = 64  # bytes of a cache line
NEAR = 48  # entries of a row that are asked for: all, where k is not large


class Rows(NamedTuple):
    """The arrays; see the module docstring."""

    score: NDArray[np.float64]
    seq: NDArray[np.int32]
    free: NDArray[np.int32]
    used: NDArray[np.int64]


def no_rows() -> Rows:
    """The arrays of none."""
    return Rows(
        np.empty(64, np.float64),
        np.empty(64, np.int32),
        np.full(16, -1, np.int32),
        np.zeros(2, np.int64),
    )


@njit(cache=True, nogil=True, inline="always")
def most_entries(k):
    """Entries that a row may have: more than one that was thinned, with k of equal scores."""
    return 2 * k + k // 4 + 2 * STEP


@njit(cache=True, nogil=True, inline="always")
def usual_entries(k):
    """Entries that are left when a row is thinned, ties aside."""
    return k + k // 4 + 2


@njit(cache=True, nogil=True, inline="always")
def full_row(k):
    """Entries of a row that is thinned before it grows."""
    return usual_entries(k) + k // 4


@inner
def ask_for_row(column, head):
    """Have the entries of a row, in one column, brought near."""
    begin = head[START] * STEP
    end = begin + min(head[HELD], NEAR)
    for i in range(begin, end, LINE // column.itemsize):
        prefetch_row(column, i)
    prefetch_row(column, end - 1)


@inner
def with_spare(rows, spare):
    """Rows that have room for so many entries more: the rest of a step need not ask again."""
    used, needed = rows.used[ENTRIES], rows.used[ENTRIES] + spare
    if needed <= len(rows.seq):
        return rows
    size = needed + needed // 16
    score = in_large_pages(np.empty(size, np.float64))
    seq = in_large_pages(np.empty(size, np.int32))
    score[:used] = rows.score[:used]
    seq[:used] = rows.seq[:used]
    return Rows(score, seq, rows.free, rows.used)


@inner
def claim_row(rows, steps):
    """An empty row of so many steps; there is spare room.  O(1)."""
    at = rows.free[steps]
    if at >= 0:
        rows.free[steps] = rows.seq[at * STEP]
        rows.used[FREE] -= steps * STEP
        return at
    at = np.int32(rows.used[ENTRIES] // STEP)
    rows.used[ENTRIES] += steps * STEP
    return at


@njit(cache=True, nogil=True)
def release_row(subscriptions, rows, slot):
    """The row of a subscription is free for others."""
    steps, at = subscriptions.head[slot, ROOM] // STEP, subscriptions.head[slot, START]
    if steps > 0:
        rows.seq[at * STEP] = rows.free[steps]
        rows.free[steps] = at
        rows.used[FREE] += steps * STEP


@inner
def grow_row(subscriptions, rows, slot):
    """The same entries in a row that has room for one step more."""
    head = subscriptions.head[slot]
    steps = head[ROOM] // STEP + 1
    at = claim_row(rows, steps)
    begin, old = at * STEP, head[START] * STEP
    for i in range(head[HELD]):
        rows.score[begin + i] = rows.score[old + i]
        rows.seq[begin + i] = rows.seq[old + i]
    release_row(subscriptions, rows, slot)
    head[START] = at
    head[ROOM] = steps * STEP


@inner
def without_dominated(score, seq, count, k):
    """Leave out, of entries best first, those that k newer ones stand before: how many are left.

    O(entries²), seldom.
    """
    kept = 0
    for i in range(count):
        newer = 0
        for j in range(kept):  # one that was left out has k before it that are newer still
            newer += seq[j] > seq[i]
        if newer < k:
            score[kept] = score[i]
            seq[kept] = seq[i]
            kept += 1
    return kept


@inner
def thin_row(subscriptions, rows, slot, k):
    """Make room in a full row: without the dominated, or else with a higher threshold.

    Returns whether the threshold has changed.
    """
    head = subscriptions.head[slot]
    at = head[START] * STEP
    score = rows.score[at : at + head[HELD]]
    count = without_dominated(score, rows.seq[at : at + head[HELD]], head[HELD], k)
    head[HELD] = count
    usual = usual_entries(k)
    if count <= usual + k // 8:
        return False
    theta = score[usual - 1]
    kept = usual
    while kept < count and score[kept] == theta:
        kept += 1  # no more than k: of equal scores, the older ones were dominated
    head[HELD] = kept
    subscriptions.place[slot, THETA] = theta
    return True


@inner
def enter(subscriptions, rows, slot, k, score, seq):
    """Put the newest message into a row: has the threshold changed?  O(entries)."""
    head = subscriptions.head[slot]
    raised = False
    if head[HELD] == head[ROOM]:
        if head[ROOM] >= full_row(k):
            raised = thin_row(subscriptions, rows, slot, k)
        if head[HELD] == head[ROOM]:
            grow_row(subscriptions, rows, slot)
    if score < subscriptions.place[slot, THETA]:
        return raised
    at = head[START] * STEP
    place = at + head[HELD]
    while place > at and rows.score[place - 1] <= score:
        rows.score[place] = rows.score[place - 1]
        rows.seq[place] = rows.seq[place - 1]
        place -= 1
    rows.score[place] = score
    rows.seq[place] = seq
    head[HELD] += 1
    return raised


@inner
def take_out(subscriptions, rows, slot, position):
    """Take a message out of a row.  O(entries)."""
    head = subscriptions.head[slot]
    at, last = head[START] * STEP, head[HELD] - 1
    for i in range(at + position, at + last):
        rows.score[i] = rows.score[i + 1]
        rows.seq[i] = rows.seq[i + 1]
    head[HELD] = last
