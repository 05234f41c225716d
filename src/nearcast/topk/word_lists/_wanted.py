"""What subscriptions want: place, words with weights, and where these stand in the lists.

lon, lat, alpha  float64[S]
k       int32[S]     0 for a slot that is vacant
first   int64[S]     its terms are first:first + words
words   int32[S]
word    int32[T]     distinct, in the order of words
weight  float64[T]   of the vector of unit length
where   int32[T]     position in the list of the word
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.model import Space
from nearcast.space import EARTH_RADIUS
from nearcast.space._kernels import haversine
from nearcast.topk.word_lists._postings import (
    ALPHA,
    ROUNDING,
    TAIL,
    THETA,
    WEIGHT,
    X,
    Y,
    Z,
    add_posting,
    drop_posting,
)

DEGREE = math.pi / 180.0
# A plane's spots end here, where any two places that differ are too far apart for nearness, and
# the squares of differences still fit a float32.
FARTHEST = 1e18


class Wanted(NamedTuple):
    """The arrays; see the module docstring."""

    lon: NDArray[np.float64]
    lat: NDArray[np.float64]
    alpha: NDArray[np.float64]
    k: NDArray[np.int32]
    first: NDArray[np.int64]
    words: NDArray[np.int32]
    word: NDArray[np.int32]
    weight: NDArray[np.float64]
    where: NDArray[np.int32]


def empty_wanted() -> Wanted:
    """No subscription."""
    floats, integers = np.empty(0, np.float64), np.empty(0, np.int32)
    starts = np.empty(0, np.int64)
    return Wanted(
        floats, floats, floats, integers, starts, integers, integers, floats, integers
    )  # fmt: skip


class Distances(NamedTuple):
    """How far is far?

    - `max_dist`: where nearness ends
    - `unit`: the share of it that a straight line of length 1 between two `spot`s is
    """

    on_earth: bool
    max_dist: float
    unit: float

    @classmethod
    def of(cls, space: Space, max_dist: float) -> "Distances":
        """On the Earth spots are on a sphere of radius 1, in a plane `max_dist` is 1."""
        on_earth = space is Space.EARTH
        return cls(on_earth, max_dist, EARTH_RADIUS / max_dist if on_earth else 1.0)


@njit(cache=True, nogil=True)
def spot(lon, lat, space):
    """A place in float32 such that straight lines between places are never too long."""
    if space.on_earth:
        level = math.cos(lat * DEGREE)
        return (
            np.float32(level * math.cos(lon * DEGREE)),
            np.float32(level * math.sin(lon * DEGREE)),
            np.float32(math.sin(lat * DEGREE)),
        )
    return (
        np.float32(min(FARTHEST, max(-FARTHEST, lon / space.max_dist))),
        np.float32(min(FARTHEST, max(-FARTHEST, lat / space.max_dist))),
        np.float32(0.0),
    )


@njit(cache=True, nogil=True)
def spot_error(lon, lat, largest, space):
    """How much too long a straight line from the spot of a message may be, by rounding.

    `largest` is the largest coordinate of a subscription.
    """
    if space.on_earth:
        return 4e-7
    return 4e-7 * min(2.0 * FARTHEST, (largest + max(abs(lon), abs(lat))) / space.max_dist)


@njit(cache=True, nogil=True)
def nearness(lon, lat, other_lon, other_lat, space):
    """1 at the same place, 0 at the longest distance and beyond."""
    if space.on_earth:
        far = haversine(lon, lat, other_lon, other_lat)
    else:
        x, y = lon - other_lon, lat - other_lat
        far = math.sqrt(x * x + y * y)
    return 1.0 - min(1.0, far / space.max_dist)


@njit(cache=True, nogil=True)
def score_of(wanted, slot, lon, lat, word, weight, space):
    """The score of a message with these words, distinct, for a subscription."""
    alike = 0.0
    first = wanted.first[slot]
    for t in range(first, first + wanted.words[slot]):
        for j in range(len(word)):
            if word[j] == wanted.word[t]:
                alike += wanted.weight[t] * weight[j]
                break
    near = nearness(wanted.lon[slot], wanted.lat[slot], lon, lat, space)
    alpha = wanted.alpha[slot]
    return alpha * near + (1.0 - alpha) * alike


@njit(cache=True, nogil=True)
def lower_threshold(theta):
    """A threshold that nothing falls short of by rounding; everything reaches that of 0."""
    return np.float32(theta) - ROUNDING if theta > 0.0 else np.float32(-1.0)


@njit(cache=True, nogil=True)
def put_postings(postings, wanted, slot, theta, space):
    """Enter a subscription in the lists of its words.  O(words)."""
    x, y, z = spot(wanted.lon[slot], wanted.lat[slot], space)
    first, count = wanted.first[slot], wanted.words[slot]
    tail = 0.0
    for t in range(first + count - 1, first - 1, -1):
        postings, position = add_posting(postings, wanted.word[t])
        wanted.where[t] = position
        at = postings.start[wanted.word[t]] + position
        postings.slot[at] = slot
        postings.data[X, at] = x
        postings.data[Y, at] = y
        postings.data[Z, at] = z
        postings.data[ALPHA, at] = wanted.alpha[slot]
        postings.data[THETA, at] = lower_threshold(theta)
        postings.data[WEIGHT, at] = wanted.weight[t]
        postings.data[TAIL, at] = math.sqrt(tail)
        tail += wanted.weight[t] * wanted.weight[t]
    return postings


@njit(cache=True, nogil=True)
def put_all_postings(postings, wanted, slots, theta, space):
    """Enter new subscriptions."""
    for slot in slots:
        postings = put_postings(postings, wanted, slot, theta[slot], space)
    return postings


@njit(cache=True, nogil=True)
def take_postings(postings, wanted, slot):
    """Take a subscription out of the lists of its words.  O(words)."""
    first, count = wanted.first[slot], wanted.words[slot]
    for t in range(first, first + count):
        word, position = wanted.word[t], wanted.where[t]
        moved = drop_posting(postings, word, position)
        if moved >= 0:
            other = wanted.first[moved]
            while wanted.word[other] != word:
                other += 1
            wanted.where[other] = position


@njit(cache=True, nogil=True)
def tell_threshold(postings, wanted, slot, theta):
    """The lists know a subscription's new threshold.  O(words)."""
    first, count = wanted.first[slot], wanted.words[slot]
    for t in range(first, first + count):
        at = postings.start[wanted.word[t]] + wanted.where[t]
        postings.data[THETA, at] = lower_threshold(theta)
