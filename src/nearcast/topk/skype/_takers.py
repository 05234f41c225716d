"""Who has a message: the subscriptions in whose rows it was put.

Some have left it out again since, and some are there twice; who is not there has it not.

    head       int32[M]   the first taker of the message of arrival `seq`, at `seq & (M - 1)`, or -1
    slot       int32[N]   the subscription
    following  int32[N]   the next taker of the same message, or the next free place, or -1
    ends       int64[2]   the first free place, or -1; places in use, with free ones
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.topk._flat.window import NEXT, OLDEST, rolled

FREE, USED = range(2)


class Takers(NamedTuple):
    """The arrays; see the module docstring."""

    head: NDArray[np.int32]
    slot: NDArray[np.int32]
    following: NDArray[np.int32]
    ends: NDArray[np.int64]


def empty_takers() -> Takers:
    """No message."""
    return Takers(
        np.full(16, -1, np.int32),
        np.empty(64, np.int32),
        np.empty(64, np.int32),
        np.array([-1, 0], np.int64),
    )


@inner
def with_message(takers, messages):
    """Takers for the rings of messages, which may have grown, the newest taken by nobody.

    Amortised O(1).
    """
    size, newest = len(messages.live), messages.ends[NEXT] - 1
    if size > len(takers.head):
        head = rolled(takers.head, messages.ends[OLDEST], newest, size)
        takers = Takers(head, takers.slot, takers.following, takers.ends)
    takers.head[newest & (size - 1)] = -1
    return takers


@inner
def add_taker(takers, seq, slot):
    """A subscription has a message: the takers, larger perhaps.  Amortised O(1)."""
    at = takers.ends[FREE]
    if at >= 0:
        takers.ends[FREE] = takers.following[at]
    else:
        at = takers.ends[USED]
        takers.ends[USED] += 1
        if at == len(takers.slot):
            size = at + at // 4 + 64
            slots, following = np.empty(size, np.int32), np.empty(size, np.int32)
            slots[:at] = takers.slot
            following[:at] = takers.following
            takers = Takers(takers.head, slots, following, takers.ends)
    m = seq & (len(takers.head) - 1)
    takers.slot[at] = slot
    takers.following[at] = takers.head[m]
    takers.head[m] = at
    return takers


@inner
def taken_by(takers, seq):
    """Who has a message, which is forgotten.  O(takers)."""
    m = seq & (len(takers.head) - 1)
    count, at = 0, takers.head[m]
    while at >= 0:
        count += 1
        at = takers.following[at]
    slots = np.empty(count, np.int32)
    at = takers.head[m]
    for i in range(count):
        following = takers.following[at]
        slots[i] = takers.slot[at]
        takers.following[at] = takers.ends[FREE]
        takers.ends[FREE] = at
        at = following
    takers.head[m] = -1
    return slots
