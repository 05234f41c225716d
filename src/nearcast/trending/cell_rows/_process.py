"""Documents come and are forgotten, and the rows of the regions that they lie in follow.

A document that comes adds to its terms in each row that has them, in place. A term that is not in
the row can be in the list only if it has as much as the last term there. Three things tell that it
has less, each cheaper than the next one: what no term outside the row exceeds (`outside`) and what
the document adds; what all documents in the cells around say of it, which is the same for all rows;
and those documents themselves, counted one by one.
"""

import numpy as np
from numba import njit

from nearcast.inner import leaf, melting
from nearcast.prefetch import prefetch_row
from nearcast.space._kernels import region_meets
from nearcast.trending._cycles import UPDATING, WHOLE, begins, ends
from nearcast.trending._regions.circles import (
    INSIDE,
    UNSURE,
    circle_at,
    cosine_near,
    place_in_circle,
)
from nearcast.trending._regions.documents import RECTS, drop_document
from nearcast.trending._regions.homes import NO_LEVEL, homes_to_visit
from nearcast.trending._regions.postings import (
    MOST_RECTS,
    load_rects,
    refill,
    score_in_region,
)
from nearcast.trending._regions.remembered import (
    begin_step,
    changed_lists,
    has_room,
    remember,
    with_room,
)
from nearcast.trending._regions.rows import HELD, K, enter, is_before, is_in_bounds, least, rise
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
from nearcast.trending.cell_rows._neighbourhood import (
    UNKNOWN,
    bound_of,
    gather,
    no_neighbours,
    not_asked,
    score_among,
)

CANDIDATES, UPDATED, COMPUTED, REFILLED = 0, 1, 2, 3
PLACE, TERM, OUTSIDE, NEIGHBOURS, RECTANGLES = 0, 1, 2, 3, 4
"""How far a walk over rows is: the place in the list of rows; the term of the document that comes
next for the row, or NEXT_ROW; what terms outside the row had before; how many neighbours are
gathered; how many rectangles the document has."""

NEXT_ROW = -1
AHEAD = 12  # rows that are brought near while one is looked at
NOTHING, ROOM_TO_REMEMBER = -1, -2


@njit(cache=True, nogil=True)
def process(
    rows, slots, regions, is_earth, levels, homes, archive, terms, sums, remembered, spelling,
    columns, nows, clock, horizon, counts, changed, is_one_step,
):  # fmt: skip
    """Take documents one after the other; with times but no documents, only time passes.

    `terms.mark` is 0 for all terms, here and at the end. Returns the archive and what is remembered
    of the last step; `changed` has how many lists each step has changed. Where `is_one_step`, all
    documents are one step, and nothing is counted.
    """
    neighbours = no_neighbours(np.int64(256))
    for step in range(len(nows)):
        began = begins(counts)
        if step == 0 or not is_one_step:
            begin_step(remembered)
        comes = document_comes(columns, step, nows[step] - horizon)
        base = first_base(clock, nows[step], horizon)
        while True:
            archive, number, sign, base, _ = next_document(
                archive, rows, slots, levels, terms, columns, step, nows[step], horizon, clock,
                base, comes, True,
            )  # fmt: skip
            if number == NONE:
                break
            comes = comes and sign < 0
            remembered, neighbours = visit(
                sign, number, rows, regions, is_earth, levels, homes, archive, terms, sums,
                remembered, spelling, clock[BASE], counts, neighbours,
            )  # fmt: skip
            if sign < 0:
                drop_document(archive, number)
        if not is_one_step:
            changed[step] = changed_lists(remembered, rows)
        ends(counts, WHOLE, began)
    return archive, remembered


@njit(inline="always")
def visit(
    sign, number, rows, regions, is_earth, levels, homes, archive, terms, sums, remembered,
    spelling, base, counts, neighbours,
):  # fmt: skip
    """Every row whose region has the document: add what it says, or take it away."""
    said = said_by(archive, number, base)
    around = not_asked(len(said.term))
    mark_terms(terms, said, sign)
    rects, other_rects = np.empty((MOST_RECTS, 4)), np.empty((MOST_RECTS, 4))
    at = np.zeros(5, np.int64)
    at[RECTANGLES] = load_rects(archive, number, rects)
    is_wide = archive.documents.run[number, RECTS] != NONE
    runs = homes_to_visit(levels, homes, rects[0, 0], rects[0, 1], is_wide)
    level = np.int64(NO_LEVEL)
    for n in range(len(runs)):
        if runs[n, 1] != level:
            level = runs[n, 1]
            around.bound[:] = UNKNOWN
            around.first[:] = UNKNOWN
            at[NEIGHBOURS] = 0
        at[PLACE], at[TERM] = homes.runs.head[runs[n, 0], START], NEXT_ROW
        end = at[PLACE] + homes.runs.head[runs[n, 0], COUNT]
        counts[CANDIDATES] += end - at[PLACE]
        while at[PLACE] < end:
            wanted = update_rows(
                sign, at, end, level, homes.runs.pool, said, around, rows, regions, is_earth,
                levels, archive, terms, sums, remembered, spelling, base, counts, neighbours, rects,
                other_rects,
            )  # fmt: skip
            if wanted == ROOM_TO_REMEMBER:
                remembered = with_room(remembered, rows, homes.runs.pool[at[PLACE]])
            elif wanted >= 0:
                neighbours, at[NEIGHBOURS] = gather(
                    neighbours, at[NEIGHBOURS], said, around, wanted, levels, level, rects[0, 0],
                    rects[0, 1], archive, base,
                )  # fmt: skip
    unmark_terms(terms, said)
    return remembered, neighbours


