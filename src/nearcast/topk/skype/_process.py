"""A message arrives, another leaves: whose rows change?

*moving* are the arrays that may be others afterwards, because they grow: rows, takers, messages,
rings, touched. *fixed* are lists, cells, pyramid, work, subscriptions.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.topk._flat.arranged import nothing_arranged
from nearcast.topk._flat.clock import now
from nearcast.topk._flat.fill_order import arranged_next
from nearcast.topk._flat.subscriptions import HELD, START, STEP, THETA, K, score_of
from nearcast.topk._flat.touched import (
    AFFECTED,
    ARRIVING,
    CANDIDATES,
    EXPIRING,
    LISTS,
    POSTINGS,
    SEARCHES,
    next_step,
    position_of,
    remember,
    with_spare_lists,
)
from nearcast.topk._flat.window import (
    LIVE,
    NEXT,
    OLDEST,
    TIME,
    forget_oldest,
    into_window,
)
from nearcast.topk.skype._disseminate import (
    CIQ,
    IGPT,
    candidates_by_cell,
    candidates_by_merging,
    put,
    tell,
)
from nearcast.topk.skype._reevaluate import accept, refill
from nearcast.topk.skype._rows import KNOWS_ALL, take_out
from nearcast.topk.skype._takers import add_taker, taken_by, with_message

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

    flow      float64[2]  messages that have come, and gone, of late
    """

    flow: NDArray[np.float64]


def no_work() -> Work:
    """Nothing."""
    return Work(np.zeros(2))


@inner
def share_arriving(work, is_counted):
    """Section 6.3: of messages that come or go, the share that comes."""
    if is_counted:
        return 0.5
    share = (work.flow[ARRIVED] + 1.0) / (work.flow[ARRIVED] + work.flow[EXPIRED] + 2.0)
    return min(0.75, max(0.25, share))


@inner
def note_flow(work, which, live):
    """A message has come or gone; what was a window ago counts half.

    Until the first one goes the window only fills, which says nothing of later.
    """
    if which == ARRIVED and work.flow[EXPIRED] == 0.0:
        return
    work.flow[which] += 1.0
    if work.flow[ARRIVED] + work.flow[EXPIRED] > 100.0 + 2.0 * live:
        work.flow[ARRIVED] /= 2.0
        work.flow[EXPIRED] /= 2.0


@inner
def fill(subscriptions, rows, takers, slot, messages, rings, arranged, idf, grid, space, how, work):
    """Search the window for a subscription: (rows, takers)."""
    at = subscriptions.head[slot, START] * STEP
    old = rows.seq[at : at + subscriptions.head[slot, HELD]].copy()
    rows = refill(
        subscriptions, rows, slot, messages, rings, arranged, idf, grid, space, how,
        share_arriving(work, how.is_counted),
    )  # fmt: skip
    at = subscriptions.head[slot, START] * STEP
    for i in range(at, at + subscriptions.head[slot, HELD]):
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
    """Enter subscriptions, which have rows unless they are new: (rows, takers, lists, cells).

    New ones are in the order of `fill_order`.
    """
    rows, takers, messages, rings, _ = moving
    lists, cells, pyramid, work, subscriptions = fixed
    arranged = nothing_arranged()
    for n in range(len(slots)):
        slot = slots[n]
        if are_new:
            arranged = arranged_next(subscriptions, slots, n, rings, arranged)
            rows, takers = fill(
                subscriptions, rows, takers, slot, messages, rings, arranged, idf, grid, space, how,
                work,
            )  # fmt: skip
        lists, cells = put(lists, cells, pyramid, subscriptions, slot, how, space)
    return rows, takers, lists, cells


@inner
def candidates(
    lists, cells, pyramid, touched, subscriptions, seq, word, weight, lon, lat, space, how
):
    """Whom a message may concern."""
    if how.kind == CIQ:
        found, looks = candidates_by_merging(
            lists, pyramid, subscriptions, word, weight, lon, lat, space, how.levels
        )
    else:
        found, looks = candidates_by_cell(
            lists, cells, subscriptions, word, weight, lon, lat, space, how.kind == IGPT, seq
        )
    touched.counts[POSTINGS] += looks
    return found


