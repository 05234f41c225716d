"""What every term has for every owner: the hash maps of the paper, in one table.

key    int64[n]  owner << 32 | term, -1 where the place is free
units  int64[n]  above 0
ends   int64[1]  how many keys there are

An owner is a subscription, or a group and what is kept of it. Open addressing with linear probing.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner, leaf

FREE = -1
OWNER = 32


class Scores(NamedTuple):
    """The arrays drawn above."""

    key: NDArray[np.int64]
    units: NDArray[np.int64]
    ends: NDArray[np.int64]


def no_scores() -> Scores:
    """None yet."""
    return Scores(np.full(64, FREE, np.int64), np.zeros(64, np.int64), np.zeros(1, np.int64))


@leaf
def _place_of(scores, key):
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xC2B2AE3D27D4EB4F)
    mask = len(scores.key) - 1
    place = np.int64(mixed >> np.uint64(20)) & mask
    while scores.key[place] != FREE and scores.key[place] != key:
        place = (place + 1) & mask
    return place


@leaf
def score_of(scores, owner, term):
    """What a term has, 0 where it has nothing.  O(1) expected."""
    place = _place_of(scores, owner << OWNER | term)
    return scores.units[place] if scores.key[place] != FREE else np.int64(0)


@leaf
def change(scores, owner, term, units):
    """A term has more, or less: what it has now.  There is room.  O(1) expected."""
    key = owner << OWNER | term
    place = _place_of(scores, key)
    if scores.key[place] == FREE:
        if units == 0:
            return np.int64(0)
        scores.key[place] = key
        scores.units[place] = 0
        scores.ends[0] += 1
    scores.units[place] += units
    left = scores.units[place]
    if left == 0:
        _drop(scores, place)
    return left


@leaf
def _drop(scores, hole):
    mask = len(scores.key) - 1
    scores.key[hole] = FREE
    scores.ends[0] -= 1
    place = (hole + 1) & mask
    while scores.key[place] != FREE:
        key, units = scores.key[place], scores.units[place]
        scores.key[place] = FREE
        better = _place_of(scores, key)
        scores.key[better] = key
        scores.units[better] = units
        place = (place + 1) & mask


@inner
def with_room(scores, more):
    """The scores with room for so many more keys.  Amortised O(1) each."""
    size = len(scores.key)
    if 5 * (scores.ends[0] + more) <= 3 * size:
        return scores
    while 5 * (scores.ends[0] + more) > 3 * size:
        size *= 2
    larger = Scores(np.full(size, np.int64(FREE)), np.zeros(size, np.int64), scores.ends)
    for old in range(len(scores.key)):
        if scores.key[old] != FREE:
            place = _place_of(larger, scores.key[old])
            larger.key[place] = scores.key[old]
            larger.units[place] = scores.units[old]
    return larger


@leaf
def halve_scores(scores, epochs):
    """So many epochs have passed: units are larger.  O(places)."""
    epochs = min(epochs, np.int64(62))
    for place in range(len(scores.units)):
        scores.units[place] >>= epochs


@njit(cache=True, nogil=True)
def renumbered_scores(scores, new_term):
    """The same scores; terms have new numbers."""
    fresh = Scores(
        np.full(len(scores.key), np.int64(FREE)), np.zeros(len(scores.key), np.int64), scores.ends
    )
    for old in range(len(scores.key)):
        if scores.key[old] != FREE:
            key = scores.key[old]
            term = np.int64(new_term[key & ((np.int64(1) << OWNER) - 1)])
            place = _place_of(fresh, (key >> OWNER) << OWNER | term)
            fresh.key[place] = (key >> OWNER) << OWNER | term
            fresh.units[place] = scores.units[old]
    return fresh
