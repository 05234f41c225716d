"""What subscriptions want, and where their rows and postings are.

place   float64[S, 4]  LON, LAT, ALPHA; THETA, the lowest score that the row takes, or what an index
                       has there when the row knows every message of the window
head    int32[S, 8]    START of the row, in steps of entries; HELD, entries it has; ROOM for how
                       many; K, 0 for a slot that is vacant; FIRST, its terms are
                       FIRST:FIRST + WORDS; SEEN, the message that was last looked at for it;
                       STAMP, the step that last changed its list
word    int32[T]       distinct, in the order of words
weight  float64[T]     of the vector of unit length
where   int32[T]       position in the list of the word; of `WordLists`

What a message needs to know of a subscription is in two cache lines and its terms.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.model import Space
from nearcast.space import EARTH_RADIUS
from nearcast.space._kernels import haversine

LON, LAT, ALPHA, THETA = range(4)
START, HELD, ROOM, K, FIRST, WORDS, SEEN, STAMP = range(8)
STEP = 4  # entries: every row begins at a multiple of it
DEGREE = math.pi / 180.0
# A plane's spots end here, where any two places that differ are too far apart for nearness, and
# the squares of differences still fit a float32.
FARTHEST = 1e18


class Subscriptions(NamedTuple):
    """The arrays; see the module docstring."""

    place: NDArray[np.float64]
    head: NDArray[np.int32]
    word: NDArray[np.int32]
    weight: NDArray[np.float64]
    where: NDArray[np.int32]


def no_subscriptions() -> Subscriptions:
    """The arrays of none."""
    return Subscriptions(
        np.empty((0, 4), np.float64),
        np.empty((0, 8), np.int32),
        np.empty(0, np.int32),
        np.empty(0, np.float64),
        np.empty(0, np.int32),
    )


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


@inner
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


@inner
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


@inner
def alike_of(subscriptions, slot, word, weight):
    """How much a message with these words, distinct, is about what a subscription wants."""
    alike = 0.0
    first = subscriptions.head[slot, FIRST]
    for t in range(first, first + subscriptions.head[slot, WORDS]):
        for j in range(len(word)):
            if word[j] == subscriptions.word[t]:
                alike += subscriptions.weight[t] * weight[j]
                break
    return alike


@inner
def score_at(place, alike, lon, lat, space):
    """The score of a message at (lon, lat) that is as much as `alike` about what is wanted."""
    near = nearness(place[LON], place[LAT], lon, lat, space)
    return place[ALPHA] * near + (1.0 - place[ALPHA]) * alike


@njit(cache=True, nogil=True)
def score_of(subscriptions, slot, lon, lat, word, weight, space):
    """The score of a message with these words, distinct, for a subscription."""
    alike = alike_of(subscriptions, slot, word, weight)
    return score_at(subscriptions.place[slot], alike, lon, lat, space)
