"""Lists that a step may have changed, as they were before it.

slot   int32[L]      the subscription, or the number of what has the list; see `_owners`
start  int64[L + 1]  list l had term[start[l]:start[l + 1]], best first
term   int32[T]
counts int64[9]      LISTS of this step; STEP, its number; since the index was made: CANDIDATES,
                     subscriptions looked at; COMPUTED, scores from documents; REFILLED, lists
                     made anew; CHANGED lists; the last three are those of `_cycles`
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.trending._nearby.documents import larger

LISTS, STEP, CANDIDATES, COMPUTED, REFILLED, CHANGED = range(6)
MOST_STEPS = 1 << 31  # then they are counted from 0 again: stamps are int32


class Touched(NamedTuple):
    """The arrays; see the module docstring."""

    slot: NDArray[np.int32]
    start: NDArray[np.int64]
    term: NDArray[np.int32]
    counts: NDArray[np.int64]


def none_touched() -> Touched:
    """The arrays before the first step."""
    return Touched(
        np.empty(16, np.int32),
        np.zeros(17, np.int64),
        np.empty(64, np.int32),
        np.zeros(9, np.int64),
    )


def nothing_more(touched: Touched) -> Touched:
    """The arrays after a step that touched very many lists, of which nobody asks."""
    counts = touched.counts
    counts[LISTS] = 0
    return none_touched()._replace(counts=counts)


@inner
def with_room(touched, more, entries):
    """Room for so many lists more, of so many terms together."""
    lists = touched.counts[LISTS]
    if lists + more <= len(touched.slot) and touched.start[lists] + entries <= len(touched.term):
        return touched
    slot, start, term = touched.slot, touched.start, touched.term
    if lists + more > len(slot):
        size = 2 * (lists + more)
        slot, start = larger(slot, size), larger(start, size + 1)
    if start[lists] + entries > len(term):
        term = larger(term, 2 * (start[lists] + entries))
    return Touched(slot, start, term, touched.counts)


@inner
def next_step(touched):
    """Nothing is touched yet."""
    touched.counts[STEP] = (touched.counts[STEP] + 1) % MOST_STEPS
    touched.counts[LISTS] = 0
