"""The best messages of each subscription, and some that may become so.

A *row* holds the messages of one subscription that score at least its threshold, best first, of
equal scores the newer first; those that k newer ones of at least the same score stand before may
be missing: they cannot come into the list before they leave the window.

    score  float64[E]   of each entry
    seq    int32[E]     the message, by arrival
    start  int64[S]     where the row of a subscription begins
    room   int32[S]     entries it has room for, a multiple of 8
    held   int32[S]     entries it has
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
    held: NDArray[np.int32]
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
def with_spare(buffers, spare):
    """Buffers that have room for so many entries more: the rest of a step need not ask again."""
    used, needed = buffers.used[ENTRIES], buffers.used[ENTRIES] + spare
    if needed <= len(buffers.seq):
        return buffers
    size = needed + needed // 4
    score, seq = np.empty(size, np.float64), np.empty(size, np.int32)
    score[:used] = buffers.score[:used]
    seq[:used] = buffers.seq[:used]
    return Buffers(
        score, seq, buffers.start, buffers.room, buffers.held, buffers.theta, buffers.free,
        buffers.used,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def claim_row(buffers, room):
    """An empty row with room for so many; there is spare room.  O(1)."""
    kind = (room + STEP - 1) // STEP
    at = buffers.free[kind]
    if at >= 0:
        following = buffers.seq[at]
        buffers.free[kind] = following if following < 0 else np.int64(following) * STEP
        buffers.used[FREE] -= kind * STEP
        return at
    at = buffers.used[ENTRIES]
    buffers.used[ENTRIES] = at + kind * STEP
    return at


@njit(cache=True, nogil=True)
def release_row(buffers, at, room):
    """A row is free for others."""
    if room > 0:
        kind = room // STEP
        buffers.seq[at] = buffers.free[kind] // STEP if buffers.free[kind] >= 0 else -1
        buffers.free[kind] = at
        buffers.used[FREE] += room


@njit(cache=True, nogil=True)
def grow_row(buffers, slot, room):
    """The same entries in a row with more room."""
    old, count = buffers.start[slot], buffers.held[slot]
    at = claim_row(buffers, room)
    for i in range(count):
        buffers.score[at + i] = buffers.score[old + i]
        buffers.seq[at + i] = buffers.seq[old + i]
    release_row(buffers, old, buffers.room[slot])
    buffers.start[slot] = at
    buffers.room[slot] = (room + STEP - 1) // STEP * STEP


@njit(cache=True, nogil=True)
def drop_dominated(buffers, slot, k):
    """Leave out entries that k newer ones stand before.  O(entries²), seldom."""
    at, count = buffers.start[slot], buffers.held[slot]
    kept = 0
    for i in range(count):
        newer = 0
        for j in range(kept):  # one that was left out has k before it that are newer still
            newer += buffers.seq[at + j] > buffers.seq[at + i]
        if newer < k:
            buffers.score[at + kept] = buffers.score[at + i]
            buffers.seq[at + kept] = buffers.seq[at + i]
            kept += 1
    buffers.held[slot] = kept


@njit(cache=True, nogil=True)
def thin_row(buffers, slot, k):
    """Make room in a full row: without the dominated, or else with a higher threshold.

    Returns whether the threshold has changed.
    """
    drop_dominated(buffers, slot, k)
    usual, count = usual_entries(k), buffers.held[slot]
    if count <= usual + k // 2:
        return False
    at = buffers.start[slot]
    theta = buffers.score[at + usual - 1]
    kept = usual
    while kept < count and buffers.score[at + kept] == theta:
        kept += 1  # no more than k: of equal scores, the older ones were dominated
    buffers.held[slot] = kept
    buffers.theta[slot] = theta
    return True


@njit(cache=True, nogil=True)
def enter(buffers, slot, k, score, seq):
    """Put the newest message into a row: has the threshold changed?  O(entries)."""
    raised = False
    if buffers.held[slot] == buffers.room[slot]:
        most = most_entries(k)
        if buffers.room[slot] >= most:
            raised = thin_row(buffers, slot, k)
        else:
            grow_row(buffers, slot, min(max(STEP, 2 * buffers.room[slot]), most))
    if score < buffers.theta[slot]:
        return raised
    at, count = buffers.start[slot], buffers.held[slot]
    place = at + count
    while place > at and buffers.score[place - 1] <= score:
        buffers.score[place] = buffers.score[place - 1]
        buffers.seq[place] = buffers.seq[place - 1]
        place -= 1
    buffers.score[place] = score
    buffers.seq[place] = seq
    buffers.held[slot] = count + 1
    return raised


@njit(cache=True, nogil=True)
def position_of(buffers, slot, seq):
    """Where a message is in a row, -1 where it is not.  O(entries)."""
    at = buffers.start[slot]
    for i in range(buffers.held[slot]):
        if buffers.seq[at + i] == seq:
            return i
    return -1


@njit(cache=True, nogil=True)
def take_out(buffers, slot, position):
    """Take a message out of a row.  O(entries)."""
    at, last = buffers.start[slot], buffers.held[slot] - 1
    for i in range(at + position, at + last):
        buffers.score[i] = buffers.score[i + 1]
        buffers.seq[i] = buffers.seq[i + 1]
    buffers.held[slot] = last
