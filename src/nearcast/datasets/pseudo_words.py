"""Pronounceable words made from numbers: word 0 is a frequent one, word 1,699,999 a rare one."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_CONSONANTS = np.frombuffer(b"bcdfghjklmnprstvwxyz", np.uint8)
_VOWELS = np.frombuffer(b"aeiou", np.uint8)
_SYLLABLES = 100  # a consonant and a vowel: 20 x 5
_SHORTEST = 2  # syllables: two letters alone would read as an abbreviation
_SCRAMBLE = 6_700_417  # odd and no multiple of 5, so that it shares no factor with 100**n


def pseudo_words(numbers: NDArray[Any]) -> pa.LargeStringArray:
    """One distinct word of 4, 6, 8... letters for each number, without a Python object each.

    >>> pseudo_words(np.array([0, 1, 10_000])).to_pylist()
    ['baba', 'bufi', 'bababa']
    """
    remaining = np.asarray(numbers, np.int64).copy()
    syllables = np.full(remaining.size, _SHORTEST, np.int64)
    longer = np.arange(remaining.size)
    while True:
        longer = longer[remaining[longer] >= _SYLLABLES ** syllables[longer]]
        if longer.size == 0:
            break
        remaining[longer] -= _SYLLABLES ** syllables[longer]
        syllables[longer] += 1
    # Neighbours in rank should not be neighbours in the alphabet.
    remaining = remaining * _SCRAMBLE % _SYLLABLES**syllables
    end = np.cumsum(2 * syllables)
    letters = np.empty(int(end[-1]) if end.size else 0, np.uint8)
    for place in range(int(syllables.max(initial=0))):
        rows = np.flatnonzero(syllables > place)
        syllable = remaining[rows] // _SYLLABLES**place % _SYLLABLES
        at = end[rows] - 2 * (place + 1)
        letters[at] = _CONSONANTS[syllable // 5]
        letters[at + 1] = _VOWELS[syllable % 5]
    offsets = np.concatenate([np.zeros(1, np.int64), end])
    return pa.LargeStringArray.from_buffers(
        remaining.size, pa.py_buffer(offsets), pa.py_buffer(letters)
    )
