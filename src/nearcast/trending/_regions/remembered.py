"""How were the lists that a step has changed?

slot   int32[n]      whose list it is
start  int64[n + 1]  its terms were term[start[i]:start[i + 1]]
term   int32[m]      best first
ends   int64[2]      how many lists are remembered, the number of the step
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.trending._regions.inner import inner
from nearcast.trending._regions.rows import HELD, STEP, K

LISTS, STEPS = 0, 1


class Remembered(NamedTuple):
    """The arrays drawn above."""

    slot: NDArray[np.int32]
    start: NDArray[np.int64]
    term: NDArray[np.int32]
    ends: NDArray[np.int64]


def nothing() -> Remembered:
    """Nothing is remembered, and no step has been taken."""
    return Remembered(
        np.zeros(16, np.int32),
        np.zeros(17, np.int64),
        np.zeros(64, np.int32),
        np.zeros(2, np.int64),
    )


@inner
def begin_step(remembered):
    """Nothing has been changed yet."""
    remembered.ends[LISTS] = 0
    remembered.ends[STEPS] += 1


@inner
def remember(remembered, rows, slot):
    """What is remembered, with this list as it is, if it is not there yet.  O(list)."""
    head = rows.head[slot]
    if head[STEP] == remembered.ends[STEPS]:
        return remembered
    head[STEP] = remembered.ends[STEPS]
    count, lists = np.int64(min(head[K], head[HELD])), remembered.ends[LISTS]
    begin = remembered.start[lists]
    if lists == len(remembered.slot) or begin + count > len(remembered.term):
        slots = np.zeros(2 * len(remembered.slot), np.int32)
        starts = np.zeros(2 * len(remembered.slot) + 1, np.int64)
        terms = np.zeros(2 * len(remembered.term) + count, np.int32)
        slots[: len(remembered.slot)] = remembered.slot
        starts[: len(remembered.start)] = remembered.start
        terms[: len(remembered.term)] = remembered.term
        remembered = Remembered(slots, starts, terms, remembered.ends)
    remembered.slot[lists] = slot
    at = rows.start[slot]
    for place in range(count):
        remembered.term[begin + place] = rows.term[at + place]
    remembered.start[lists + 1] = begin + count
    remembered.ends[LISTS] = lists + 1
    return remembered


@inner
def changed_lists(remembered, rows):
    """How many of the lists are other than they were.  O(lists)."""
    changed = 0
    for i in range(remembered.ends[LISTS]):
        slot = remembered.slot[i]
        begin, end = remembered.start[i], remembered.start[i + 1]
        at, head = rows.start[slot], rows.head[slot]
        is_other = end - begin != min(head[K], head[HELD])
        place = begin
        while not is_other and place < end:
            is_other = remembered.term[place] != rows.term[at + place - begin]
            place += 1
        changed += is_other
    return changed
