"""Does a message match, exactly?  The last question of every index of the room.

The arrays are those of `messages`, of `nearcast.boolean._clauses` and of
`nearcast.boolean.subscription_store.Chains`.
"""

import numpy as np

from nearcast.inner import inner
from nearcast.moving._flat.messages import RECTS, RECTS_AT, WORDS, WORDS_AT
from nearcast.space._kernels import region_meets

NOTHING = -1  # instead of a row of regions


@inner
def longer(array, size):
    more = np.empty(size, array.dtype)
    more[: len(array)] = array
    return more


@inner
def meets(regions, row, is_earth, messages, slot):
    """Is a message in a region, exactly?"""
    kind, shape, ring_start, polygon_start, vertices = regions
    first = messages.head[slot, RECTS_AT]
    return region_meets(
        kind, shape, ring_start, polygon_start, vertices,
        row, is_earth, messages.rects, first, first + messages.head[slot, RECTS],
    )  # fmt: skip


@inner
def _has(messages, slot, word):
    begin = messages.head[slot, WORDS_AT]
    end = begin + messages.head[slot, WORDS]
    while begin < end and messages.words[begin] != word:
        begin += 1
    return begin < end


@inner
def message_holds(messages, slot, wanted, required, forbidden):
    """Does a message satisfy a clause, given as numbers of words?"""
    holds, k = True, 0
    while holds and k < required + forbidden:
        holds = _has(messages, slot, wanted[k]) == (k < required)
        k += 1
    return holds


@inner
def holds_earlier(messages, slot, clauses, chains, number_of, entry, last):
    """Does a message satisfy a clause before `last`, which has found it too?"""
    while entry != last:
        begin, holds = clauses.start[entry], True
        middle = begin + clauses.required[entry]
        for k in range(begin, middle + clauses.forbidden[entry]):
            if _has(messages, slot, number_of[clauses.terms[k]]) != (k < middle):
                holds = False
                break
        if holds:
            return True
        entry = chains.following[entry]
    return False
