"""The documents that still count, and for each term those that say it.

    place   float64[D, 7]  LON, LAT; the spot X, Y, Z; WEIGHT, 2 ** (moment - LANDMARK); MOMENT
    uses    int32[D]       postings of the document; -1 - (the next vacant one) for a vacant place
    lists   int64[V, 3]    by term: postings START:START + HELD, in the order of arrival; ROOM, a
                           power of two, or 0
    sums    float64[V, 3]  by term: MASS, the weights of its postings; LOST, of those forgotten, or
                           as much as the term may have had when it was forgotten itself; NEWEST,
                           the moment of its latest document
    mark    int32[V]       0 but while a document is looked at: how often it says the term
    doc     int32[P]       posting: the document
    times   int32[P]       posting: how often it says the term
    free    int64[32]      the first free list of 2**i postings, -1 for none; `doc` leads on
    ends    int64[4]       USED postings, with free lists; VACANT document; DOCUMENTS, LIVE ones
    clock   float64[2]     LANDMARK, a whole moment; STALE, the moment at which terms must be looked
                           through again

Weights are relative to the landmark, which moves when it is long past, so that they neither
overflow nor vanish; sums of weights need no decay, and the order of two terms does not change
before one of them is said again (Lemma 3).

The definition forgets what is 1,000 half-lives old. That matters only where a term has nothing
newer than that, so only terms that were not said for 900 are looked at one by one.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.trending._nearby.places import spot
from nearcast.trending.nearby import LONGEST_MEMORY

LON, LAT, X, Y, Z, WEIGHT, MOMENT = range(7)
START, HELD, ROOM = range(3)
MASS, LOST, NEWEST = range(3)
USED, VACANT, DOCUMENTS, LIVE = range(4)
LANDMARK, STALE = range(2)
BEHIND = 500.0  # half-lives from the landmark to now when it moves
LONG_PAST = 564.0
DELICATE = 900.0  # half-lives after which the oldest documents of a term may matter
NEVER = np.inf


class Documents(NamedTuple):
    """The arrays; see the module docstring."""

    place: NDArray[np.float64]
    uses: NDArray[np.int32]
    lists: NDArray[np.int64]
    sums: NDArray[np.float64]
    mark: NDArray[np.int32]
    doc: NDArray[np.int32]
    times: NDArray[np.int32]
    free: NDArray[np.int64]
    ends: NDArray[np.int64]
    clock: NDArray[np.float64]


def no_documents() -> Documents:
    """The arrays of none."""
    return Documents(
        np.empty((16, 7), np.float64),
        np.empty(16, np.int32),
        np.zeros((0, 3), np.int64),
        np.zeros((0, 3), np.float64),
        np.zeros(0, np.int32),
        np.empty(64, np.int32),
        np.empty(64, np.int32),
        np.full(32, -1, np.int64),
        np.array([0, -1, 0, 0], np.int64),
        np.array([0.0, NEVER]),
    )


@inner
def larger(array, size):
    """A copy with room for so many rows."""
    copy = np.empty((size, *array.shape[1:]), array.dtype)
    copy[: len(array)] = array
    return copy


# ---------------------------------------------------------------- arriving


@inner
def class_of(count):
    """The smallest i with 2**i >= count."""
    i = 0
    while (1 << i) < count:
        i += 1
    return i


@inner
def release_list(documents, at, room):
    """A list is free for others."""
    i = class_of(room)
    documents.doc[at] = documents.free[i]
    documents.free[i] = at


@inner
def drop_posting(documents, p):
    """A document has a posting less; without any it is gone."""
    d = documents.doc[p]
    documents.uses[d] -= 1
    if documents.uses[d] == 0:
        documents.uses[d] = -1 - documents.ends[VACANT]
        documents.ends[VACANT] = d
        documents.ends[LIVE] -= 1


@inner
def forget_oldest(documents, term, forget):
    """Of a term's documents the oldest go while they are within the share that may be forgotten.

    Eq. 6 and 14 of the paper, in weights: `forget` holds the error and the largest distance.
    """
    start, held = documents.lists[term, START], documents.lists[term, HELD]
    sums = documents.sums[term]
    allowed = forget * (sums[MASS] + sums[LOST])
    gone = 0
    while gone < held - 1:
        p = start + gone
        weight = documents.times[p] * documents.place[documents.doc[p], WEIGHT]
        if sums[LOST] + weight > allowed:
            break
        sums[LOST] += weight
        sums[MASS] -= weight
        drop_posting(documents, p)
        gone += 1
    for p in range(start + gone, start + held):
        documents.doc[p - gone] = documents.doc[p]
        documents.times[p - gone] = documents.times[p]
    documents.lists[term, HELD] = held - gone


@inner
def with_place(documents, term, forget):
    """Room for one more posting of the term.  O(1), amortised."""
    lists = documents.lists[term]
    if lists[HELD] < lists[ROOM]:
        return documents
    if forget > 0.0 and lists[HELD] >= 16:
        forget_oldest(documents, term, forget)
        if lists[HELD] <= lists[ROOM] - lists[ROOM] // 8:
            return documents
    i = class_of(lists[HELD] + 1)
    at = documents.free[i]
    if at >= 0:
        documents.free[i] = documents.doc[at]
    else:
        at = documents.ends[USED]
        documents.ends[USED] = at + (1 << i)
        if documents.ends[USED] > len(documents.doc):
            size = documents.ends[USED] + documents.ends[USED] // 4
            documents = Documents(
                documents.place, documents.uses, documents.lists, documents.sums, documents.mark,
                larger(documents.doc, size), larger(documents.times, size),
                documents.free, documents.ends, documents.clock,
            )  # fmt: skip
    start = lists[START]
    for k in range(lists[HELD]):
        documents.doc[at + k] = documents.doc[start + k]
        documents.times[at + k] = documents.times[start + k]
    if lists[ROOM] > 0:
        release_list(documents, start, lists[ROOM])
    lists[START], lists[ROOM] = at, 1 << i
    return documents


@inner
def add_document(documents, lon, lat, moment, term, times, rules):
    """The document is there, and its weight."""
    weight = 2.0 ** (moment - documents.clock[LANDMARK])
    if len(term) == 0:
        return documents, weight
    d = documents.ends[VACANT]
    if d >= 0:
        documents.ends[VACANT] = -1 - documents.uses[d]
    else:
        d = documents.ends[DOCUMENTS]
        documents.ends[DOCUMENTS] = d + 1
        if d == len(documents.uses):
            documents = Documents(
                larger(documents.place, 2 * d), larger(documents.uses, 2 * d), documents.lists,
                documents.sums, documents.mark, documents.doc, documents.times,
                documents.free, documents.ends, documents.clock,
            )  # fmt: skip
    documents.ends[LIVE] += 1
    documents.uses[d] = len(term)
    place = documents.place[d]
    place[LON], place[LAT], place[WEIGHT], place[MOMENT] = lon, lat, weight, moment
    place[X], place[Y], place[Z] = spot(lon, lat, rules.on_earth)
    for j in range(len(term)):
        t = term[j]
        documents = with_place(documents, t, rules.forget)
        lists, sums = documents.lists[t], documents.sums[t]
        p = lists[START] + lists[HELD]
        documents.doc[p], documents.times[p] = d, times[j]
        sums[NEWEST] = max(sums[NEWEST], moment) if lists[HELD] > 0 else moment
        sums[MASS] += times[j] * weight
        lists[HELD] += 1
        documents.clock[STALE] = min(documents.clock[STALE], sums[NEWEST] + DELICATE)
    return documents, weight


# ---------------------------------------------------------------- forgetting


@inner
def expire(documents, now):
    """What is too old goes: the terms that have lost documents.

    O(1), but O(terms) when a term was not said for 900 half-lives.
    """
    lost = 0
    if now < documents.clock[STALE]:
        return np.empty(0, np.int64)
    expired = np.empty(len(documents.lists), np.int64)
    stale = NEVER
    for t in range(len(documents.lists)):
        held = documents.lists[t, HELD]
        if held == 0:
            continue
        sums = documents.sums[t]
        if sums[NEWEST] > now - DELICATE:
            stale = min(stale, sums[NEWEST] + DELICATE)
            continue
        start, kept, oldest = documents.lists[t, START], 0, NEVER
        sums[MASS] = 0.0
        for p in range(start, start + held):
            place = documents.place[documents.doc[p]]
            if place[MOMENT] > now - LONGEST_MEMORY:
                oldest = min(oldest, place[MOMENT])
                sums[MASS] += documents.times[p] * place[WEIGHT]
                documents.doc[start + kept] = documents.doc[p]
                documents.times[start + kept] = documents.times[p]
                kept += 1
            else:
                drop_posting(documents, p)
        if kept < held:
            expired[lost] = t
            lost += 1
        documents.lists[t, HELD] = kept
        if kept == 0:
            forget_term(documents, t)
        stale = min(stale, oldest + LONGEST_MEMORY)
    documents.clock[STALE] = stale
    return expired[:lost]


@inner
def forget_term(documents, t):
    """The term was never said."""
    start, held = documents.lists[t, START], documents.lists[t, HELD]
    for p in range(start, start + held):
        drop_posting(documents, p)
    if documents.lists[t, ROOM] > 0:
        release_list(documents, start, documents.lists[t, ROOM])
    documents.lists[t] = 0
    documents.sums[t] = 0.0


@inner
def move_landmark(documents, now):
    """How much smaller all sums of weights are from now on: 1.0 nearly always."""
    landmark = np.floor(now) - BEHIND
    if documents.ends[LIVE] == 0:
        documents.clock[LANDMARK] = landmark
        documents.sums[:, LOST] = 0.0
        return 1.0
    if now - documents.clock[LANDMARK] <= LONG_PAST:
        return 1.0
    scale = 2.0 ** (documents.clock[LANDMARK] - landmark)
    documents.clock[LANDMARK] = landmark
    for d in range(documents.ends[DOCUMENTS]):
        documents.place[d, WEIGHT] *= scale
    documents.sums[:, : LOST + 1] *= scale
    return scale


@njit(cache=True, nogil=True)
def forget_terms(documents, is_kept, least):
    """Terms with no more weight than this go, but those that are kept, and those are told."""
    for t in range(len(is_kept)):
        if not is_kept[t] and documents.lists[t, HELD] > 0:
            if documents.sums[t, MASS] + documents.sums[t, LOST] > least:
                is_kept[t] = True
            else:
                forget_term(documents, t)
