"""A message arrives, another leaves: whose rows change?

*moving* are the arrays that may be others afterwards, because they grow: rows, takers, messages,
rings, touched. *fixed* are lists, cells, pyramid, work, wanted.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.topk.skype._clock import now
from nearcast.topk.skype._disseminate import (
    CIQ,
    IGPT,
    candidates_by_cell,
    candidates_by_merging,
    put,
    tell,
)
from nearcast.topk.skype._inner import inner
from nearcast.topk.skype._reevaluate import accept, refill
from nearcast.topk.skype._rows import KNOWS_ALL, position_of, take_out
from nearcast.topk.skype._takers import add_taker, taken_by, with_messages
from nearcast.topk.word_lists._process import (
    AFFECTED,
    CANDIDATES,
    SEARCHES,
    Touched,
    cell_of,
    forget_oldest,
    longer,
    next_step,
    remember,
)
from nearcast.topk.word_lists._wanted import score_of
from nearcast.topk.word_lists._window import (
    LIVE,
    NEXT,
    NEXT_WORD,
    OLDEST,
    append,
    with_room,
)

ARRIVED, EXPIRED = range(2)


class How(NamedTuple):
    """Which pieces an index is made of, and their settings.

    - `kind`, `policy`: of dissemination and of re-evaluation
    - `cuts`: float64[], where alpha is divided into parts
    - `capacity`: subscriptions of a cell at the most
    - `levels`: grids of the pyramid
    - `ratio`: the share of the k-th score that is the threshold of a skyband
    - `factor`: kmax for each k
    - `is_counted`: as many messages leave the window as come
    """

    kind: int
    policy: int
    cuts: NDArray[np.float64]
    capacity: int
    levels: int
    ratio: float
    factor: float
    is_counted: bool


class Work(NamedTuple):
    """What has been done.

    seen      int64[S]    the last message that found a subscription
    messages  int64[1]    that have come
    flow      float64[2]  messages that have come, and gone, of late
    spent     int64[2]    nanoseconds in which messages came, and went
    looks     int64[1]    postings that were looked at
    """

    seen: NDArray[np.int64]
    messages: NDArray[np.int64]
    flow: NDArray[np.float64]
    spent: NDArray[np.int64]
    looks: NDArray[np.int64]


def no_work() -> Work:
    """Nothing."""
    return Work(
        np.empty(0, np.int64), np.zeros(1, np.int64), np.zeros(2), np.zeros(2, np.int64),
        np.zeros(1, np.int64),
    )  # fmt: skip


@inner
def with_room_to_remember(touched, k):
    """Room for one more list of at most k messages.  Amortised O(1)."""
    n = touched.ends[0]
    has_place = n < len(touched.slot) and n + 1 < len(touched.start)
    if has_place and touched.start[n] + k <= len(touched.seq):
        return touched
    return Touched(
        longer(touched.slot, n + 1),
        longer(touched.start, n + 2),
        longer(touched.seq, touched.start[n] + k),
        longer(touched.score, touched.start[n] + k),
        touched.stamp,
        touched.ends,
        touched.counts,
    )


@inner
def share_arriving(work, is_counted):
    """Section 6.3: of messages that come or go, the share that comes."""
    if is_counted:
        return 0.5
    share = (work.flow[ARRIVED] + 1.0) / (work.flow[ARRIVED] + work.flow[EXPIRED] + 2.0)
    return min(0.75, max(0.25, share))


@inner
def note_flow(work, which, live):
    """A message has come or gone; what was a window ago counts half."""
    work.flow[which] += 1.0
    if work.flow[ARRIVED] + work.flow[EXPIRED] > 100.0 + 2.0 * live:
        work.flow[ARRIVED] /= 2.0
        work.flow[EXPIRED] /= 2.0


@inner
def fill(rows, takers, wanted, slot, messages, rings, idf, grid, space, how, work):
    """Search the window for a subscription: (rows, takers)."""
    old = rows.seq[rows.start[slot] : rows.start[slot] + rows.held[slot]].copy()
    rows = refill(
        rows, wanted, slot, messages, rings, idf, grid, space, how,
        share_arriving(work, how.is_counted),
    )  # fmt: skip
    at = rows.start[slot]
    for i in range(at, at + rows.held[slot]):
        seq = rows.seq[i]
        is_new = True
        for each in old:
            if each == seq:
                is_new = False
                break
        if is_new:
            takers = add_taker(takers, seq, slot)
    return rows, takers


@njit(cache=True, nogil=True)
def begin_all(moving, fixed, slots, are_new, idf, grid, space, how):
    """Enter subscriptions, which have rows unless they are new: (rows, takers, lists, cells)."""
    rows, takers, messages, rings, _ = moving
    lists, cells, pyramid, work, wanted = fixed
    for slot in slots:
        if are_new:
            rows.start[slot], rows.room[slot], rows.held[slot] = 0, 0, 0
            work.seen[slot] = -1
            rows, takers = fill(
                rows, takers, wanted, slot, messages, rings, idf, grid, space, how, work
            )
        lists, cells = put(lists, cells, pyramid, wanted, slot, rows.theta, how, space)
    return rows, takers, lists, cells


@inner
def candidates(rows, lists, cells, pyramid, work, wanted, word, weight, lon, lat, space, how):
    """Whom a message may concern."""
    if how.kind == CIQ:
        found, looks = candidates_by_merging(
            lists, pyramid, wanted, rows.theta, word, weight, lon, lat, space, how.levels
        )
    else:
        found, looks = candidates_by_cell(
            lists, cells, word, weight, lon, lat, space, how.kind == IGPT, work.seen,
            work.messages[0],
        )  # fmt: skip
    work.looks[0] += looks
    return found


@inner
def into_window(messages, rings, takers, lon, lat, time, word, times, idf, grid):
    """The newest message is in the window: (messages, rings, takers, the weights of its words)."""
    messages = with_room(messages, len(word))
    takers = with_messages(takers, messages)
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
    takers.head[m] = -1
    cell = cell_of(lon, lat, grid)
    for j in range(len(word)):
        weight[j] /= length
        messages.word[(begin + j) & ring] = word[j]
        messages.times[(begin + j) & ring] = times[j]
        share = np.uint16(min(65535.0, math.ceil(weight[j] * 65535.0)))
        rings = append(rings, word[j], np.int32(seq), cell, share)
    return messages, rings, takers, weight


@inner
def arrive(moving, fixed, lon, lat, time, word, times, idf, grid, space, how):
    """The newest message: into the window, and into the rows of those whom it concerns."""
    rows, takers, messages, rings, touched = moving
    lists, cells, pyramid, work, wanted = fixed
    moment = np.empty(2, np.int64)
    began = now(moment)
    seq = messages.ends[NEXT]
    messages, rings, takers, weight = into_window(
        messages, rings, takers, lon, lat, time, word, times, idf, grid
    )
    work.messages[0] += 1
    note_flow(work, ARRIVED, messages.ends[LIVE])
    arriving = share_arriving(work, how.is_counted)
    found = candidates(
        rows, lists, cells, pyramid, work, wanted, word, weight, lon, lat, space, how
    )
    touched.counts[CANDIDATES] += len(found)
    for slot in found:
        score = score_of(wanted, slot, lon, lat, word, weight, space)
        if score < rows.theta[slot]:
            continue
        touched.counts[AFFECTED] += 1
        k = wanted.k[slot]
        at, count = rows.start[slot], rows.held[slot]
        if count < k or rows.score[at + k - 1] <= score:
            touched = with_room_to_remember(touched, k)
            remember(touched, rows, slot, k)
        rows, is_told = accept(
            rows, wanted, slot, score, np.int32(seq), messages, rings, how, arriving
        )
        takers = add_taker(takers, seq, slot)
        if is_told:
            tell(lists, cells, wanted, slot, rows.theta, how)
    work.spent[ARRIVED] += now(moment) - began
    return rows, takers, messages, rings, touched


@inner
def depart(moving, fixed, seq, is_early, idf, grid, space, how):
    """A message leaves the rows it is in; rows that have run short are filled from the window.

    `is_early`: it is not the oldest, so that it may have kept out older ones that now count again.
    """
    rows, takers, messages, rings, touched = moving
    lists, cells, _, work, wanted = fixed
    messages.live[seq & (len(messages.lon) - 1)] = False
    messages.ends[LIVE] -= 1
    note_flow(work, EXPIRED, messages.ends[LIVE])
    for slot in taken_by(takers, seq):
        position = position_of(rows, slot, seq)
        if position < 0:
            continue
        k = wanted.k[slot]
        if position < k or is_early:
            touched = with_room_to_remember(touched, k)
            remember(touched, rows, slot, k)
        take_out(rows, slot, position)
        if is_early or (rows.held[slot] < k and rows.theta[slot] != KNOWS_ALL):
            touched.counts[SEARCHES] += 1
            rows, takers = fill(
                rows, takers, wanted, slot, messages, rings, idf, grid, space, how, work
            )
            tell(lists, cells, wanted, slot, rows.theta, how)
    return rows, takers, touched


@inner
def expire(moving, fixed, most, before, idf, grid, space, how):
    """What is too many, or not later than `before`, leaves the window, the oldest first."""
    rows, takers, messages, rings, touched = moving
    work = fixed[3]
    moment = np.empty(2, np.int64)
    began = now(moment)
    while messages.ends[OLDEST] < messages.ends[NEXT]:
        seq = messages.ends[OLDEST]
        m = seq & (len(messages.lon) - 1)
        if messages.live[m]:
            if messages.ends[LIVE] <= most and messages.time[m] > before:
                break
            rows, takers, touched = depart(
                (rows, takers, messages, rings, touched), fixed, seq, False, idf, grid, space, how
            )
        rings = forget_oldest(messages, rings)
    work.spent[EXPIRED] += now(moment) - began
    return rows, takers, messages, rings, touched


@njit(cache=True, nogil=True)
def publish_all(
    moving, fixed, replaced, until, at, times_of_messages, word_start, word, times, most, seconds,
    idf, grid, space, how,
):  # fmt: skip
    """Many messages, one after the other: (what moves, how many lists each has changed).

    First the message of the arrival `replaced` goes, if any, and after all it is `until`.
    """
    changed = np.zeros(len(at), np.int32)
    next_step(moving[4])
    if replaced >= 0:
        rows, takers, messages, rings, touched = moving
        rows, takers, touched = depart(moving, fixed, replaced, True, idf, grid, space, how)
        moving = (rows, takers, messages, rings, touched)
    for i in range(len(at) + 1):
        is_last = i == len(at)
        if i > 0 and not is_last:
            next_step(moving[4])
        time = until if is_last else times_of_messages[i]
        room = most if is_last else most - 1
        moving = expire(moving, fixed, room, time - seconds, idf, grid, space, how)
        if is_last:
            break
        begin, end = word_start[i], word_start[i + 1]
        moving = arrive(
            moving, fixed, at[i, 0], at[i, 1], time, word[begin:end], times[begin:end], idf, grid,
            space, how,
        )  # fmt: skip
        changed[i] = moving[4].ends[0]
    return moving, changed
