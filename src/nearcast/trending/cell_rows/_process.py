"""Documents come and are forgotten, and the rows of the regions that they lie in follow.

A document that comes adds to its terms in each row that has them, in place. A term that is not in
the row can be in the list only if it has as much as the last term there. Three things tell that it
has less, each cheaper than the next one: what no term outside the row exceeds (`outside`) and what
the document adds; what all documents in the cells around say of it, which is the same for all rows;
and those documents themselves, counted one by one.
"""

import numpy as np
from numba import njit

from nearcast.space._kernels import region_meets
from nearcast.trending._regions.documents import (
    RECTS,
    add_document,
    drop_document,
    earliest,
)
from nearcast.trending._regions.inner import inner
from nearcast.trending._regions.places import (
    EVERYWHERE,
    HOME,
    HOMES_ACROSS,
    MARGIN,
    column,
    reaches,
)
from nearcast.trending._regions.postings import (
    MOST_RECTS,
    add_to_cells,
    drop_from_cells,
    halve_masses,
    load_rects,
    refill,
    score_in_region,
)
from nearcast.trending._regions.remembered import begin_step, changed_lists, remember
from nearcast.trending._regions.rows import (
    HELD,
    K,
    enter,
    halve,
    is_before,
    least,
    rise,
    sink,
)
from nearcast.trending._regions.runs import COUNT, NONE, START
from nearcast.trending._regions.table import cell_key, run_of
from nearcast.trending.cell_rows._neighbourhood import (
    UNKNOWN,
    bound_of,
    gather,
    no_neighbours,
    score_among,
    terms_of,
)

CANDIDATES, UPDATED, COMPUTED, REFILLED = 0, 1, 2, 3
BASE, STARTED = 0, 1
NO_LEVEL = -1


@njit(cache=True, nogil=True)
def process(
    rows, slots, regions, is_earth, levels, homes, archive, terms, sums, remembered, spelling,
    columns, nows, clock, horizon, counts, changed,
):  # fmt: skip
    """Take documents one after the other; with times but no documents, only time passes.

    `terms.mark` is 0 for all terms, here and at the end. Returns the archive and what is remembered
    of the last step; `changed` has how many lists each step has changed.
    """
    neighbours = no_neighbours(np.int64(256))
    rects, other_rects = np.empty((MOST_RECTS, 4)), np.empty((MOST_RECTS, 4))
    for step in range(len(nows)):
        begin_step(remembered)
        oldest = nows[step] - horizon
        number = earliest(archive.documents)
        while number != NONE and archive.documents.moment[number] <= oldest:
            archive = drop_from_cells(archive, levels, number, clock[BASE], True)
            remembered, neighbours = visit(
                np.int64(-1), number, rows, slots, regions, is_earth, levels, homes, archive, terms,
                sums, remembered, spelling, clock[BASE], counts, neighbours, rects, other_rects,
            )  # fmt: skip
            drop_document(archive, number)
            number = earliest(archive.documents)
        pass_epochs(rows, slots, archive, terms, clock, np.int64(np.floor(nows[step])) - horizon)
        if (
            step < len(columns.moment)
            and columns.moment[step] > oldest
            and columns.term_start[step] < columns.term_start[step + 1]
        ):
            archive, number = add_document(archive, columns, step)
            archive = add_to_cells(archive, levels, number, clock[BASE], True)
            remembered, neighbours = visit(
                np.int64(1), number, rows, slots, regions, is_earth, levels, homes, archive, terms,
                sums, remembered, spelling, clock[BASE], counts, neighbours, rects, other_rects,
            )  # fmt: skip
        changed[step] = changed_lists(remembered, rows)
    return archive, remembered


@inner
def pass_epochs(rows, slots, archive, terms, clock, base):
    """Count in the units of a later base, once whoever is older has left."""
    epochs = base - clock[BASE]
    if clock[STARTED] and epochs > 0:
        halve(rows, slots, epochs)
        halve_masses(archive, epochs)
        for term in range(len(terms.mass)):
            terms.mass[term] >>= min(epochs, np.int64(62))
    if epochs > 0 or not clock[STARTED]:
        clock[BASE] = base
        clock[STARTED] = 1


