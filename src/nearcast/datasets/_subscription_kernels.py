"""Words for subscriptions, picked from messages.

word_start, words   the messages' words, as in MessageBatch
row     int64[n]    the message each subscription is made from
start   int64[n+1]  subscription i owns picked[start[i]:start[i+1]]
picked  int32[]     distinct codes, in random order

Expressions, see `general_clauses`:
clause_start    int64[n+1]  subscription i owns the clauses clause_start[i]:clause_start[i+1]
required_start  int64[c+1]  clause c owns required[required_start[c]:required_start[c+1]]
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.datasets._random_kernels import below, following, start_of_row


@njit(cache=True, nogil=True)
def pick_words(
    seed: int,
    row: NDArray[np.int64],
    word_start: NDArray[np.int64],
    words: NDArray[np.int32],
    fewest: int,
    most: int,
    start: NDArray[np.int64],
    picked: NDArray[np.int32],
) -> None:
    """Between `fewest` and `most` distinct words of each message, or all it has.  O(words**2)."""
    longest = 0
    for i in range(row.size):
        longest = max(longest, word_start[row[i] + 1] - word_start[row[i]])
    distinct = np.empty(longest, np.int32)
    start[0] = 0
    for i in range(row.size):
        count = 0
        for j in range(word_start[row[i]], word_start[row[i] + 1]):
            repeated = False
            for k in range(count):
                repeated |= distinct[k] == words[j]
            if not repeated:
                distinct[count] = words[j]
                count += 1
        state = start_of_row(seed, i)
        wanted = min(count, fewest + below(state, most - fewest + 1))
        for k in range(wanted):  # the first steps of a shuffle
            state = following(state)
            other = k + below(state, count - k)
            distinct[k], distinct[other] = distinct[other], distinct[k]
            picked[start[i] + k] = distinct[k]
        start[i + 1] = start[i] + wanted


@njit(cache=True, nogil=True)
def general_clauses(
    seed: int,
    start: NDArray[np.int64],
    picked: NDArray[np.int32],
    clause_start: NDArray[np.int64],
    required_start: NDArray[np.int64],
    required: NDArray[np.int32],
) -> None:
    """Cut each subscription's words in two, join each part and the two by a random AND or OR.

    The disjunctive normal form is written straight away; it is minimal because no word occurs
    twice. O(clauses).
    """
    clause = 0
    end = 0
    clause_start[0] = 0
    required_start[0] = 0
    for i in range(start.size - 1):
        first, last = start[i], start[i + 1]
        state = start_of_row(~seed, i)
        cut = last if last - first < 2 else first + 1 + below(state, last - first - 1)
        state = following(state)
        left_or = below(state, 2)
        state = following(state)
        right_or = below(state, 2)
        state = following(state)
        joined_by_or = below(state, 2)
        # A part is a list of clauses: one with every word, or one a word.
        lefts = cut - first if left_or else 1
        rights = 0 if cut == last else (last - cut if right_or else 1)
        if joined_by_or or rights == 0:
            for part in range(lefts + rights):
                is_left = part < lefts
                begin, stop = (first, cut) if is_left else (cut, last)
                if left_or if is_left else right_or:
                    begin += part if is_left else part - lefts
                    stop = begin + 1
                for j in range(begin, stop):
                    required[end] = picked[j]
                    end += 1
                clause += 1
                required_start[clause] = end
        else:
            for left in range(lefts):
                for right in range(rights):
                    begin, stop = (first + left, first + left + 1) if left_or else (first, cut)
                    for j in range(begin, stop):
                        required[end] = picked[j]
                        end += 1
                    begin, stop = (cut + right, cut + right + 1) if right_or else (cut, last)
                    for j in range(begin, stop):
                        required[end] = picked[j]
                        end += 1
                    clause += 1
                    required_start[clause] = end
        clause_start[i + 1] = clause
