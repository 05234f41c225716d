"""The best messages of each subscription, and some that may become so.

A *row* holds the messages of one subscription that score at least its threshold, best first, of
equal scores the newer first; those that k newer ones of at least the same score stand before may
be missing: they cannot come into the list before they leave the window.

    score  float64[E]   of each entry
    seq    int32[E]     the message, by arrival
    start  int64[S]     where the row of a subscription begins
    room   int32[S]     entries it has room for, a multiple of 8
    count  int32[S]     entries it has
    theta  float64[S]   the threshold; 0 when the row knows every message of the window
    free   int64[C]     the first free row of 8 * class entries, -1 for none; `seq` of a free row
                        leads to the next
    used   int64[2]     entries in use, with free rows; entries in free rows
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

STEP = 8
ENTRIES, FREE = 0, 1  # cells of `used`


class Buffers(NamedTuple):
    """The arrays; see the module docstring."""

    score: NDArray[np.float64]
    seq: NDArray[np.int32]
    start: NDArray[np.int64]
    room: NDArray[np.int32]
    count: NDArray[np.int32]
    theta: NDArray[np.float64]
    free: NDArray[np.int64]
    used: NDArray[np.int64]


def empty_buffers() -> Buffers:
    """No subscription."""
    return Buffers(
        np.empty(64, np.float64),
        np.empty(64, np.int32),
        np.empty(0, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.empty(0, np.float64),
        np.full(16, -1, np.int64),
        np.zeros(2, np.int64),
    )


@njit(cache=True, nogil=True, inline="always")
def most_entries(k):
    """Entries that a row may have: enough that a list seldom has to be searched for anew."""
    return 3 * k + 16


@njit(cache=True, nogil=True, inline="always")
def usual_entries(k):
    """Entries that are left when a full row is thinned, ties aside."""
    return 2 * k + 8


@njit(cache=True, nogil=True)
def claim_row(buffers, slot, room):
    """Give a subscription an empty row; the buffers, larger perhaps.  O(1) amortised."""
    kind = (room + STEP - 1) // STEP
    at = buffers.free[kind]
    if at >= 0:
        following = buffers.seq[at]
        buffers.free[kind] = following if following < 0 else np.int64(following) * STEP
        buffers.used[FREE] -= kind * STEP
    else:
        at = buffers.used[ENTRIES]
        buffers.used[ENTRIES] += kind * STEP
        needed = buffers.used[ENTRIES]
        if needed > len(buffers.seq):
            size = needed + needed // 4
            score, seq = np.empty(size, np.float64), np.empty(size, np.int32)
            score[:at] = buffers.score[:at]
            seq[:at] = buffers.seq[:at]
            buffers = Buffers(
                score, seq, buffers.start, buffers.room, buffers.count, buffers.theta,
                buffers.free, buffers.used,
            )  # fmt: skip
    buffers.start[slot] = at
    buffers.room[slot] = kind * STEP
    return buffers


@njit(cache=True, nogil=True)
def release_row(buffers, slot):
    """The row of a subscription is free for others."""
    room = buffers.room[slot]
    if room > 0:
        at, kind = buffers.start[slot], room // STEP
        buffers.seq[at] = buffers.free[kind] // STEP if buffers.free[kind] >= 0 else -1
        buffers.free[kind] = at
        buffers.used[FREE] += room
    buffers.room[slot] = 0
    buffers.count[slot] = 0


@njit(cache=True, nogil=True)
def grow_row(buffers, slot, room):
    """The same entries in a row with more room."""
    old, count = buffers.start[slot], buffers.count[slot]
    old_room = buffers.room[slot]
    buffers = claim_row(buffers, slot, room)
    at = buffers.start[slot]
    buffers.score[at : at + count] = buffers.score[old : old + count]
    buffers.seq[at : at + count] = buffers.seq[old : old + count]
    if old_room > 0:
        kind = old_room // STEP
        buffers.seq[old] = buffers.free[kind] // STEP if buffers.free[kind] >= 0 else -1
        buffers.free[kind] = old
        buffers.used[FREE] += old_room
    return buffers


@njit(cache=True, nogil=True)
def drop_dominated(buffers, slot, k):
    """Leave out entries that k newer ones stand before.  O(entries²), seldom."""
    at, count = buffers.start[slot], buffers.count[slot]
    kept = 0
    for i in range(count):
        newer = 0
        for j in range(kept):  # one that was left out has k before it that are newer still
            newer += buffers.seq[at + j] > buffers.seq[at + i]
        if newer < k:
            buffers.score[at + kept] = buffers.score[at + i]
            buffers.seq[at + kept] = buffers.seq[at + i]
            kept += 1
    buffers.count[slot] = kept


@njit(cache=True, nogil=True)
def thin_row(buffers, slot, k):
    """Make room in a full row: without the dominated, or else with a higher threshold.

    Returns whether the threshold has changed.
    """
    drop_dominated(buffers, slot, k)
    usual, count = usual_entries(k), buffers.count[slot]
    if count <= usual + k // 2:
        return False
    at = buffers.start[slot]
    theta = buffers.score[at + usual - 1]
    kept = usual
    while kept < count and buffers.score[at + kept] == theta:
        kept += 1  # no more than k: of equal scores, the older ones were dominated
    buffers.count[slot] = kept
    buffers.theta[slot] = theta
    return True


@njit(cache=True, nogil=True)
def enter(buffers, slot, k, score, seq):
    """Put the newest message into a row: (buffers, its position, did the threshold change?).

    O(entries).
    """
    raised = False
    if buffers.count[slot] == buffers.room[slot]:
        most = most_entries(k)
        if buffers.room[slot] >= most:
            raised = thin_row(buffers, slot, k)
        else:
            buffers = grow_row(buffers, slot, min(max(STEP, 2 * buffers.room[slot]), most))
    if score < buffers.theta[slot]:
        return buffers, -1, raised
    at, count = buffers.start[slot], buffers.count[slot]
    scores, seqs = buffers.score, buffers.seq
    place = at + count
    while place > at and scores[place - 1] <= score:
        scores[place] = scores[place - 1]
        seqs[place] = seqs[place - 1]
        place -= 1
    scores[place] = score
    seqs[place] = seq
    buffers.count[slot] = count + 1
    return buffers, place - at, raised


@njit(cache=True, nogil=True)
def leave(buffers, slot, seq):
    """Take a message out of a row: its position, or -1 where it is not in it.  O(entries)."""
    at, count = buffers.start[slot], buffers.count[slot]
    for i in range(at, at + count):
        if buffers.seq[i] == seq:
            for j in range(i, at + count - 1):
                buffers.score[j] = buffers.score[j + 1]
                buffers.seq[j] = buffers.seq[j + 1]
            buffers.count[slot] = count - 1
            return i - at
    return -1