@inner
def visit(
    sign, number, rows, slots, regions, is_earth, levels, homes, archive, terms, sums, remembered,
    spelling, base, counts, neighbours, rects, other_rects,
):  # fmt: skip
    """Every row whose region has the document: add what it says, or take it away."""
    said = terms_of(archive, number, base)
    for i in range(len(said.term)):
        terms.mark[said.term[i]] = i + 1
        terms.mass[said.term[i]] += sign * said.amount[i]
    count = load_rects(archive, number, rects)
    used = np.int64(0)
    if archive.documents.run[number, RECTS] != NONE:
        for slot in range(slots):
            if rows.head[slot, K] > 0 and region_meets(
                regions.kind, regions.shape, regions.ring_start, regions.polygon_start,
                regions.vertices, slot, is_earth, rects, np.int64(0), count,
            ):  # fmt: skip
                remembered, neighbours, used = update(
                    sign, np.int64(slot), np.int64(NO_LEVEL), 0.0, 0.0, said, rows, regions,
                    is_earth, levels, archive, terms, sums, remembered, spelling, base, counts,
                    neighbours, used, other_rects,
                )  # fmt: skip
        counts[CANDIDATES] += slots
    x, y = rects[0, 0], rects[0, 1]
    for level in range(levels.ends[0]):
        size = levels.size[level]
        if (
            levels.held[level] == 0
            or archive.documents.run[number, RECTS] != NONE
            or not reaches(size, x, y)
        ):
            continue
        said.bound[:] = UNKNOWN
        said.first[:] = UNKNOWN
        used = np.int64(0)
        west, east, south, north = homes_around(levels, level, x, y)
        for home_x in range(west, east + 1):
            for home_y in range(south, north + 1):
                one, other = cell_key(
                    np.int64(home_x), np.int64(home_y), levels.code[level] + HOME, np.int64(0)
                )
                run = run_of(homes.table, one, other)
                if run == NONE:
                    continue
                begin = homes.runs.head[run, START]
                end = begin + homes.runs.head[run, COUNT]
                counts[CANDIDATES] += end - begin
                for place in range(begin, end):
                    slot = homes.runs.pool[place]
                    if (
                        x >= rows.bounds[slot, 0]
                        and x <= rows.bounds[slot, 2]
                        and y >= rows.bounds[slot, 1]
                        and y <= rows.bounds[slot, 3]
                        and region_meets(
                            regions.kind, regions.shape, regions.ring_start, regions.polygon_start,
                            regions.vertices, slot, is_earth, rects, np.int64(0), count,
                        )
                    ):  # fmt: skip
                        remembered, neighbours, used = update(
                            sign, slot, np.int64(level), x, y, said, rows, regions, is_earth,
                            levels, archive, terms, sums, remembered, spelling, base, counts,
                            neighbours, used, other_rects,
                        )  # fmt: skip
    for i in range(len(said.term)):
        terms.mark[said.term[i]] = 0
    return remembered, neighbours


@inner
def homes_around(levels, level, x, y):
    """The columns and rows of homes of regions that can have the point."""
    if levels.code[level] == EVERYWHERE:
        return np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    size = levels.size[level] / HOMES_ACROSS
    return (
        column(x - levels.reach[level, 0] - MARGIN * size, size), column(x, size),
        column(y - levels.reach[level, 1] - MARGIN * size, size), column(y, size),
    )  # fmt: skip


@inner
def update(
    sign, slot, level, x, y, said, rows, regions, is_earth, levels, archive, terms, sums,
    remembered, spelling, base, counts, neighbours, used, rects,
):  # fmt: skip
    """One row whose region has the document."""
    hit = counts[UPDATED]
    counts[UPDATED] += 1
    if sign < 0:
        remembered, fell = take_away(slot, said, rows, terms, remembered, spelling)
        if fell and rows.outside[slot] > 0 and rows.outside[slot] >= least(rows, slot):
            remembered = remember(remembered, rows, slot)
            refill(rows, slot, levels, archive, regions, is_earth, base, sums, rects, spelling)
            counts[REFILLED] += 1
        return remembered, neighbours, used
    remembered = add(hit, slot, said, rows, terms, remembered, spelling)
    before = rows.outside[slot]  # what terms outside had before the document
    last = least(rows, slot)
    for i in range(len(said.term)):
        if said.seen[i] == hit:
            continue
        score = said.amount[i]
        if before > 0:
            most = before + said.amount[i]
            if most >= last and level >= 0:
                if said.bound[i] == UNKNOWN:
                    said.bound[i] = bound_of(np.int64(said.term[i]), levels, level, x, y, archive)
                most = min(most, said.bound[i])
            if most < last:
                rows.outside[slot] = max(rows.outside[slot], most)
                continue
            counts[COMPUTED] += 1
            if level < 0:
                score = score_in_region(
                    rows, slot, np.int64(said.term[i]), levels, archive, regions, is_earth, base,
                    rects,
                )  # fmt: skip
            else:
                if said.first[i] == UNKNOWN:
                    neighbours, used = gather(
                        neighbours, used, said, i, levels, level, x, y, archive, base
                    )
                score = score_among(neighbours, said, i, slot, archive, regions, is_earth, rects)
        if score >= last:
            remembered = remember(remembered, rows, slot)
        enter(rows, slot, said.term[i], score, spelling)
        last = least(rows, slot)
    return remembered, neighbours, used


@inner
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
                    remembered = remember(remembered, rows, slot)
                rise(rows, at, np.int64(place), spelling)
    return remembered


@inner
def take_away(slot, said, rows, terms, remembered, spelling):
    """Take what the document said away from the terms that are in the row: is any there?"""
    at, head = rows.start[slot], rows.head[slot]
    held = np.int64(head[HELD])
    fell = False
    for place in range(held - 1, -1, -1):  # who sinks goes where all is done
        mark = terms.mark[rows.term[at + place]]
        if mark > 0:
            if not fell:
                remembered = remember(remembered, rows, slot)
                fell = True
            rows.score[at + place] -= said.amount[mark - 1]
            sink(rows, at, np.int64(place), held, spelling)
    while held > 0 and rows.score[at + held - 1] == 0:
        held -= 1
    head[HELD] = held
    return remembered, fell
