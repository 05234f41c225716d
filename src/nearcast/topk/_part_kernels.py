"""The best messages of several parts of each list."""

import numpy as np
from numba import njit

from nearcast.inner import inner

ROUNDING = 1e-9  # of scores, which are 1 at the most


@njit(cache=True, nogil=True)
def best_rows(first, parts, start, scores, numbers, most):
    """The rows of the most[i] best of list i: (rows, how many of each list).  O(rows * parts).

    List i has parts[first[i]:first[i + 1]], each best first; part p has the rows start[p]:start[p +
    1]. A message may be in several of them: then it has the same number in each, and the same
    score but for rounding, because shards may add up words in another order.
    """
    rows = np.empty(min(most.sum(), len(scores)), np.int64)
    lengths = np.zeros(len(most), np.int64)
    at = np.zeros(np.diff(first).max() if len(most) > 0 else 0, np.int64)
    total = 0
    for i in range(len(most)):
        mine = parts[first[i] : first[i + 1]]
        for n in range(len(mine)):
            at[n] = start[mine[n]]
        while lengths[i] < most[i]:
            best = -1
            for n in range(len(mine)):
                row = at[n]
                if row == start[mine[n] + 1]:
                    continue
                if best >= 0:
                    other = at[best]
                    if scores[row] < scores[other]:
                        continue
                    if scores[row] == scores[other] and numbers[row] <= numbers[other]:
                        continue
                best = n
            if best < 0:
                break
            row = at[best]
            at[best] += 1
            if not _is_among(rows[total - lengths[i] : total], row, scores, numbers):
                rows[total] = row
                total += 1
                lengths[i] += 1
    return rows[:total], lengths


@inner
def _is_among(chosen, row, scores, numbers):
    """Is the message of a row one of those chosen, best first, of which it is the worst?"""
    for n in range(len(chosen) - 1, -1, -1):
        if scores[chosen[n]] - scores[row] > ROUNDING:
            return False
        if numbers[chosen[n]] == numbers[row]:
            return True
    return False
