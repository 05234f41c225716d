"""Documents come and are forgotten: section 4.1 and 4.3 of the paper, for each region by itself.

Both methods keep, for each region, what all its terms have. `TP` (Algorithm 8) leaves the scores of
the list as they are when time passes, since all of them fall alike (Lemma 4), and adds what the
document says (Lemma 5); `DS` (Algorithm 7) looks all of them up again for each term, and makes the
order anew.
"""

import numpy as np
from numba import njit

from nearcast.inner import leaf, melting
from nearcast.space._kernels import region_meets
from nearcast.trending._cycles import UPDATING, WHOLE, begins, ends
from nearcast.trending._regions.documents import RECTS, drop_document
from nearcast.trending._regions.homes import homes_to_visit
from nearcast.trending._regions.postings import (
    MOST_RECTS,
    add_up,
    load_rects,
    refill,
)
from nearcast.trending._regions.remembered import (
    begin_step,
    changed_lists,
    has_room,
    remember,
    with_room,
)
from nearcast.trending._regions.rows import HELD, enter, is_before, least, rise
from nearcast.trending._regions.runs import COUNT, NONE, START
from nearcast.trending._regions.said import (
    BASE,
    mark_terms,
    may_lack,
    said_by,
    take_away,
    unmark_terms,
)
from nearcast.trending._regions.steps import document_comes, first_base, next_document
from nearcast.trending.term_tables._scores import change, halve_scores, score_of
from nearcast.trending.term_tables._scores import with_room as scores_with_room

CANDIDATES, UPDATED, COMPUTED, REFILLED = 0, 1, 2, 3
DIRECT, INDEXED = 0, 1


@njit(cache=True, nogil=True)
def process(
    method, rows, slots, regions, is_earth, levels, homes, archive, scores, terms, sums, remembered,
    spelling, columns, nows, clock, horizon, counts, changed, is_one_step,
):  # fmt: skip
    """Take documents one after the other; with times but no documents, only time passes.

    Returns the archive, the scores and what is remembered of the last step; `changed` has how many
    lists each step has changed. Where `is_one_step`, all documents are one step, and nothing is
    counted.
    """
    rects, other_rects = np.empty((MOST_RECTS, 4)), np.empty((MOST_RECTS, 4))
    for step in range(len(nows)):
        began = begins(counts)
        if step == 0 or not is_one_step:
            begin_step(remembered)
        comes = document_comes(columns, step, nows[step] - horizon)
        base = first_base(clock, nows[step], horizon)
        while True:
            archive, number, sign, base, epochs = next_document(
                archive, rows, slots, levels, terms, columns, step, nows[step], horizon, clock,
                base, comes, False,
            )  # fmt: skip
            if epochs > 0:
                halve_scores(scores, epochs)
            if number == NONE:
                break
            comes = comes and sign < 0
            said = said_by(archive, number, clock[BASE])
            count = load_rects(archive, number, rects)
            mark_terms(terms, said, sign)
            runs = homes_to_visit(
                levels, homes, rects[0, 0], rects[0, 1],
                archive.documents.run[number, RECTS] != NONE,
            )  # fmt: skip
            for n in range(len(runs)):
                place = homes.runs.head[runs[n, 0], START]
                end = place + homes.runs.head[runs[n, 0], COUNT]
                counts[CANDIDATES] += end - place
                scores = scores_with_room(scores, (end - place) * len(said.term))
                while place < end:
                    place = update_rows(
                        method, sign, place, end, homes.runs.pool, said, rows, regions, is_earth,
                        levels, archive, scores, terms, sums, remembered, spelling, clock[BASE],
                        counts, rects, count, other_rects,
                    )  # fmt: skip
                    if place < end:
                        remembered = with_room(remembered, rows, homes.runs.pool[place])
            unmark_terms(terms, said)
            if sign < 0:
                drop_document(archive, number)
        if not is_one_step:
            changed[step] = changed_lists(remembered, rows)
        ends(counts, WHOLE, began)
    return archive, scores, remembered


