"""A message arrives, another leaves: whose rows change?"""

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.prefetch import prefetch_row
from nearcast.topk._flat.arranged import nothing_arranged
from nearcast.topk._flat.clock import now
from nearcast.topk._flat.subscriptions import (
    ALPHA,
    FIRST,
    HELD,
    SEEN,
    START,
    STEP,
    THETA,
    K,
    alike_of,
    score_at,
)
from nearcast.topk._flat.touched import (
    AFFECTED,
    ARRIVING,
    CANDIDATES,
    EXPIRING,
    LISTS,
    SEARCHES,
    next_step,
    position_of,
    remember,
    with_spare_lists,
)
from nearcast.topk._flat.window import (
    LAT,
    LIVE,
    LON,
    NEXT,
    OLDEST,
    TIME,
    forget_oldest,
    into_window,
    read_words,
)
from nearcast.topk.word_lists._fill import fill_row
from nearcast.topk.word_lists._postings import ROUNDING, tell_threshold
from nearcast.topk.word_lists._rows import ask_for_row, enter, most_entries, take_out, with_spare
from nearcast.topk.word_lists._scan import concerned

SOON, SOONER = 12, 6  # candidates ahead whose heads, whose terms and rows are asked for


@inner
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


@inner
def arrive(state, lon, lat, time, word, times, idf, grid, space, largest):
    """The newest message: into the window, and into the rows of those whom it concerns."""
    subscriptions, rows, postings, messages, rings, touched = state
    seq = messages.ends[NEXT]
    messages, rings, weight = into_window(messages, rings, lon, lat, time, word, times, idf, grid)
    found, nears = concerned(postings, word, weight, lon, lat, space, largest)
    rows, touched = spare_for(rows, touched, subscriptions, found)
    postings = admit(
        subscriptions, rows, postings, touched, found, nears, np.int32(seq), lon, lat, word, weight,
        space,
    )  # fmt: skip
    return subscriptions, rows, postings, messages, rings, touched


@inner
def admit(subscriptions, rows, postings, touched, found, nears, seq, lon, lat, word, weight, space):
    """Into the rows of those among the found whose threshold the message reaches."""
    touched.counts[CANDIDATES] += len(found)
    scores = np.empty(len(found))
    taking = 0
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
        place = subscriptions.place[slot]
        alike = alike_of(subscriptions, slot, word, weight)
        at_most = place[ALPHA] * nears[n] + (1.0 - place[ALPHA]) * alike + ROUNDING
        if at_most < place[THETA]:
            continue  # which spares most of them the way along the surface
        score = score_at(place, alike, lon, lat, space)
        if score >= place[THETA]:
            ask_for_row(rows.score, head)
            ask_for_row(rows.seq, head)
            found[taking], scores[taking] = slot, score
            taking += 1
    touched.counts[AFFECTED] += taking
    for n in range(taking):
        slot, score = found[n], scores[n]
        head = subscriptions.head[slot]
        k = head[K]
        if head[HELD] < k or rows.score[head[START] * STEP + k - 1] <= score:
            remember(touched, subscriptions, rows, slot)
        if enter(subscriptions, rows, slot, k, score, seq):
            postings = tell_threshold(subscriptions, postings, slot, space)
    return postings


@inner
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
    found, _ = concerned(postings, word, weight, lon, lat, space, largest)
    rows, touched = spare_for(rows, touched, subscriptions, found)
    postings = dismiss(
        subscriptions, rows, postings, messages, rings, touched, found, np.int32(seq), is_early,
        idf, grid, space,
    )  # fmt: skip
    return subscriptions, rows, postings, messages, rings, touched


@inner
def dismiss(
    subscriptions, rows, postings, messages, rings, touched, found, seq, is_early, idf, grid, space
):
    """Out of the rows of those among the found that have the message."""
    touched.counts[CANDIDATES] += len(found)
    leaving = np.int32(-2 - seq)  # another mark than that of its arrival
    positions = np.empty(len(found), np.int32)
    having = 0
    for n in range(len(found)):
        if n + SOONER < len(found):
            ask_for_row(rows.seq, subscriptions.head[found[n + SOONER]])
        slot = found[n]
        head = subscriptions.head[slot]
        if head[SEEN] == leaving:
            continue
        head[SEEN] = leaving
        position = position_of(subscriptions, rows, slot, seq)
        if position >= 0:
            ask_for_row(rows.score, head)
            found[having], positions[having] = slot, position
            having += 1
    for n in range(having):
        slot, position = found[n], positions[n]
        head = subscriptions.head[slot]
        if position < head[K] or is_early:
            remember(touched, subscriptions, rows, slot)
        take_out(subscriptions, rows, slot, position)
        if is_early or (head[HELD] < head[K] and subscriptions.place[slot, THETA] > 0.0):
            touched.counts[SEARCHES] += 1
            fill_row(
                subscriptions, rows, slot, messages, rings, nothing_arranged(), idf, grid, space
            )
            postings = tell_threshold(subscriptions, postings, slot, space)
    return postings


@inner
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
                seq, np.bool_(False), idf, grid, space, largest,
            )  # fmt: skip
        rings = forget_oldest(messages, rings)
    return subscriptions, rows, postings, messages, rings, touched


@njit(cache=True, nogil=True)
def publish_all(
    state, replaced, at, times_of_messages, before, word_start, word, times, most, is_one_step,
    idf, grid, space, largest,
):  # fmt: skip
    """Many messages, one after the other: (what of the state may be other arrays now, how many
    lists each has changed).

    First the message of the arrival `replaced` goes, if that is not -1. Message i finds none in
    the window whose time is not later than before[i], and the last of `before` is for the end.
    `is_one_step`: what lists were is remembered from before all messages, and each is told how many
    lists have changed since then.
    """
    subscriptions, rows, postings, messages, rings, touched = state
    changed = np.zeros(len(at), np.int32)
    next_step(touched)
    if replaced >= 0:
        subscriptions, rows, postings, messages, rings, touched = depart(
            (subscriptions, rows, postings, messages, rings, touched),
            replaced, np.bool_(True), idf, grid, space, largest,
        )  # fmt: skip
    moment = np.empty(2, np.int64)
    for i in range(len(at) + 1):
        is_last = i == len(at)
        if i > 0 and not is_last and not is_one_step:
            next_step(touched)
        began = now(moment)
        subscriptions, rows, postings, messages, rings, touched = expire(
            (subscriptions, rows, postings, messages, rings, touched),
            most if is_last else most - 1, before[i], idf, grid, space, largest,
        )  # fmt: skip
        expired = now(moment)
        touched.counts[EXPIRING] += expired - began
        if is_last:
            break
        begin, end = word_start[i], word_start[i + 1]
        subscriptions, rows, postings, messages, rings, touched = arrive(
            (subscriptions, rows, postings, messages, rings, touched),
            at[i, 0], at[i, 1], times_of_messages[i], word[begin:end], times[begin:end], idf, grid,
            space, largest,
        )  # fmt: skip
        touched.counts[ARRIVING] += now(moment) - expired
        changed[i] = touched.ends[LISTS]
    return (rows, postings, messages, rings, touched), changed
