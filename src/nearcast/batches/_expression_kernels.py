"""One pass over the arrays of an `ExpressionColumn`, which draws them, to find what is wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Starts = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

FINE = 0
NOT_RISING = 1
NO_CLAUSE = 2
NO_SUCH_WORD = 3
WORD_TWICE = 4
NO_REQUIRED_WORD = 5


@njit(cache=True, nogil=True)
def first_problem(
    clause_start: Starts,
    required_start: Starts,
    required: Codes,
    forbidden_start: Starts,
    forbidden: Codes,
    words: int,
) -> tuple[int, int]:
    """(FINE, -1), or the first problem and its row.  O(rows + clauses + codes + words)."""
    seen_in = np.full(words, -1, np.int64)  # the last clause that had the word
    clause = 0
    for row in range(len(clause_start) - 1):
        if clause_start[row] != clause:
            return NOT_RISING, row
        end = clause_start[row + 1]
        if end == clause:
            return NO_CLAUSE, row
        if end < clause or end >= len(required_start):
            return NOT_RISING, row
        is_alone = end == clause + 1
        while clause < end:
            first, last = required_start[clause], required_start[clause + 1]
            no, more = forbidden_start[clause], forbidden_start[clause + 1]
            if first < 0 or last < first or last > len(required):
                return NOT_RISING, row
            if no < 0 or more < no or more > len(forbidden):
                return NOT_RISING, row
            if first == last and not (is_alone and no == more):
                return NO_REQUIRED_WORD, row
            for k in range(first, last):
                if not 0 <= required[k] < words:
                    return NO_SUCH_WORD, row
                if seen_in[required[k]] == clause:
                    return WORD_TWICE, row
                seen_in[required[k]] = clause
            # A word both required and forbidden would be seen twice, and cannot be satisfied.
            for k in range(no, more):
                if not 0 <= forbidden[k] < words:
                    return NO_SUCH_WORD, row
                if seen_in[forbidden[k]] == clause:
                    return WORD_TWICE, row
                seen_in[forbidden[k]] = clause
            clause += 1
    return FINE, -1