@leaf
def update_rows(
    method, sign, place, end, pool, said, rows, regions, is_earth, levels, archive, scores, terms,
    sums, remembered, spelling, base, counts, rects, count, other_rects,
):  # fmt: skip
    """Go on with rows until there is no room to remember the next one: where that is."""
    while place < end:
        slot = pool[place]
        if not region_meets(
            regions.kind, regions.shape, regions.ring_start, regions.polygon_start,
            regions.vertices, slot, is_earth, rects, np.int64(0), count,
        ):  # fmt: skip
            place += 1
            continue
        if not has_room(remembered, rows, slot):
            return place
        began = begins(counts)
        counts[UPDATED] += 1
        if sign > 0:
            if method == DIRECT:
                add_directly(slot, said, rows, scores, remembered, spelling)
            else:
                add_by_index(counts[UPDATED], slot, said, rows, scores, terms, remembered, spelling)
        else:
            for i in range(len(said.term)):
                change(scores, slot, np.int64(said.term[i]), -said.amount[i])
            fell = take_away(slot, said, rows, terms, remembered, spelling)
            if fell and may_lack(rows, slot, rows.outside[slot]):
                counts[REFILLED] += 1
                refill(
                    rows, slot, levels, archive, regions, is_earth, base, sums, other_rects,
                    spelling,
                )  # fmt: skip
        ends(counts, UPDATING, began)
        place += 1
    return place


@melting
def add_directly(slot, said, rows, scores, remembered, spelling):
    """Algorithm 7: for each term all scores of the list are looked up, and sorted."""
    remember(remembered, rows, slot)
    at = rows.start[slot]
    for i in range(len(said.term)):
        score = change(scores, slot, np.int64(said.term[i]), said.amount[i])
        is_listed = False
        for place in range(rows.head[slot, HELD]):
            is_listed |= rows.term[at + place] == said.term[i]
        if not is_listed:
            enter(rows, slot, said.term[i], score, spelling)
        for place in range(rows.head[slot, HELD]):
            rows.score[at + place] = score_of(scores, slot, np.int64(rows.term[at + place]))
        for place in range(1, rows.head[slot, HELD]):
            rise(rows, at, np.int64(place), spelling)


@melting
def add_by_index(hit, slot, said, rows, scores, terms, remembered, spelling):
    """Algorithm 8: add to the terms of the list, and see whether others come into it."""
    at = rows.start[slot]
    for place in range(rows.head[slot, HELD]):
        mark = terms.mark[rows.term[at + place]]
        if mark > 0:
            rows.score[at + place] += said.amount[mark - 1]
            said.seen[mark - 1] = hit
            if place > 0 and is_before(
                rows.score[at + place], rows.term[at + place],
                rows.score[at + place - 1], rows.term[at + place - 1], spelling,
            ):  # fmt: skip
                remember(remembered, rows, slot)
                rise(rows, at, np.int64(place), spelling)
    for i in range(len(said.term)):
        score = change(scores, slot, np.int64(said.term[i]), said.amount[i])
        if said.seen[i] != hit:
            if score >= least(rows, slot):
                remember(remembered, rows, slot)
            enter(rows, slot, said.term[i], score, spelling)


@njit(cache=True, nogil=True)
def count_regions(
    sign, rows, slots, regions, is_earth, levels, archive, scores, sums, base
):  # fmt: skip
    """The scores with, or without, what all terms have in the regions of some subscriptions."""
    rects = np.empty((MOST_RECTS, 4))
    for slot in slots:
        count = add_up(rows, np.int64(slot), levels, archive, regions, is_earth, base, sums, rects)
        scores = scores_with_room(scores, count)
        for i in range(count):
            term = np.int64(sums.term[i])
            change(scores, np.int64(slot), term, sign * sums.units[term])
            sums.units[term] = 0
    return scores
