"""The words of messages, as kernels ask about them.

words        int32[W]      keyword ranks of a batch's words, -1 for words no entry has
word_start   int64[M+1]    message m owns words[word_start[m]:word_start[m+1]]
have         int32[H]      the known words of some messages, ascending and each once in a message
have_start   int64[n+1]    message `first + i` owns have[have_start[i]:have_start[i+1]]
word_bits    uint64[B+1]   a bit for each of 64 B words, set for those of the message at hand; the
                           next bit is always set, and stands for words that nobody asks for
"""

import numpy as np
from numba import njit

from nearcast.inner import inner

BITS = 64  # of a number


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
def no_words(count):
    """`word_bits` of a message without any of at least so many words."""
    bits = np.zeros((count + BITS - 1) // BITS + 1, np.uint64)
    bits[-1] = 1
    return bits


@njit(cache=True, nogil=True, inline="always")
def any_word(word_bits):
    """The word whose bit is always set."""
    return BITS * (len(word_bits) - 1)


@njit(cache=True, nogil=True, inline="always")
def has_word(word_bits, word):
    """Is `word` one of the message's?  1 or 0.  O(1)."""
    return (word_bits[word >> 6] >> np.uint64(word & 63)) & np.uint64(1)


@njit(cache=True, nogil=True)
def take_words(word_bits, words, begin, end, have):
    """Have the message's known words, words[begin:end] but for -1, each once, in no order, in
    `have` and in the bits; returns how many they are.  O(words), without a branch.
    """
    count, unknown = 0, any_word(word_bits)
    for i in range(begin, end):
        word = words[i] if words[i] >= 0 else unknown
        have[count] = word
        count += np.int64(np.uint64(1) ^ has_word(word_bits, word))
        word_bits[word >> 6] |= np.uint64(1) << np.uint64(word & 63)
    return count


@njit(cache=True, nogil=True)
def clear_words(word_bits, have, count):
    """Take the words have[:count] out again.  O(words)."""
    for i in range(count):
        word_bits[have[i] >> 6] &= ~(np.uint64(1) << np.uint64(have[i] & 63))


@inner
def clause_holds(clauses, entry, word_bits):
    """Are all required words there, and none of the forbidden?"""
    start = clauses.start[entry]
    middle = start + clauses.required[entry]
    for i in range(start, middle):
        if not has_word(word_bits, clauses.terms[i]):
            return False
    for i in range(middle, middle + clauses.forbidden[entry]):
        if has_word(word_bits, clauses.terms[i]):
            return False
    return True
