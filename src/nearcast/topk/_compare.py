"""Lists before and after a step: which are others now, what is new in them, and what has left.

old, new              numbers of messages, each once in a list
old_start, new_start  int64[n+1]  list i had old[old_start[i]:old_start[i + 1]], and has
                      new[new_start[i]:new_start[i + 1]]
"""

import numpy as np
from numba import njit

from nearcast.inner import inner, leaf

FEW = 64  # messages that are sooner looked for one by one than in order


@njit(cache=True, nogil=True)
def which_differ(old, old_start, new, new_start):
    """Lists that have other messages than they had, or the same in another order.  O(messages)."""
    differs = np.zeros(len(old_start) - 1, np.bool_)
    for i in range(len(differs)):
        first, begin = old_start[i], new_start[i]
        count = new_start[i + 1] - begin
        is_other = old_start[i + 1] - first != count
        for n in range(0 if is_other else count):
            is_other |= old[first + n] != new[begin + n]
        differs[i] = is_other
    return differs


@njit(cache=True, nogil=True)
def come_and_gone(old, old_start, new, new_start):
    """Is it new in its list, of each message in `new`; has it left, of each in `old`?

    O(k) for a message of a list of at most FEW, O(log(k)) for one of a longer list.
    """
    is_new, has_left = np.zeros(len(new), np.bool_), np.zeros(len(old), np.bool_)
    for i in range(len(old_start) - 1):
        was, now = old[old_start[i] : old_start[i + 1]], new[new_start[i] : new_start[i + 1]]
        mark_others(now, was, is_new[new_start[i] : new_start[i + 1]])
        mark_others(was, now, has_left[old_start[i] : old_start[i + 1]])
    return is_new, has_left


@inner
def mark_others(mine, theirs, is_other):
    """Which of mine are not among theirs?"""
    if len(theirs) <= FEW:
        for n in range(len(mine)):
            is_other[n] = not is_among(theirs, mine[n])
        return
    ordered = np.sort(theirs)
    for n in range(len(mine)):
        at = np.searchsorted(ordered, mine[n])
        is_other[n] = at == len(ordered) or ordered[at] != mine[n]


@leaf
def is_among(some, number):
    """Is it one of them?  Several at a time."""
    found = False
    for each in some:
        found |= each == number
    return found
