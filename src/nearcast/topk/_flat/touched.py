"""Whose lists has a step changed?  Steps are messages that come, and time that passes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.topk._flat.subscriptions import HELD, STAMP, START, STEP, K

CANDIDATES, AFFECTED, SEARCHES, POSTINGS, ARRIVING, EXPIRING = range(6)
LISTS, STEPS = range(2)  # cells of `ends`


class Touched(NamedTuple):
    """Whose list a step has changed, and what it was before.

    slot    int32[n]     in the order of the first change
    start   int64[n+1]   where the old list begins
    seq     int32[]      of the old lists
    score   float64[]
    ends    int64[2]     how many have been touched in this step, and its number
    counts  int64[6]     since the index was made: candidates, affected rows, searches, postings
                         looked at, nanoseconds in which messages came, and in which they left
    """

    slot: NDArray[np.int32]
    start: NDArray[np.int64]
    seq: NDArray[np.int32]
    score: NDArray[np.float64]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]


def none_touched() -> Touched:
    """Nothing."""
    return Touched(
        np.empty(16, np.int32),
        np.zeros(17, np.int64),
        np.empty(64, np.int32),
        np.empty(64, np.float64),
        np.zeros(2, np.int64),
        np.zeros(6, np.int64),
    )


@inner
def longer(array, size):
    """The same things in an array with room for more."""
    if size <= len(array):
        return array
    larger = np.empty(size + size // 2, array.dtype)
    larger[: len(array)] = array
    return larger


@inner
def with_spare_lists(touched, lists, entries):
    """Room to remember so many lists more, with so many entries."""
    n = touched.ends[LISTS]
    has_places = n + lists <= len(touched.slot) and n + lists < len(touched.start)
    if has_places and touched.start[n] + entries <= len(touched.seq):
        return touched
    return Touched(
        longer(touched.slot, n + lists),
        longer(touched.start, n + lists + 1),
        longer(touched.seq, touched.start[n] + entries),
        longer(touched.score, touched.start[n] + entries),
        touched.ends,
        touched.counts,
    )


@inner
def remember(touched, subscriptions, rows, slot):
    """Keep the list of a subscription as it is before the first change of this step."""
    head = subscriptions.head[slot]
    if head[STAMP] == touched.ends[STEPS]:
        return
    head[STAMP] = touched.ends[STEPS]
    n = touched.ends[LISTS]
    touched.ends[LISTS] = n + 1
    count = min(head[K], head[HELD])
    begin, at = touched.start[n], head[START] * STEP
    touched.slot[n] = slot
    touched.start[n + 1] = begin + count
    for i in range(count):
        touched.seq[begin + i] = rows.seq[at + i]
        touched.score[begin + i] = rows.score[at + i]


@inner
def position_of(subscriptions, rows, slot, seq):
    """Where a message is in a row, -1 where it is not.  O(entries)."""
    at = subscriptions.head[slot, START] * STEP
    for i in range(subscriptions.head[slot, HELD]):
        if rows.seq[at + i] == seq:
            return i
    return -1


@inner
def next_step(touched):
    """Nothing has been touched yet."""
    touched.ends[LISTS] = 0
    touched.ends[STEPS] += 1
