"""How were the lists that a step has changed?

slot   int32[n]      whose list it is
start  int64[n + 1]  its terms were term[start[i]:start[i + 1]]
term   int32[m]      best first
ends   int64[2]      how many lists are remembered, the number of the step
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf, melting
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


def nothing_more(remembered: Remembered) -> Remembered:
    """After a step that may have changed very many lists, which need not stay in memory."""
    remembered.ends[LISTS] = 0
    return nothing()._replace(ends=remembered.ends)


@leaf
def begin_step(remembered):
    """Nothing has been changed yet."""
    remembered.ends[LISTS] = 0
    remembered.ends[STEPS] += 1


@melting
def has_room(remembered, rows, slot):
    """Can this list be remembered?  Else `with_room` comes first."""
    lists = remembered.ends[LISTS]
    return lists < len(remembered.slot) and remembered.start[lists] + rows.head[slot, K] <= len(
        remembered.term
    )


@inner
def with_room(remembered, rows, slot):
    """What is remembered, with room for this list."""
    if has_room(remembered, rows, slot):
        return remembered
    slots = np.zeros(2 * len(remembered.slot), np.int32)
    starts = np.zeros(2 * len(remembered.slot) + 1, np.int64)
    terms = np.zeros(2 * len(remembered.term) + rows.head[slot, K], np.int32)
    slots[: len(remembered.slot)] = remembered.slot
    starts[: len(remembered.start)] = remembered.start
    terms[: len(remembered.term)] = remembered.term
    return Remembered(slots, starts, terms, remembered.ends)


@melting
def remember(remembered, rows, slot):
    """Keep this list as it is, if this step has not kept it yet; there is room.  O(list)."""
    if rows.head[slot, STEP] == remembered.ends[STEPS]:
        return
    rows.head[slot, STEP] = remembered.ends[STEPS]
    lists = remembered.ends[LISTS]
    begin, at = remembered.start[lists], rows.start[slot]
    count = min(rows.head[slot, K], rows.head[slot, HELD])
    remembered.slot[lists] = slot
    for place in range(count):
        remembered.term[begin + place] = rows.term[at + place]
    remembered.start[lists + 1] = begin + count
    remembered.ends[LISTS] = lists + 1


@leaf
def changed_lists(remembered, rows):
    """How many of the lists are other than they were.  O(lists)."""
    changed = 0
    for i in range(remembered.ends[LISTS]):
        slot = remembered.slot[i]
        begin, end = remembered.start[i], remembered.start[i + 1]
        at = rows.start[slot]
        is_other = end - begin != min(rows.head[slot, K], rows.head[slot, HELD])
        place = begin
        while not is_other and place < end:
            is_other = remembered.term[place] != rows.term[at + place - begin]
            place += 1
        changed += is_other
    return changed
