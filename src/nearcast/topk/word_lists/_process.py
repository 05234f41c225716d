"""A message arrives, another leaves: whose rows change?"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.topk.word_lists._buffers import (
    STEP,
    enter,
    most_entries,
    position_of,
    take_out,
    with_spare,
)
from nearcast.topk.word_lists._postings import scan_list
from nearcast.topk.word_lists._search import fill_row
from nearcast.topk.word_lists._wanted import score_of, spot, spot_error, tell_threshold
from nearcast.topk.word_lists._window import (
    CELLS,
    LIVE,
    NEXT,
    NEXT_WORD,
    OLDEST,
    append,
    drop_oldest,
    with_room,
)

CANDIDATES, AFFECTED, SEARCHES = range(3)


class Touched(NamedTuple):
    """Whose list a step has changed, and what it was before.

    slot    int32[n]     in the order of the first change
    start   int64[n+1]   where the old list begins
    seq     int32[]      of the old lists
    score   float64[]
    stamp   int64[S]     the step that last touched a subscription
    ends    int64[2]     how many have been touched in this step, and its number
    counts  int64[3]     candidates, affected rows and searches since the index was made
    """

    slot: NDArray[np.int32]
    start: NDArray[np.int64]
    seq: NDArray[np.int32]
    score: NDArray[np.float64]
    stamp: NDArray[np.int64]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]


def empty_touched() -> Touched:
    """Nothing."""
    return Touched(
        np.empty(16, np.int32),
        np.zeros(17, np.int64),
        np.empty(64, np.int32),
        np.empty(64, np.float64),
        np.empty(0, np.int64),
        np.zeros(2, np.int64),
        np.zeros(3, np.int64),
    )


@njit(cache=True, nogil=True)
def longer(array, size):
    """The same things in an array with room for more."""
    if size <= len(array):
        return array
    larger = np.empty(size + size // 2, array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True, nogil=True)
def with_spare_lists(touched, lists, entries):
    """Room to remember so many lists more, with so many entries."""
    n = touched.ends[0]
    if n + lists < len(touched.slot) and touched.start[n] + entries <= len(touched.seq):
        return touched
    return Touched(
        longer(touched.slot, n + lists + 1),
        longer(touched.start, n + lists + 2),
        longer(touched.seq, touched.start[n] + entries),
        longer(touched.score, touched.start[n] + entries),
        touched.stamp,
        touched.ends,
        touched.counts,
    )


@njit(cache=True, nogil=True)
def remember(touched, buffers, slot, k):
    """Keep the list of a subscription as it is before the first change of this step."""
    if touched.stamp[slot] == touched.ends[1]:
        return
    touched.stamp[slot] = touched.ends[1]
    n = touched.ends[0]
    touched.ends[0] = n + 1
    count = min(k, buffers.held[slot])
    begin, at = touched.start[n], buffers.start[slot]
    touched.slot[n] = slot
    touched.start[n + 1] = begin + count
    for i in range(count):
        touched.seq[begin + i] = buffers.seq[at + i]
        touched.score[begin + i] = buffers.score[at + i]


@njit(cache=True, nogil=True)
def spare_for(buffers, touched, wanted, found):
    """Room for whatever the subscriptions that were found may need in this step."""
    entries, shown = 0, 0
    for slot in found:
        entries += most_entries(wanted.k[slot]) + STEP
        shown += wanted.k[slot]
    return with_spare(buffers, entries), with_spare_lists(touched, len(found), shown)


@njit(cache=True, nogil=True)
def concerned(postings, word, weight, lon, lat, space, largest):
    """The subscriptions that a message may concern, some of them twice."""
    most = 0
    for each in word:
        most += postings.held[each]
    found = np.empty(most, np.int32)
    tails = np.empty(len(word))
    square = 0.0
    for j in range(len(word) - 1, -1, -1):
        tails[j] = math.sqrt(square)
        square += weight[j] * weight[j]
    place = spot(lon, lat, space)
    slack = 1.0 + space.unit * spot_error(lon, lat, largest, space)
    hits = 0
    for j in range(len(word)):
        hits = scan_list(
            postings, word[j], place, np.float32(weight[j]), np.float32(tails[j]),
            np.float32(space.unit), np.float32(slack), hits, found,
        )  # fmt: skip
    return found[:hits]


@njit(cache=True, nogil=True)
def arrive(state, lon, lat, time, word, times, idf, grid, space, largest):
    """The newest message: into the window, and into the rows of those whom it concerns."""
    buffers, postings, wanted, messages, rings, touched = state
    messages = with_room(messages, len(word))
    seq = messages.ends[NEXT]
    m, ring = seq & (len(messages.lon) - 1), len(messages.word) - 1
    weight = np.empty(len(word))
    square = 0.0
    for j in range(len(word)):
        weight[j] = times[j] * idf[word[j]]
        square += weight[j] * weight[j]
    length = math.sqrt(square)
    begin = messages.ends[NEXT_WORD]
    messages.lon[m], messages.lat[m], messages.time[m] = lon, lat, time
    messages.length[m], messages.live[m] = length, True
    messages.first[m], messages.words[m] = begin, len(word)
    messages.ends[NEXT] = seq + 1
    messages.ends[LIVE] += 1
    messages.ends[NEXT_WORD] = begin + len(word)
    cell = cell_of(lon, lat, grid)
    for j in range(len(word)):
        weight[j] /= length
        messages.word[(begin + j) & ring] = word[j]
        messages.times[(begin + j) & ring] = times[j]
        rings = append(
            rings,
            word[j],
            np.int32(seq),
            cell,
            np.uint16(min(65535.0, math.ceil(weight[j] * 65535.0))),
        )
    found = concerned(postings, word, weight, lon, lat, space, largest)
    buffers, touched = spare_for(buffers, touched, wanted, found)
    admit(buffers, postings, wanted, touched, found, seq, lon, lat, word, weight, space)
    return buffers, postings, wanted, messages, rings, touched


@njit(cache=True, nogil=True)
def admit(buffers, postings, wanted, touched, found, seq, lon, lat, word, weight, space):
    """Into the rows of those among the found whose threshold the message reaches."""
    touched.counts[CANDIDATES] += len(found)
    for slot in found:
        score = score_of(wanted, slot, lon, lat, word, weight, space)
        if score < buffers.theta[slot] or position_of(buffers, slot, seq) >= 0:
            continue  # or else it was found by another word as well
        touched.counts[AFFECTED] += 1
        k = wanted.k[slot]
        at, count = buffers.start[slot], buffers.held[slot]
        if count < k or buffers.score[at + k - 1] <= score:
            remember(touched, buffers, slot, k)
        if enter(buffers, slot, k, score, np.int32(seq)):
            tell_threshold(postings, wanted, slot, buffers.theta[slot])


@njit(cache=True, nogil=True)
def cell_of(lon, lat, grid):
    """The cell of the grid that a place is in."""
    west, south, width, height = grid
    # Limited before it is a whole number, for which it may be too large.
    column = int(min(CELLS - 1.0, max(0.0, (lon - west) / width)))
    row = int(min(CELLS - 1.0, max(0.0, (lat - south) / height)))
    return np.uint16(column * CELLS + row)


@njit(cache=True, nogil=True)
def depart(state, seq, is_early, idf, grid, space, largest):
    """A message leaves the rows it is in; rows that have run short are filled from the window.

    `is_early`: it is not the oldest, so that it may have kept out older ones that now count again.
    """
    buffers, postings, wanted, messages, rings, touched = state
    m, ring = seq & (len(messages.lon) - 1), len(messages.word) - 1
    words, begin = messages.words[m], messages.first[m]
    word, weight = np.empty(words, np.int32), np.empty(words)
    for j in range(words):
        word[j] = messages.word[(begin + j) & ring]
        weight[j] = messages.times[(begin + j) & ring] * idf[word[j]] / messages.length[m]
    messages.live[m] = False
    messages.ends[LIVE] -= 1
    found = concerned(postings, word, weight, messages.lon[m], messages.lat[m], space, largest)
    buffers, touched = spare_for(buffers, touched, wanted, found)
    dismiss(
        buffers, postings, wanted, messages, rings, touched, found, seq, is_early, idf, grid, space
    )
    return buffers, postings, wanted, messages, rings, touched


@njit(cache=True, nogil=True)
def dismiss(
    buffers, postings, wanted, messages, rings, touched, found, seq, is_early, idf, grid, space
):
    """Out of the rows of those among the found that have the message."""
    touched.counts[CANDIDATES] += len(found)
    for slot in found:
        position = position_of(buffers, slot, seq)
        if position < 0:
            continue
        k = wanted.k[slot]
        if position < k or is_early:
            remember(touched, buffers, slot, k)
        take_out(buffers, slot, position)
        if is_early or (buffers.held[slot] < k and buffers.theta[slot] > 0.0):
            touched.counts[SEARCHES] += 1
            fill_row(buffers, wanted, slot, messages, rings, idf, grid, space)
            tell_threshold(postings, wanted, slot, buffers.theta[slot])


@njit(cache=True, nogil=True)
def forget_oldest(messages, rings):
    """The words of the oldest message, which has departed, lead to it no longer."""
    seq = messages.ends[OLDEST]
    m, ring = seq & (len(messages.lon) - 1), len(messages.word) - 1
    for j in range(messages.words[m]):
        rings = drop_oldest(rings, messages.word[(messages.first[m] + j) & ring])
    messages.ends[OLDEST] = seq + 1
    return rings


@njit(cache=True, nogil=True)
def expire(state, most, before, idf, grid, space, largest):
    """What is too many, or not later than `before`, leaves the window, the oldest first."""
    buffers, postings, wanted, messages, rings, touched = state
    while messages.ends[OLDEST] < messages.ends[NEXT]:
        seq = messages.ends[OLDEST]
        m = seq & (len(messages.lon) - 1)
        if messages.live[m]:
            if messages.ends[LIVE] <= most and messages.time[m] > before:
                break
            buffers, postings, wanted, messages, rings, touched = depart(
                (buffers, postings, wanted, messages, rings, touched),
                seq, False, idf, grid, space, largest,
            )  # fmt: skip
        rings = forget_oldest(messages, rings)
    return buffers, postings, wanted, messages, rings, touched


@njit(cache=True, nogil=True)
def next_step(touched):
    """Nothing has been touched yet."""
    touched.ends[0] = 0
    touched.ends[1] += 1


@njit(cache=True, nogil=True)
def publish_all(
    state, at, times_of_messages, word_start, word, times, most, seconds, idf, grid, space, largest
):
    """Many messages, one after the other: (state, how many lists each has changed)."""
    buffers, postings, wanted, messages, rings, touched = state
    changed = np.zeros(len(at), np.int32)
    for i in range(len(at)):
        next_step(touched)
        time = times_of_messages[i]
        state = expire(
            (buffers, postings, wanted, messages, rings, touched),
            most - 1, time - seconds, idf, grid, space, largest,
        )  # fmt: skip
        begin, end = word_start[i], word_start[i + 1]
        buffers, postings, wanted, messages, rings, touched = arrive(
            state, at[i, 0], at[i, 1], time, word[begin:end], times[begin:end],
            idf, grid, space, largest,
        )  # fmt: skip
        changed[i] = touched.ends[0]
    return (buffers, postings, wanted, messages, rings, touched), changed
