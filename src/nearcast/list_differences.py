"""Lists before and after a step: which are others now, what is new in them, and what has left.

old, new              numbers of messages or terms, each once in a list
old_start, new_start  int64[n+1]  list i had old[old_start[i]:old_start[i + 1]], and has
                      new[new_start[i]:new_start[i + 1]]
"""

import numpy as np
from numba import njit

from nearcast.inner import inner, leaf
from nearcast.prefetch import prefetch_row

FEW = 128  # numbers of two lists that are sooner looked for one by one than in order
AHEAD = 8  # lists


@njit(cache=True, nogil=True)
def which_differ(old, old_first, before, new, new_first, after):
    """Lists that have other numbers than they had, or the same in another order.  O(numbers).

    List i had old[old_first[i]:][:before[i]], and has new[new_first[i]:][:after[i]].
    """
    differs = np.empty(len(before), np.bool_)
    for i in range(len(before)):
        if i + AHEAD < len(before):
            prefetch_row(new, new_first[i + AHEAD])
        is_other = before[i] != after[i]
        for n in range(0 if is_other else after[i]):
            is_other |= old[old_first[i] + n] != new[new_first[i] + n]
        differs[i] = is_other
    return differs


@njit(cache=True, nogil=True)
def come_and_gone(old, old_start, new, new_start):
    """Is it new in its list, of each number in `new`; has it left, of each in `old`?

    O(numbers), and O(k) for each that is not where it was; O(log(k)) for each of a longer list.
    """
    is_new, has_left = np.zeros(len(new), np.bool_), np.zeros(len(old), np.bool_)
    for i in range(len(old_start) - 1):
        first, begin = old_start[i], new_start[i]
        was, now = old[first : old_start[i + 1]], new[begin : new_start[i + 1]]
        if len(was) + len(now) > FEW:
            mark_others(now, was, is_new[begin:])
            mark_others(was, now, has_left[first:])
        else:
            walk(was, now, is_new[begin:], has_left[first:])
    return is_new, has_left


@leaf
def walk(was, now, is_new, has_left):
    """Side by side through two lists that are mostly alike."""
    m = n = 0
    while n < len(now):
        if m < len(was) and was[m] == now[n]:
            m += 1
            n += 1
        elif m == len(was) or not is_among(was, now[n]):
            is_new[n] = not is_among(was, now[n])
            n += 1
        else:
            has_left[m] = not is_among(now, was[m])
            m += 1
    for i in range(m, len(was)):
        has_left[i] = not is_among(now, was[i])


@inner
def mark_others(mine, theirs, is_other):
    """Which of mine are not among theirs?"""
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


@njit(cache=True, nogil=True)
def copied_runs(values, first, lengths):
    """values[first[i] : first[i] + lengths[i]] of all i, one after the other."""
    copies = np.empty(lengths.sum(), values.dtype)
    end = 0
    for i in range(len(first)):
        if i + AHEAD < len(first):
            prefetch_row(values, first[i + AHEAD])
            prefetch_row(values, first[i + AHEAD] + lengths[i + AHEAD] - 1)
        for n in range(lengths[i]):
            copies[end + n] = values[first[i] + n]
        end += lengths[i]
    return copies