@leaf
def update_rows(
    sign, at, end, level, pool, said, around, rows, regions, is_earth, levels, archive, terms, sums,
    remembered, spelling, base, counts, neighbours, rects, other_rects,
):  # fmt: skip
    """Go on with rows until something is wanted that takes memory; `at` has how far it is.

    Returns NOTHING at the end, ROOM_TO_REMEMBER, or the number of a term whose neighbours are
    wanted.
    """
    x, y = rects[0, 0], rects[0, 1]
    cosine = cosine_near(is_earth, y)
    place, i, before, hit = at[PLACE], at[TERM], at[OUTSIDE], counts[UPDATED]
    wanted = np.int64(NOTHING)
    most_said = np.int64(0)
    for n in range(len(said.term)):
        most_said = max(most_said, said.amount[n])
    began = begins(counts)
    while place < end:
        slot = pool[place]
        if i == NEXT_ROW:
            if place + AHEAD < end and (level < 0 or is_in_bounds(pool[place + AHEAD], x, y, rows)):
                bring_near(pool[place + AHEAD], rows, regions)
            if not has_document(
                slot, level, x, y, cosine, rows, regions, is_earth, rects, at[RECTANGLES]
            ):
                place += 1
                continue
            if not has_room(remembered, rows, slot):
                wanted = np.int64(ROOM_TO_REMEMBER)
                break
            began = begins(counts)
            i = np.int64(0)
            before = rows.outside[slot]
            hit += 1
            if sign < 0:
                fell = take_away(slot, said, rows, terms, remembered, spelling)
                if fell and may_lack(rows, slot, before):
                    counts[REFILLED] += 1
                    refill(
                        rows, slot, levels, archive, regions, is_earth, base, sums, other_rects,
                        spelling,
                    )  # fmt: skip
                i = len(said.term)
            else:
                add(hit, slot, said, rows, terms, remembered, spelling)
                if before > 0 and before + most_said < least(rows, slot):
                    rows.outside[slot] = before + most_said
                    i = len(said.term)
        last = least(rows, slot)
        while i < len(said.term):
            if said.seen[i] == hit:
                i += 1
                continue
            score = said.amount[i]
            if before > 0:
                most = before + score
                if most >= last and level >= 0:
                    if around.bound[i] == UNKNOWN:
                        around.bound[i] = bound_of(
                            np.int64(said.term[i]), levels, level, x, y, archive
                        )
                    most = min(most, around.bound[i])
                if most < last:
                    rows.outside[slot] = max(rows.outside[slot], most)
                    i += 1
                    continue
                if level < 0:
                    score = score_in_region(
                        rows, slot, np.int64(said.term[i]), levels, archive, regions, is_earth,
                        base, other_rects,
                    )  # fmt: skip
                elif around.bound[i] > score and around.first[i] == UNKNOWN:
                    wanted = i
                    break
                elif around.bound[i] > score:  # else nobody around has said it
                    score = score_among(
                        neighbours,
                        around,
                        i,
                        slot,
                        archive,
                        regions,
                        is_earth,
                        cosine,
                        other_rects,
                    )
                counts[COMPUTED] += 1
            if score >= last:
                remember(remembered, rows, slot)
            enter(rows, slot, said.term[i], score, spelling)
            last = least(rows, slot)
            i += 1
        ends(counts, UPDATING, began)
        if wanted != NOTHING:
            break
        i = np.int64(NEXT_ROW)
        place += 1
    at[PLACE], at[TERM], at[OUTSIDE], counts[UPDATED] = place, i, before, hit
    return wanted


@melting
def bring_near(slot, rows, regions):
    """Have the row of a subscription in the cache when its turn comes."""
    start = rows.start[slot]
    prefetch_row(rows.term, start)
    prefetch_row(rows.score, start)
    prefetch_row(rows.score, start + 8)
    prefetch_row(rows.head, slot)
    prefetch_row(regions.shape, slot)


@melting
def has_document(slot, level, x, y, cosine, rows, regions, is_earth, rects, count):
    """Is the document in the region of a row?  `level` is NO_LEVEL when it is not at one point."""
    if level < 0:
        if rows.head[slot, K] == 0:
            return False
    elif not is_in_bounds(slot, x, y, rows):
        return False
    else:
        inside = place_in_circle(circle_at(regions, slot), x, y, cosine)
        if inside != UNSURE:
            return inside == INSIDE
    return region_meets(
        regions.kind, regions.shape, regions.ring_start, regions.polygon_start, regions.vertices,
        slot, is_earth, rects, np.int64(0), count,
    )  # fmt: skip


@melting
def add(hit, slot, said, rows, terms, remembered, spelling):
    """Add what the document says to the terms that are in the row."""
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
                if place <= rows.head[slot, K] or rows.score[at + place] >= least(rows, slot):
                    remember(remembered, rows, slot)
                rise(rows, at, np.int64(place), spelling)