@inner
def arrive(moving, fixed, lon, lat, time, word, times, idf, grid, space, how):
    """The newest message: into the window, and into the rows of those whom it concerns."""
    rows, takers, messages, rings, touched = moving
    lists, cells, pyramid, work, subscriptions = fixed
    moment = np.empty(2, np.int64)
    began = now(moment)
    seq = np.int32(messages.ends[NEXT])
    messages, rings, weight = into_window(messages, rings, lon, lat, time, word, times, idf, grid)
    takers = with_message(takers, messages)
    note_flow(work, ARRIVED, messages.ends[LIVE])
    arriving = share_arriving(work, how.is_counted)
    found = candidates(
        lists, cells, pyramid, touched, subscriptions, seq, word, weight, lon, lat, space, how
    )
    touched.counts[CANDIDATES] += len(found)
    for slot in found:
        score = score_of(subscriptions, slot, lon, lat, word, weight, space)
        if score < subscriptions.place[slot, THETA]:
            continue
        touched.counts[AFFECTED] += 1
        head = subscriptions.head[slot]
        k = head[K]
        if head[HELD] < k or rows.score[head[START] * STEP + k - 1] <= score:
            touched = with_spare_lists(touched, np.int64(1), np.int64(k))
            remember(touched, subscriptions, rows, slot)
        rows, is_told = accept(
            subscriptions, rows, slot, score, seq, messages, rings, how, arriving
        )
        takers = add_taker(takers, seq, slot)
        if is_told:
            tell(lists, cells, subscriptions, slot, how)
    touched.counts[ARRIVING] += now(moment) - began
    return rows, takers, messages, rings, touched


@inner
def depart(moving, fixed, seq, is_early, idf, grid, space, how):
    """A message leaves the rows it is in; rows that have run short are filled from the window.

    `is_early`: it is not the oldest, so that it may have kept out older ones that now count again.
    """
    rows, takers, messages, rings, touched = moving
    lists, cells, _, work, subscriptions = fixed
    messages.live[seq & (len(messages.live) - 1)] = False
    messages.ends[LIVE] -= 1
    note_flow(work, EXPIRED, messages.ends[LIVE])
    for slot in taken_by(takers, seq):
        head = subscriptions.head[slot]
        position = position_of(subscriptions, rows, slot, seq)
        if position < 0:
            continue
        k = head[K]
        if position < k or is_early:
            touched = with_spare_lists(touched, np.int64(1), np.int64(k))
            remember(touched, subscriptions, rows, slot)
        take_out(subscriptions, rows, slot, position)
        knows_all = subscriptions.place[slot, THETA] == KNOWS_ALL
        if is_early or (head[HELD] < k and not knows_all):
            touched.counts[SEARCHES] += 1
            rows, takers = fill(
                subscriptions, rows, takers, slot, messages, rings, nothing_arranged(), idf, grid,
                space, how, work,
            )  # fmt: skip
            tell(lists, cells, subscriptions, slot, how)
    return rows, takers, touched


@inner
def expire(moving, fixed, most, before, idf, grid, space, how):
    """What is too many, or not later than `before`, leaves the window, the oldest first."""
    rows, takers, messages, rings, touched = moving
    moment = np.empty(2, np.int64)
    began = now(moment)
    while messages.ends[OLDEST] < messages.ends[NEXT]:
        seq = messages.ends[OLDEST]
        m = seq & (len(messages.live) - 1)
        if messages.live[m]:
            if messages.ends[LIVE] <= most and messages.place[m, TIME] > before:
                break
            rows, takers, touched = depart(
                (rows, takers, messages, rings, touched), fixed, seq, np.bool_(False),
                idf, grid, space, how,
            )  # fmt: skip
        rings = forget_oldest(messages, rings)
    touched.counts[EXPIRING] += now(moment) - began
    return rows, takers, messages, rings, touched


@njit(cache=True, nogil=True)
def publish_all(
    moving, fixed, replaced, until, at, times_of_messages, word_start, word, times, most, seconds,
    idf, grid, space, how,
):  # fmt: skip
    """Many messages, one after the other: (what moves, how many lists each has changed).

    First the message of the arrival `replaced` goes, if that is not -1, and after all it is
    `until`.
    """
    changed = np.zeros(len(at), np.int32)
    next_step(moving[4])
    if replaced >= 0:
        rows, takers, messages, rings, touched = moving
        rows, takers, touched = depart(
            moving, fixed, replaced, np.bool_(True), idf, grid, space, how
        )
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
        changed[i] = moving[4].ends[LISTS]
    return moving, changed
