"""A message arrives, another leaves: whose rows change?"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.prefetch import prefetch_row
from nearcast.topk.word_lists._postings import HELD as LIST_HELD
from nearcast.topk.word_lists._postings import scan_list, tell_threshold
from nearcast.topk.word_lists._rows import (
    STEP,
    enter,
    most_entries,
    position_of,
    take_out,
    with_spare,
)
from nearcast.topk.word_lists._search import fill_row
from nearcast.topk.word_lists._subscriptions import (
    FIRST,
    HELD,
    SEEN,
    STAMP,
    START,
    THETA,
    K,
    score_of,
    spot,
    spot_error,
)
from nearcast.topk.word_lists._window import (
    CELLS,
    LAT,
    LENGTH,
    LIVE,
    LON,
    NEXT,
    NEXT_WORD,
    OLDEST,
    TIME,
    append,
    drop_oldest,
    mark,
    read_words,
    unit_weights,
    with_room,
)

CANDIDATES, AFFECTED, SEARCHES = range(3)
LISTS, STEPS = range(2)  # cells of `ends`
SOON, SOONER = 12, 6  # candidates ahead whose heads, whose terms and rows are asked for


class Touched(NamedTuple):
    """Whose list a step has changed, and what it was before.

    slot    int32[n]     in the order of the first change
    start   int64[n+1]   where the old list begins
    seq     int32[]      of the old lists
    score   float64[]
    ends    int64[2]     how many have been touched in this step, and its number
    counts  int64[3]     candidates, affected rows and searches since the index was made
    """

    slot: NDArray[np.int32]
    start: NDArray[np.int64]
    seq: NDArray[np.int32]
    score: NDArray[np.float64]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]


def none_touched() -> Touched:
    """Nothing."""
    return Touched(
        np.empty(16, np.int32),
        np.zeros(17, np.int64),
        np.empty(64, np.int32),
        np.empty(64, np.float64),
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
    n = touched.ends[LISTS]
    has_places = n + lists <= len(touched.slot) and n + lists < len(touched.start)
    if has_places and touched.start[n] + entries <= len(touched.seq):
        return touched
    return Touched(
        longer(touched.slot, n + lists),
        longer(touched.start, n + lists + 1),
        longer(touched.seq, touched.start[n] + entries),
        longer(touched.score, touched.start[n] + entries),
        touched.ends,
        touched.counts,
    )


@njit(cache=True, nogil=True)
def remember(touched, subscriptions, rows, slot):
    """Keep the list of a subscription as it is before the first change of this step."""
    head = subscriptions.head[slot]
    if head[STAMP] == touched.ends[STEPS]:
        return
    head[STAMP] = touched.ends[STEPS]
    n = touched.ends[LISTS]
    touched.ends[LISTS] = n + 1
    count = min(head[K], head[HELD])
    begin, at = touched.start[n], head[START] * STEP
    touched.slot[n] = slot
    touched.start[n + 1] = begin + count
    for i in range(count):
        touched.seq[begin + i] = rows.seq[at + i]
        touched.score[begin + i] = rows.score[at + i]


@njit(cache=True, nogil=True)
def spare_for(rows, touched, subscriptions, found):
    """Room for whatever the subscriptions that were found may need in this step."""
    entries, shown = 0, 0
    for n in range(len(found)):
        if n + SOON < len(found):
            prefetch_row(subscriptions.head, found[n + SOON])
            prefetch_row(subscriptions.place, found[n + SOON])
        k = subscriptions.head[found[n], K]
        entries += most_entries(k) + STEP
        shown += k
    return with_spare(rows, entries), with_spare_lists(touched, len(found), shown)


@njit(cache=True, nogil=True)
def concerned(postings, word, weight, lon, lat, space, largest):
    """The subscriptions that a message may concern, some of them twice."""
    most = 0
    for each in word:
        most += postings.lists[each, LIST_HELD]
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
    subscriptions, rows, postings, messages, rings, touched = state
    said = 0
    for count in times:
        said += count
    messages = with_room(messages, said)
    seq = messages.ends[NEXT]
    m, ring = seq & (len(messages.live) - 1), len(messages.word) - 1
    at = messages.ends[NEXT_WORD]
    messages.place[m, LON], messages.place[m, LAT], messages.place[m, TIME] = lon, lat, time
    messages.live[m] = True
    messages.first[m], messages.words[m] = at, said
    messages.ends[NEXT] = seq + 1
    messages.ends[LIVE] += 1
    messages.ends[NEXT_WORD] = at + said
    cell = cell_of(lon, lat, grid)
    weight, messages.place[m, LENGTH] = unit_weights(word, times, idf)
    messages.marks[m] = 0
    for j in range(len(word)):
        messages.marks[m] |= mark(word[j])
        for _ in range(times[j]):
            messages.word[at & ring] = word[j]
            at += 1
        rounded = np.uint16(min(65535.0, math.ceil(weight[j] * 65535.0)))
        rings = append(rings, word[j], np.int32(seq), cell, rounded)
    found = concerned(postings, word, weight, lon, lat, space, largest)
    rows, touched = spare_for(rows, touched, subscriptions, found)
    postings = admit(
        subscriptions, rows, postings, touched, found, np.int32(seq), lon, lat, word, weight, space
    )
    return subscriptions, rows, postings, messages, rings, touched


@njit(cache=True, nogil=True)
def admit(subscriptions, rows, postings, touched, found, seq, lon, lat, word, weight, space):
    """Into the rows of those among the found whose threshold the message reaches."""
    touched.counts[CANDIDATES] += len(found)
    for n in range(len(found)):
        if n + SOONER < len(found):
            soon = subscriptions.head[found[n + SOONER]]
            prefetch_row(subscriptions.word, soon[FIRST])
            prefetch_row(subscriptions.weight, soon[FIRST])
        slot = found[n]
        head = subscriptions.head[slot]
        if head[SEEN] == seq:
            continue  # it was found by another word as well
        head[SEEN] = seq
        score = score_of(subscriptions, slot, lon, lat, word, weight, space)
        if score < subscriptions.place[slot, THETA]:
            continue
        touched.counts[AFFECTED] += 1
        k = head[K]
        if head[HELD] < k or rows.score[head[START] * STEP + k - 1] <= score:
            remember(touched, subscriptions, rows, slot)
        if enter(subscriptions, rows, slot, k, score, seq):
            postings = tell_threshold(subscriptions, postings, slot, space)
    return postings


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
    subscriptions, rows, postings, messages, rings, touched = state
    m = seq & (len(messages.live) - 1)
    word, weight = read_words(messages, m, idf)
    messages.live[m] = False
    messages.ends[LIVE] -= 1
    lon, lat = messages.place[m, LON], messages.place[m, LAT]
    found = concerned(postings, word, weight, lon, lat, space, largest)
    rows, touched = spare_for(rows, touched, subscriptions, found)
    postings = dismiss(
        subscriptions, rows, postings, messages, rings, touched, found, np.int32(seq), is_early,
        idf, grid, space,
    )  # fmt: skip
    return subscriptions, rows, postings, messages, rings, touched


@njit(cache=True, nogil=True)
def dismiss(
    subscriptions, rows, postings, messages, rings, touched, found, seq, is_early, idf, grid, space
):
    """Out of the rows of those among the found that have the message."""
    touched.counts[CANDIDATES] += len(found)
    leaving = np.int32(-2 - seq)  # another mark than that of its arrival
    for n in range(len(found)):
        if n + SOONER < len(found):
            at = subscriptions.head[found[n + SOONER], START] * STEP
            prefetch_row(rows.seq, at)
            prefetch_row(rows.seq, at + 16)
            prefetch_row(rows.seq, at + 32)
        slot = found[n]
        head = subscriptions.head[slot]
        if head[SEEN] == leaving:
            continue
        head[SEEN] = leaving
        position = position_of(subscriptions, rows, slot, seq)
        if position < 0:
            continue
        if position < head[K] or is_early:
            remember(touched, subscriptions, rows, slot)
        take_out(subscriptions, rows, slot, position)
        if is_early or (head[HELD] < head[K] and subscriptions.place[slot, THETA] > 0.0):
            touched.counts[SEARCHES] += 1
            fill_row(subscriptions, rows, slot, messages, rings, idf, grid, space)
            postings = tell_threshold(subscriptions, postings, slot, space)
    return postings


@njit(cache=True, nogil=True)
def forget_oldest(messages, rings):
    """The words of the oldest message, which has departed, lead to it no longer."""
    seq = messages.ends[OLDEST]
    m, ring = seq & (len(messages.live) - 1), len(messages.word) - 1
    begin, last = messages.first[m], np.int32(-1)
    for i in range(begin, begin + messages.words[m]):
        word = messages.word[i & ring]
        if word != last:
            rings = drop_oldest(rings, word)
        last = word
    messages.ends[OLDEST] = seq + 1
    return rings


@njit(cache=True, nogil=True)
def expire(state, most, before, idf, grid, space, largest):
    """What is too many, or not later than `before`, leaves the window, the oldest first."""
    subscriptions, rows, postings, messages, rings, touched = state
    while messages.ends[OLDEST] < messages.ends[NEXT]:
        seq = messages.ends[OLDEST]
        m = seq & (len(messages.live) - 1)
        if messages.live[m]:
            if messages.ends[LIVE] <= most and messages.place[m, TIME] > before:
                break
            subscriptions, rows, postings, messages, rings, touched = depart(
                (subscriptions, rows, postings, messages, rings, touched),
                seq, False, idf, grid, space, largest,
            )  # fmt: skip
        rings = forget_oldest(messages, rings)
    return subscriptions, rows, postings, messages, rings, touched


@njit(cache=True, nogil=True)
def next_step(touched):
    """Nothing has been touched yet."""
    touched.ends[LISTS] = 0
    touched.ends[STEPS] += 1


@njit(cache=True, nogil=True)
def publish_all(
    state, at, times_of_messages, word_start, word, times, most, seconds, idf, grid, space, largest
):
    """Many messages, one after the other: (state, how many lists each has changed)."""
    subscriptions, rows, postings, messages, rings, touched = state
    changed = np.zeros(len(at), np.int32)
    for i in range(len(at)):
        next_step(touched)
        time = times_of_messages[i]
        state = expire(
            (subscriptions, rows, postings, messages, rings, touched),
            most - 1, time - seconds, idf, grid, space, largest,
        )  # fmt: skip
        begin, end = word_start[i], word_start[i + 1]
        subscriptions, rows, postings, messages, rings, touched = arrive(
            state, at[i, 0], at[i, 1], time, word[begin:end], times[begin:end],
            idf, grid, space, largest,
        )  # fmt: skip
        changed[i] = touched.ends[LISTS]
    return (subscriptions, rows, postings, messages, rings, touched), changed
