"""The list of each subscription, with the score each term had when it was last said.

place  float64[S, 5]  LON, LAT; the spot X, Y, Z
head   int32[S, 6]    K, 0 for a vacant slot; LISTED terms; STAMP, the step in which the list was
                      remembered; LEAF, the cell; NEXT, BEFORE: others of the same cell, -1 for
                      none
term   int32[S, k]    best first
score  float64[S, k]  in weights of `documents`: the order of two terms does not change before
                      one of them is said again (Lemma 3)
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.trending._nearby import documents as columns_of
from nearcast.trending._nearby.documents import HELD, LOST, MASS, START, WEIGHT
from nearcast.trending._nearby.places import distance, way
from nearcast.trending._nearby.spelling import is_better
from nearcast.trending._nearby.touched import COMPUTED, LISTS, REFILLED, STEP, with_room
from nearcast.trending.sst._roads import has_roads, score_by_road

LON, LAT, X, Y, Z = range(5)
K, LISTED, STAMP, LEAF, NEXT, BEFORE = range(6)


class Lists(NamedTuple):
    """The arrays; see the module docstring."""

    place: NDArray[np.float64]
    head: NDArray[np.int32]
    term: NDArray[np.int32]
    score: NDArray[np.float64]


def no_lists() -> Lists:
    """The arrays of none."""
    return Lists(
        np.empty((0, 5), np.float64),
        np.zeros((0, 6), np.int32),
        np.empty((0, 1), np.int32),
        np.empty((0, 1), np.float64),
    )


@inner
def exact_score(lists, slot, term, documents, roads, touched, rules):
    """What the documents of a term give to a subscription (Eq. 2).  O(documents of the term).

    Off by a millionth where errors are allowed.
    """
    touched.counts[COMPUTED] += 1
    if has_roads(roads):
        return score_by_road(roads, slot, term, documents, rules.a)
    here = lists.place[slot]
    start, total = documents.lists[term, START], 0.0
    for p in range(start, start + documents.lists[term, HELD]):
        place = documents.place[documents.doc[p]]
        if rules.field_error > 0.0:
            far = way(
                place[columns_of.X] - here[X], place[columns_of.Y] - here[Y],
                place[columns_of.Z] - here[Z], rules.on_earth,
            )  # fmt: skip
        else:
            far = distance(
                here[LON], here[LAT], place[columns_of.LON], place[columns_of.LAT], rules.on_earth
            )
        total += documents.times[p] * place[WEIGHT] / (rules.a + far)
    return total


@inner
def last_score(lists, slot):
    """What a term must have to come into the list; 0 while there is room."""
    k, listed = lists.head[slot, K], lists.head[slot, LISTED]
    return lists.score[slot, k - 1] if listed == k else 0.0


@inner
def position_of(lists, slot, term):
    """Where a list has a term, -1 for nowhere."""
    for p in range(lists.head[slot, LISTED]):
        if lists.term[slot, p] == term:
            return p
    return -1


@inner
def remember(touched, lists, slot):
    """The list as it was before this step."""
    if lists.head[slot, STAMP] == touched.counts[STEP]:
        return touched
    lists.head[slot, STAMP] = touched.counts[STEP]
    listed = lists.head[slot, LISTED]
    touched = with_room(touched, 1, listed)
    n = touched.counts[LISTS]
    begin = touched.start[n]
    touched.slot[n] = slot
    touched.term[begin : begin + listed] = lists.term[slot, :listed]
    touched.start[n + 1] = begin + listed
    touched.counts[LISTS] = n + 1
    return touched


@inner
def put_term(lists, slot, term, score, spelling):
    """A term with its new score goes where it belongs, if that is in the list.  O(k)."""
    k, listed, p = lists.head[slot, K], lists.head[slot, LISTED], position_of(lists, slot, term)
    terms, scores = lists.term[slot], lists.score[slot]
    if p < 0:
        if listed == k:
            if not is_better(score, term, scores[k - 1], terms[k - 1], spelling):
                return
            listed -= 1
        p = listed
        lists.head[slot, LISTED] = listed + 1
    listed = lists.head[slot, LISTED]
    while p > 0 and is_better(score, term, scores[p - 1], terms[p - 1], spelling):
        terms[p], scores[p] = terms[p - 1], scores[p - 1]
        p -= 1
    while p < listed - 1 and is_better(scores[p + 1], terms[p + 1], score, term, spelling):
        terms[p], scores[p] = terms[p + 1], scores[p + 1]
        p += 1
    terms[p], scores[p] = term, score


@inner
def refill(lists, slot, documents, roads, touched, spelling, rules):
    """A list from the documents alone.  O(documents of frequent terms)."""
    touched = remember(touched, lists, slot)
    touched.counts[REFILLED] += 1
    lists.head[slot, LISTED] = 0
    for t in range(len(documents.lists)):
        most = (documents.sums[t, MASS] + documents.sums[t, LOST]) / rules.a
        if documents.lists[t, HELD] > 0 and most >= last_score(lists, slot):
            score = exact_score(lists, slot, t, documents, roads, touched, rules)
            put_term(lists, slot, t, score, spelling)
    return touched


@inner
def sort_decayed(lists, slot, scale):
    """All scores of a list as of now, sorted: what Lemma 3 saves.  O(k) where it was sorted."""
    terms, scores = lists.term[slot], lists.score[slot]
    for p in range(1, lists.head[slot, LISTED]):
        term, score = terms[p], scores[p]
        while p > 0 and scores[p - 1] * scale < score * scale:
            terms[p], scores[p] = terms[p - 1], scores[p - 1]
            p -= 1
        terms[p], scores[p] = term, score


@inner
def count_changed(touched, lists):
    """How many of the remembered lists are other ones now."""
    changed = 0
    for n in range(touched.counts[LISTS]):
        slot, begin, end = touched.slot[n], touched.start[n], touched.start[n + 1]
        same = lists.head[slot, LISTED] == end - begin
        for p in range(end - begin if same else 0):
            same &= lists.term[slot, p] == touched.term[begin + p]
        changed += not same
    return changed
