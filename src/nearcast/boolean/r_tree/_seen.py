"""The words of the message at hand, where one look tells whether it has a word.

seen      uint8[4096]    by the low bits of a word: which of the message's it may be, from 1, 0 if
                         none; SEVERAL where several share the place, or to number them fails

Like the filter of `_words`, but exact nearly always without a search, whose turns a processor
cannot guess; worth its four kilobytes where thousands of words are asked about.
"""

from numba import njit

from nearcast.inner import inner

MASK = 4095
SEVERAL = 255


@njit(cache=True, nogil=True)
def see(seen, have, begin, end):
    """Note the words have[begin:end]; nothing may be noted yet."""
    for i in range(begin, end):
        at = have[i] & MASK
        is_only = seen[at] == 0 and i - begin + 1 < SEVERAL
        seen[at] = i - begin + 1 if is_only else SEVERAL


@inner
def unsee(seen, have, begin, end):
    """Forget them."""
    for i in range(begin, end):
        seen[have[i] & MASK] = 0


@inner
def _is_among(have, begin, end, word):
    low, length = begin, end - begin
    while length > 1:
        half = length >> 1
        low += half * (have[low + half] <= word)
        length -= half
    return have[low] == word


@njit(cache=True, nogil=True, inline="always")
def is_seen(seen, have, begin, end, word):
    """Is `word` one of the message's?  O(1) nearly always."""
    number = seen[word & MASK]
    if number != SEVERAL:
        return number != 0 and have[begin + number - 1] == word
    return _is_among(have, begin, end, word)
