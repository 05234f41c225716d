"""The messages of the window, by arrival, and for each word those that have it.

place      float64[M, 4]  longitude, latitude, time of the message of arrival `seq`, and the length
                          of its vector before it was made 1; at `seq & (M - 1)`
marks      uint64[M]      a bit for each of its words, which other words may share
live       bool[M]        false for one that was replaced
first      int32[M]       where its words begin in the ring of words
words      int32[M]       how many words it has
word       int32[Q]       in the order of words, one that is said twice stands twice; after Q - 1
                          comes 0
ends       int64[5]       oldest arrival, next arrival, messages that live, where the next word of
                          the ring goes, words of the ring

rings      int32[V, 5]    START of the ring of a word; HEAD, its oldest posting; HELD; ROOM,
                          one of the `sizes`, or 0; HEAVIEST, the largest weight since it was
                          empty
seq        int32[P]       arrivals that have a word, oldest first, in a ring
cell       uint16[P]      the cell of a grid of 128 by 128 in which it is
weight     uint16[P]      the weight of the word there, rounded up to 1/65535
free       int32[SIZES]   the first free ring of each size, -1 for none; `seq` leads to the next
used       int64[1]       postings in use, with free rings
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.large_pages import in_large_pages
from nearcast.topk._flat.sizes import SIZES, give_room, kind_for, size_of, take_room

OLDEST, NEXT, LIVE, NEXT_WORD, WORDS_HELD = range(5)
LON, LAT, TIME, LENGTH = range(4)
START, HEAD, HELD, ROOM, HEAVIEST = range(5)
CELL_BITS = 7
CELLS = 1 << CELL_BITS


class Messages(NamedTuple):
    """The arrays of messages; see the module docstring."""

    place: NDArray[np.float64]
    marks: NDArray[np.uint64]
    live: NDArray[np.bool_]
    first: NDArray[np.int32]
    words: NDArray[np.int32]
    word: NDArray[np.int32]
    ends: NDArray[np.int64]


class Rings(NamedTuple):
    """The arrays of words; see the module docstring."""

    rings: NDArray[np.int32]
    seq: NDArray[np.int32]
    cell: NDArray[np.uint16]
    weight: NDArray[np.uint16]
    free: NDArray[np.int32]
    used: NDArray[np.int64]


def no_messages() -> Messages:
    """The arrays of none."""
    return Messages(
        np.empty((16, 4), np.float64),
        np.empty(16, np.uint64),
        np.empty(16, np.bool_),
        np.empty(16, np.int32),
        np.empty(16, np.int32),
        np.empty(64, np.int32),
        np.zeros(5, np.int64),
    )


def no_rings() -> Rings:
    """The arrays of no word."""
    return Rings(
        np.empty((0, 5), np.int32),
        np.empty(64, np.int32),
        np.empty(64, np.uint16),
        np.empty(64, np.uint16),
        np.full(SIZES, -1, np.int32),
        np.zeros(1, np.int64),
    )


@inner
def wrapped(at, size):
    """A place in a ring of so many that was counted beyond its end."""
    return at if at < size else at - size


@inner
def rolled(ring, first, last, size):
    """A larger ring with the same things at first:last."""
    larger = in_large_pages(np.empty((size, *ring.shape[1:]), ring.dtype))
    for i in range(first, last):
        larger[i & (size - 1)] = ring[i & (len(ring) - 1)]
    return larger


@inner
def with_room(messages, words):
    """Room for one more message of so many words.  Amortised O(1)."""
    oldest, following = messages.ends[OLDEST], messages.ends[NEXT]
    place, marks, live = messages.place, messages.marks, messages.live
    first, counts, word = messages.first, messages.words, messages.word
    if following - oldest == len(live):
        size = 2 * len(live)
        place = rolled(place, oldest, following, size)
        marks = rolled(marks, oldest, following, size)
        live = rolled(live, oldest, following, size)
        first = rolled(first, oldest, following, size)
        counts = rolled(counts, oldest, following, size)
    held = messages.ends[WORDS_HELD]
    if held + words > len(word):
        begin = messages.ends[NEXT_WORD] - held
        begin += len(word) if begin < 0 else 0
        larger = in_large_pages(np.empty(held + words + (held + words) // 4, np.int32))
        for i in range(held):
            larger[i] = word[wrapped(begin + i, len(word))]
        for seq in range(oldest, following):
            m = seq & (len(live) - 1)
            first[m] = wrapped(first[m] - begin + len(word), len(word))
        messages.ends[NEXT_WORD] = held
        word = larger
    return Messages(place, marks, live, first, counts, word, messages.ends)


@njit(cache=True, nogil=True)
def mark(word):
    """The bit of a word."""
    return np.uint64(1) << (np.uint64(word) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(58))


@njit(cache=True, nogil=True)
def unit_weights(word, times, idf):
    """The vector of unit length of distinct words that are said so many times, and its length."""
    weight = np.empty(len(word))
    square = 0.0
    for j in range(len(word)):
        weight[j] = times[j] * idf[word[j]]
        square += weight[j] * weight[j]
    length = math.sqrt(square)
    for j in range(len(word)):
        weight[j] /= length
    return weight, length


@njit(cache=True, nogil=True)
def read_words(messages, m, idf):
    """The distinct words of a message and their weights."""
    ring, begin, said = len(messages.word), messages.first[m], messages.words[m]
    word, weight = np.empty(said, np.int32), np.empty(said)
    count = 0
    for i in range(begin, begin + said):
        number = messages.word[wrapped(i, ring)]
        if count == 0 or word[count - 1] != number:
            word[count], weight[count] = number, 0.0
            count += 1
        weight[count - 1] += 1.0
    for j in range(count):
        weight[j] = weight[j] * idf[word[j]] / messages.place[m, LENGTH]
    return word[:count], weight[:count]


@inner
def claim_ring(rings, kind):
    """Room for a ring of this size: (rings, larger perhaps, where it begins)."""
    at = take_room(rings.free, rings.seq, kind, 1)
    if at >= 0:
        return rings, at
    used = rings.used[0]
    rings.used[0] += size_of(kind)
    needed = rings.used[0]
    if needed > len(rings.seq):
        size = needed + needed // 8
        seq, cell, weight = (
            in_large_pages(np.empty(size, np.int32)),
            in_large_pages(np.empty(size, np.uint16)),
            in_large_pages(np.empty(size, np.uint16)),
        )
        seq[:used] = rings.seq[:used]
        cell[:used] = rings.cell[:used]
        weight[:used] = rings.weight[:used]
        rings = Rings(rings.rings, seq, cell, weight, rings.free, rings.used)
    return rings, np.int32(used)


@inner
def move_ring(rings, word, wanted):
    """The same postings where there is room for so many, from its beginning on."""
    ring = rings.rings[word]
    old, count, old_room = ring[START], ring[HELD], ring[ROOM]
    at, room = np.int32(-1), 0
    if wanted > 0:
        kind = kind_for(wanted)
        room = size_of(kind)
        rings, at = claim_ring(rings, kind)
        for i in range(count):
            from_ = old + wrapped(ring[HEAD] + i, old_room)
            rings.seq[at + i] = rings.seq[from_]
            rings.cell[at + i] = rings.cell[from_]
            rings.weight[at + i] = rings.weight[from_]
    if old_room > 0:
        give_room(rings.free, rings.seq, old, old_room, 1)
    ring[START], ring[HEAD], ring[ROOM] = at, 0, room
    return rings


@inner
def append(rings, word, seq, cell, weight):
    """A new message has the word.  Amortised O(1)."""
    ring = rings.rings[word]
    if ring[HELD] == ring[ROOM]:
        rings = move_ring(rings, word, ring[HELD] + 1)
    at = ring[START] + wrapped(ring[HEAD] + ring[HELD], ring[ROOM])
    rings.seq[at] = seq
    rings.cell[at] = cell
    rings.weight[at] = weight
    ring[HEAVIEST] = max(ring[HEAVIEST], weight)
    ring[HELD] += 1
    return rings


@inner
def drop_oldest(rings, word):
    """The oldest message of a word has left the window.  Amortised O(1)."""
    ring = rings.rings[word]
    ring[HELD] -= 1
    ring[HEAD] = wrapped(ring[HEAD] + 1, ring[ROOM])
    if ring[HELD] == 0:
        ring[HEAVIEST] = 0
        rings = move_ring(rings, word, 0)
    elif 2 * ring[HELD] <= ring[ROOM]:
        rings = move_ring(rings, word, ring[HELD] + ring[HELD] // 4)
    return rings


@inner
def cell_of(lon, lat, grid):
    """The cell of the grid that a place is in."""
    west, south, width, height = grid
    # Limited before it is a whole number, for which it may be too large.
    column = int(min(CELLS - 1.0, max(0.0, (lon - west) / width)))
    row = int(min(CELLS - 1.0, max(0.0, (lat - south) / height)))
    return np.uint16(column * CELLS + row)


@inner
def into_window(messages, rings, lon, lat, time, word, times, idf, grid):
    """The newest message, of distinct words: (messages, rings, the weights of its words)."""
    said = 0
    for count in times:
        said += count
    messages = with_room(messages, said)
    seq = messages.ends[NEXT]
    m, ring = seq & (len(messages.live) - 1), len(messages.word)
    at = messages.ends[NEXT_WORD]
    messages.place[m, LON], messages.place[m, LAT], messages.place[m, TIME] = lon, lat, time
    messages.live[m] = True
    messages.first[m], messages.words[m] = at, said
    messages.ends[NEXT] = seq + 1
    messages.ends[LIVE] += 1
    messages.ends[NEXT_WORD] = wrapped(at + said, ring)
    messages.ends[WORDS_HELD] += said
    cell = cell_of(lon, lat, grid)
    weight, messages.place[m, LENGTH] = unit_weights(word, times, idf)
    messages.marks[m] = 0
    for j in range(len(word)):
        messages.marks[m] |= mark(word[j])
        for _ in range(times[j]):
            messages.word[at] = word[j]
            at = wrapped(at + 1, ring)
        rounded = np.uint16(min(65535.0, math.ceil(weight[j] * 65535.0)))
        rings = append(rings, word[j], np.int32(seq), cell, rounded)
    return messages, rings, weight


@inner
def forget_oldest(messages, rings):
    """The words of the oldest message, which has departed, lead to it no longer."""
    seq = messages.ends[OLDEST]
    m, ring = seq & (len(messages.live) - 1), len(messages.word)
    begin, last = messages.first[m], np.int32(-1)
    for i in range(begin, begin + messages.words[m]):
        word = messages.word[wrapped(i, ring)]
        if word != last:
            rings = drop_oldest(rings, word)
        last = word
    messages.ends[OLDEST] = seq + 1
    messages.ends[WORDS_HELD] -= messages.words[m]
    return rings
