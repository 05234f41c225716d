"""Subscriptions come and go, documents come and are forgotten: what Python calls.

Which piece of the paper is used is a number: BASELINE computes each term of a document for every
subscription and sorts every list anew; TAILORED (Algorithm 1) leaves lists sorted; GROUPED asks the
groups of documents for a bound before it computes; IN_CELLS (Algorithms 3 and 4) asks for whole
cells of subscriptions first.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.trending._cycles import UPDATING, WHOLE, begins, ends
from nearcast.trending._nearby.documents import LANDMARK, add_document, expire, move_landmark
from nearcast.trending._nearby.places import spot
from nearcast.trending._nearby.spelling import SAME
from nearcast.trending._nearby.touched import CANDIDATES, CHANGED, COMPUTED, next_step
from nearcast.trending.nearby import LONGEST_MEMORY
from nearcast.trending.sst._groups import MASS, drop_groups, follow_documents
from nearcast.trending.sst._lists import (
    LAT,
    LEAF,
    LISTED,
    LON,
    NEXT,
    STAMP,
    K,
    X,
    Y,
    Z,
    count_changed,
    exact_score,
    last_score,
    position_of,
    put_term,
    refill,
    remember,
    sort_decayed,
)
from nearcast.trending.sst._quadtree import (
    CHILD,
    COUNT,
    FIRST,
    LABEL,
    insert,
    relabel,
    relabel_changed,
    remove,
)
from nearcast.trending.sst._roads import has_roads, put_document
from nearcast.trending.sst._said import gather, most_in_box, sum_near

BASELINE, TAILORED, GROUPED, IN_CELLS = range(4)
DEEP = 512  # cells that wait while others are visited


class Pieces(NamedTuple):
    """Which of them is `used`, how wide groups of documents and how full cells may be."""

    used: int
    group_width: float
    cell_capacity: int


@njit(cache=True, nogil=True)
def subscribe_all(state, slot, k, at, snapped, pieces, spelling, rules):
    """New subscriptions, with lists from the documents that are there: the state."""
    documents, lists, groups, tree, roads, touched = state
    next_step(touched)
    for n in range(len(slot)):
        s = np.int64(slot[n])
        place = lists.place[s]
        place[LON], place[LAT] = at[n, 0], at[n, 1]
        place[X], place[Y], place[Z] = spot(at[n, 0], at[n, 1], rules.on_earth)
        if has_roads(roads):
            roads.subscriber[s] = snapped[n]
        head = lists.head[s]
        head[K], head[LISTED], head[STAMP] = k[n], 0, -1
        touched = refill(lists, s, documents, roads, touched, spelling, rules)
        if pieces.used == IN_CELLS:
            tree = insert(tree, lists, s, pieces.cell_capacity)
    return documents, lists, groups, tree, roads, touched


@njit(cache=True, nogil=True)
def unsubscribe_one(lists, tree, slot, pieces):
    """A subscription goes."""
    if pieces.used == IN_CELLS:
        remove(tree, lists, slot, pieces.cell_capacity)
    lists.head[slot, K] = 0


@inner
def consider(lists, said, slot, term, documents, roads, touched, pieces, box, spelling, rules):
    """A term that was said, for one subscription.  O(documents of the term), if it may matter."""
    touched.counts[CANDIDATES] += 1
    last, place = last_score(lists, slot), lists.place[slot]
    is_listed = position_of(lists, slot, term) >= 0
    if pieces.used >= GROUPED and last > 0.0 and not is_listed:
        for axis in range(3):
            box[axis] = box[3 + axis] = place[X + axis]
        if most_in_box(said.group, box, last, rules.a) < last * (1.0 - SAME):
            return touched
    if rules.field_error > 0.0 and not has_roads(roads):
        touched.counts[COMPUTED] += 1
        score = sum_near(said.near, place[X], place[Y], place[Z], rules.a, rules.on_earth)
    else:
        score = exact_score(lists, slot, term, documents, roads, touched, rules)
    if score >= last * (1.0 - SAME) or is_listed:
        began = begins(touched.counts)
        touched = remember(touched, lists, slot)
        put_term(lists, slot, term, score, spelling)
        ends(touched.counts, UPDATING, began)
    return touched


@inner
def visit_cells(
    lists, said, tree, term, documents, roads, touched, pieces, box, spelling, rules
):  # fmt: skip
    """Algorithm 4: every cell that has a list into which the term may come (Theorem 3)."""
    stack = np.empty(DEEP, np.int64)
    stack[0], top = 0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        label = tree.box[node, LABEL] * (1.0 - SAME)
        if tree.link[node, COUNT] == 0 or (
            label > 0.0 and most_in_box(said.group, tree.box[node], label, rules.a) < label
        ):
            continue
        child = np.int64(tree.link[node, CHILD])
        if child >= 0:
            for quarter in range(4):
                stack[top + quarter] = child + quarter
            top += 4
            continue
        slot = np.int64(tree.link[node, FIRST])
        while slot >= 0:
            touched = consider(
                lists, said, slot, term, documents, roads, touched, pieces, box, spelling, rules
            )
            slot = np.int64(lists.head[slot, NEXT])
        began = begins(touched.counts)
        relabel_changed(tree, lists, node)
        ends(touched.counts, UPDATING, began)
    return touched


@inner
def pass_time(state, now, pieces, spelling, rules):
    """What is too old is forgotten, and the landmark moves when it is long past.  The state."""
    documents, lists, groups, tree, roads, touched = state
    expired = expire(documents, now)
    if len(expired) > 0:
        for t in expired:
            documents.mark[t] = -1
            drop_groups(groups, t)
        for slot in range(len(lists.head)):
            is_hit = False
            for p in range(lists.head[slot, LISTED] if lists.head[slot, K] > 0 else 0):
                is_hit |= documents.mark[lists.term[slot, p]] < 0
            if is_hit:
                touched = refill(lists, slot, documents, roads, touched, spelling, rules)
                if pieces.used == IN_CELLS:
                    relabel(tree, lists, np.int64(lists.head[slot, LEAF]))
        for t in expired:
            documents.mark[t] = 0
    scale = move_landmark(documents, now)
    if scale != 1.0:
        for slot in range(len(lists.head)):
            lists.score[slot, : lists.head[slot, LISTED]] *= scale
        groups.box[:, MASS] *= scale
        tree.box[:, LABEL] *= scale
    return documents, lists, groups, tree, roads, touched


@inner
def arrive(state, lon, lat, snapped, moment, now, term, times, pieces, spelling, rules):
    """A document, term by term.  The state."""
    documents, lists, groups, tree, roads, touched = state
    documents, _ = add_document(documents, lon, lat, moment, term, times, rules)
    if has_roads(roads) and len(term) > 0:
        roads = put_document(roads, documents, term[0], snapped)
    box = np.empty(6)
    for t in term:
        if pieces.used >= GROUPED:
            groups = follow_documents(groups, t, documents, pieces.group_width)
        said = gather(t, documents, groups, pieces.used >= GROUPED)
        if pieces.used == IN_CELLS:
            touched = visit_cells(
                lists, said, tree, t, documents, roads, touched, pieces, box, spelling, rules
            )
            continue
        for slot in range(len(lists.head)):
            if lists.head[slot, K] > 0:
                touched = consider(
                    lists,
                    said,
                    np.int64(slot),
                    t,
                    documents,
                    roads,
                    touched,
                    pieces,
                    box,
                    spelling,
                    rules,
                )
                if pieces.used == BASELINE:
                    began = begins(touched.counts)
                    sort_decayed(lists, slot, 2.0 ** (documents.clock[LANDMARK] - now))
                    ends(touched.counts, UPDATING, began)
    return documents, lists, groups, tree, roads, touched


@njit(cache=True, nogil=True)
def publish_all(
    state, moment, now, at, snapped, term_start, term, times, until, is_one_step, pieces, spelling,
    rules,
):  # fmt: skip
    """Documents one after the other; without any it is `until`: (the state, how many lists each
    has changed). Where `is_one_step`, all documents are one step, and nothing is counted."""
    documents, lists, groups, tree, roads, touched = state
    changed = np.zeros(len(moment), np.int32)
    next_step(touched)
    for i in range(len(moment)):
        began = begins(touched.counts)
        if i > 0 and not is_one_step:
            next_step(touched)
        documents, lists, groups, tree, roads, touched = pass_time(
            (documents, lists, groups, tree, roads, touched), now[i], pieces, spelling, rules
        )
        begin, end = term_start[i], term_start[i + 1]
        if moment[i] <= now[i] - LONGEST_MEMORY:
            end = begin  # so late that it was forgotten before it came
        documents, lists, groups, tree, roads, touched = arrive(
            (documents, lists, groups, tree, roads, touched), at[i, 0], at[i, 1],
            snapped[i if has_roads(roads) else 0], moment[i], now[i], term[begin:end],
            times[begin:end], pieces, spelling, rules,
        )  # fmt: skip
        if not is_one_step:
            changed[i] = count_changed(touched, lists)
            touched.counts[CHANGED] += changed[i]
        ends(touched.counts, WHOLE, began)
    if len(moment) == 0:
        documents, lists, groups, tree, roads, touched = pass_time(
            (documents, lists, groups, tree, roads, touched), until, pieces, spelling, rules
        )
    return (documents, lists, groups, tree, roads, touched), changed
