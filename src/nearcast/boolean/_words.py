"""The words of messages, as kernels ask about them.

words        int32[W]      keyword ranks of a batch's words, -1 for words no entry has
word_start   int64[M+1]    message m owns words[word_start[m]:word_start[m+1]]
have         int32[H]      the known words of some messages, ascending and each once in a message
have_start   int64[n+1]    message `first + i` owns have[have_start[i]:have_start[i+1]]
word_set     int32[2^k]    the words of the message at hand, by their hash; -1 in free cells
"""

import numpy as np
from numba import njit

from nearcast.inner import inner

SMALLEST_SHIFT = 26  # of a set: 64 cells


@njit(cache=True, nogil=True)
def known_words(words, word_start, first, last):
    """The known words of messages first:last: (have, have_start).  O(n log n)."""
    have = np.empty(word_start[last] - word_start[first], np.int32)
    have_start = np.zeros(last - first + 1, np.int64)
    total = 0
    for message in range(first, last):
        total += _sorted_distinct(words, word_start[message], word_start[message + 1], have[total:])
        have_start[message - first + 1] = total
    return have[:total], have_start


@inner
def _sorted_distinct(words, begin, end, out):
    """The known words of one message, ascending, each once; returns how many."""
    count = 0
    for i in range(begin, end):
        if words[i] >= 0:
            out[count] = words[i]
            count += 1
    if count > 32:
        out[:count].sort()
    else:
        for i in range(1, count):
            word = out[i]
            j = i
            while j and out[j - 1] > word:
                out[j] = out[j - 1]
                j -= 1
            out[j] = word
    kept = 0
    for i in range(count):
        if i == 0 or out[i] != out[i - 1]:
            out[kept] = out[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def empty_set(have_start):
    """A set that can hold the words of any of these messages."""
    most = 1
    for i in range(len(have_start) - 1):
        most = max(most, have_start[i + 1] - have_start[i])
    return np.empty(1 << (32 - _shift_for(most)), np.int32)


@njit(cache=True, nogil=True, inline="always")
def _shift_for(count):
    """The set of a message is a table of 2 ** (32 - shift) cells, a quarter full at most."""
    shift = SMALLEST_SHIFT
    while (4 * count) >> (32 - shift):
        shift -= 1
    return shift


@njit(cache=True, nogil=True)
def fill_set(word_set, have, begin, end):
    """Make it the set of have[begin:end]; returns the shift that `has_word` wants.  O(words)."""
    shift = _shift_for(end - begin)
    last = (1 << (32 - shift)) - 1
    word_set[: last + 1] = -1
    for i in range(begin, end):
        at = _home(have[i], shift)
        while word_set[at] >= 0:
            at = (at + 1) & last
        word_set[at] = have[i]
    return shift


@njit(cache=True, nogil=True, inline="always")
def _home(word, shift):
    return ((np.int64(word) * 0x9E3779B1) & 0xFFFFFFFF) >> shift


@njit(cache=True, nogil=True, inline="always")
def has_word(word_set, shift, word):
    """Is `word` one of the message's?  O(1)."""
    at = _home(word, shift)
    while word_set[at] >= 0:
        if word_set[at] == word:
            return True
        at = (at + 1) & ((1 << (32 - shift)) - 1)
    return False


@inner
def clause_holds(clauses, entry, word_set, shift):
    """Are all required words there, and none of the forbidden?"""
    start = clauses.start[entry]
    middle = start + clauses.required[entry]
    for i in range(start, middle):
        if not has_word(word_set, shift, clauses.terms[i]):
            return False
    for i in range(middle, middle + clauses.forbidden[entry]):
        if has_word(word_set, shift, clauses.terms[i]):
            return False
    return True
