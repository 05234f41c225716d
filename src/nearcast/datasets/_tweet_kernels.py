"""The words and places of synthetic tweets.

row         int64[n]     numbers of the wanted tweets in their endless stream
word_start  int64[n+1]   tweet i owns words[word_start[i]:word_start[i+1]]
words       int32[]      frequency ranks, the most frequent word is 0
at          float64[n,2] longitude, latitude
city        float64[c,4] longitude, latitude, spread in degrees along each
zipf, urban              alias tables over word ranks and over cities

A tweet draws, in this order: its length, its city, its place, the jitter of its time, its words.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.datasets._alias_kernels import pick
from nearcast.datasets._random_kernels import below, following, fraction, mix, start_of_row

LOCAL_SHARE = 0.15  # of the words: spoken mostly in one city, as the names of its streets are
TOPICAL_SHARE = 0.10  # of the words: spoken mostly for a while, as the news is
COUNTRYSIDE_SHARE = 0.10  # of the tweets: from anywhere
TOPIC_LIFE = 100_000  # tweets
SPECIAL_WORDS = 0.05  # a city or a topic prefers this share of the vocabulary
ATTEMPTS = 8  # draws for a word that the tweet does not have yet; then it is repeated


@njit(cache=True, nogil=True)
def lengths(
    seed: int, row: NDArray[np.int64], shortest: int, longest: int, word_start: NDArray[np.int64]
) -> None:
    """How many words each tweet has, summed up into `word_start`.  O(n)."""
    word_start[0] = 0
    for i in range(row.size):
        state = start_of_row(seed, row[i])
        word_start[i + 1] = word_start[i] + shortest + below(state, longest - shortest + 1)


@njit(cache=True, nogil=True)
def _bell(state: int) -> float:
    """A bell-shaped draw in (-1, 1), from four draws: no logarithm, so the same everywhere."""
    total = 0.0
    for _ in range(4):
        state = following(state)
        total += fraction(state)
    return total / 2.0 - 1.0


@njit(cache=True, nogil=True)
def _special_word(owner: int, rank: int, vocabulary: int) -> int:
    """The word at this rank of the owner's own vocabulary."""
    return int(mix(owner * 2_147_483_647 + rank) % np.uint64(vocabulary))


@njit(cache=True, nogil=True)
def fill(
    seed: int,
    row: NDArray[np.int64],
    word_start: NDArray[np.int64],
    words: NDArray[np.int32],
    at: NDArray[np.float64],
    time: NDArray[np.float64],
    box: NDArray[np.float64],
    city: NDArray[np.float64],
    urban_keep: NDArray[np.float64],
    urban_other: NDArray[np.int32],
    zipf_keep: NDArray[np.float64],
    zipf_other: NDArray[np.int32],
) -> None:
    """Fill `words`, `at` and `time`.  O(words)."""
    vocabulary = zipf_keep.size
    special = max(1, int(vocabulary * SPECIAL_WORDS))
    west, south, east, north = box[0], box[1], box[2], box[3]
    for i in range(row.size):
        state = following(start_of_row(seed, row[i]))
        home = pick(urban_keep, urban_other, state)
        state = following(state)
        if fraction(state) < COUNTRYSIDE_SHARE:
            state = following(state)
            lon = west + (east - west) * fraction(state)
            state = following(state)
            lat = south + (north - south) * fraction(state)
        else:
            lon = city[home, 0] + city[home, 2] * _bell(state)
            state = mix(state)
            lat = city[home, 1] + city[home, 3] * _bell(state)
        at[i, 0] = min(max(lon, west), east)
        at[i, 1] = min(max(lat, south), north)
        state = mix(state)
        time[i] = row[i] + fraction(state)
        first, last = word_start[i], word_start[i + 1]
        for j in range(first, last):
            for _ in range(ATTEMPTS):
                state = following(state)
                kind = fraction(state)
                state = following(state)
                word = pick(zipf_keep, zipf_other, state)
                if kind < LOCAL_SHARE:
                    word = _special_word(home, word % special, vocabulary)
                elif kind < LOCAL_SHARE + TOPICAL_SHARE:
                    topic = city.shape[0] + row[i] // TOPIC_LIFE
                    word = _special_word(topic, word % special, vocabulary)
                words[j] = word
                repeated = False
                for k in range(first, j):
                    repeated |= words[k] == word
                if not repeated:
                    break
