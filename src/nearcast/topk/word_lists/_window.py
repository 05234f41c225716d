"""The messages of the window, by arrival, and for each word those that have it.

lon, lat, time, length  float64[M]   of the message of arrival `seq`, at `seq & (M - 1)`; `length`
                                     is that of its vector before it had unit length
live       bool[M]      false for one that was replaced
first      int64[M]     where its words begin in the ring, at `first & (Q - 1)`
words      int32[M]     how many distinct words it has
word       int32[Q]     in the order of words
times      int32[Q]     how often it says them
ends       int64[4]     oldest arrival, next arrival, messages that live, next word of the ring

post_seq   int32[P]     arrivals that have a word, oldest first, in a ring
post_cell  uint16[P]    the cell of a grid of 128 by 128 in which it is
post_wt    uint16[P]    the weight of the word there, rounded up to 1/65535
start      int64[V]     where the ring of a word begins
head       int32[V]     its oldest posting
count      int32[V]
room       int32[V]     a power of two, or 0
free       int64[32]    the first free ring of 2**i, -1 for none; `post_seq` leads to the next
used       int64[1]     postings in use, with free rings
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.topk.word_lists._postings import log2

OLDEST, NEXT, LIVE, NEXT_WORD = range(4)
CELLS = 128


class Messages(NamedTuple):
    """The arrays of messages; see the module docstring."""

    lon: NDArray[np.float64]
    lat: NDArray[np.float64]
    time: NDArray[np.float64]
    length: NDArray[np.float64]
    live: NDArray[np.bool_]
    first: NDArray[np.int64]
    words: NDArray[np.int32]
    word: NDArray[np.int32]
    times: NDArray[np.int32]
    ends: NDArray[np.int64]


class Rings(NamedTuple):
    """The arrays of words; see the module docstring."""

    seq: NDArray[np.int32]
    cell: NDArray[np.uint16]
    weight: NDArray[np.uint16]
    start: NDArray[np.int64]
    head: NDArray[np.int32]
    held: NDArray[np.int32]
    room: NDArray[np.int32]
    free: NDArray[np.int64]
    used: NDArray[np.int64]


def empty_messages() -> Messages:
    """No message."""
    return Messages(
        np.empty(16, np.float64),
        np.empty(16, np.float64),
        np.empty(16, np.float64),
        np.empty(16, np.float64),
        np.empty(16, np.bool_),
        np.empty(16, np.int64),
        np.empty(16, np.int32),
        np.empty(64, np.int32),
        np.empty(64, np.int32),
        np.zeros(4, np.int64),
    )


def empty_rings() -> Rings:
    """No word."""
    return Rings(
        np.empty(64, np.int32),
        np.empty(64, np.uint16),
        np.empty(64, np.uint16),
        np.empty(0, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.full(32, -1, np.int64),
        np.zeros(1, np.int64),
    )


@njit(cache=True, nogil=True)
def rolled(ring, first, last, size):
    """A larger ring with the same things at first:last."""
    larger = np.empty(size, ring.dtype)
    for i in range(first, last):
        larger[i & (size - 1)] = ring[i & (len(ring) - 1)]
    return larger


@njit(cache=True, nogil=True)
def with_room(messages, words):
    """Room for one more message of so many words.  Amortised O(1)."""
    oldest, following = messages.ends[OLDEST], messages.ends[NEXT]
    lon, lat, time, length = messages.lon, messages.lat, messages.time, messages.length
    live, first, counts = messages.live, messages.first, messages.words
    word, times = messages.word, messages.times
    if following - oldest == len(lon):
        size = 2 * len(lon)
        lon = rolled(lon, oldest, following, size)
        lat = rolled(lat, oldest, following, size)
        time = rolled(time, oldest, following, size)
        length = rolled(length, oldest, following, size)
        live = rolled(live, oldest, following, size)
        first = rolled(first, oldest, following, size)
        counts = rolled(counts, oldest, following, size)
    end = messages.ends[NEXT_WORD]
    begin = first[oldest & (len(lon) - 1)] if following > oldest else end
    if end + words - begin > len(word):
        size = len(word)
        while end + words - begin > size:
            size *= 2
        word = rolled(word, begin, end, size)
        times = rolled(times, begin, end, size)
    return Messages(lon, lat, time, length, live, first, counts, word, times, messages.ends)


@njit(cache=True, nogil=True)
def claim_ring(rings, kind):
    """Room for 2**kind postings: (rings, larger perhaps, where it begins)."""
    at = rings.free[kind]
    if at >= 0:
        rings.free[kind] = rings.seq[at]
        return rings, at
    at = rings.used[0]
    rings.used[0] += 1 << kind
    needed = rings.used[0]
    if needed > len(rings.seq):
        size = needed + needed // 4
        seq, cell, weight = (
            np.empty(size, np.int32),
            np.empty(size, np.uint16),
            np.empty(size, np.uint16),
        )
        seq[:at] = rings.seq[:at]
        cell[:at] = rings.cell[:at]
        weight[:at] = rings.weight[:at]
        rings = Rings(
            seq, cell, weight, rings.start, rings.head, rings.held, rings.room, rings.free,
            rings.used,
        )  # fmt: skip
    return rings, at


@njit(cache=True, nogil=True)
def move_ring(rings, word, room):
    """The same postings where there is more, or less, room, from its beginning on."""
    old, count, old_room = rings.start[word], rings.held[word], rings.room[word]
    at = np.int64(-1)
    if room > 0:
        rings, at = claim_ring(rings, log2(room))
        for i in range(count):
            from_ = old + ((rings.head[word] + i) & (old_room - 1))
            rings.seq[at + i] = rings.seq[from_]
            rings.cell[at + i] = rings.cell[from_]
            rings.weight[at + i] = rings.weight[from_]
    if old_room > 0:
        kind = log2(old_room)
        rings.seq[old] = rings.free[kind]
        rings.free[kind] = old
    rings.start[word] = at
    rings.room[word] = room
    rings.head[word] = 0
    return rings


@njit(cache=True, nogil=True)
def append(rings, word, seq, cell, weight):
    """A new message has the word.  Amortised O(1)."""
    count, room = rings.held[word], rings.room[word]
    if count == room:
        rings = move_ring(rings, word, max(1, 2 * room))
        room = rings.room[word]
    at = rings.start[word] + ((rings.head[word] + count) & (room - 1))
    rings.seq[at] = seq
    rings.cell[at] = cell
    rings.weight[at] = weight
    rings.held[word] = count + 1
    return rings


@njit(cache=True, nogil=True)
def drop_oldest(rings, word):
    """The oldest message of a word has left the window.  Amortised O(1)."""
    room = rings.room[word]
    rings.held[word] -= 1
    rings.head[word] = (rings.head[word] + 1) & (room - 1)
    if rings.held[word] == 0:
        rings = move_ring(rings, word, 0)
    elif 4 * rings.held[word] <= room:
        rings = move_ring(rings, word, room // 2)
    return rings
