"""Documents come and are forgotten, and the rows of the regions that they lie in follow.

A document that comes adds to its terms in each row that has them, in place. A term that is not in
the row can be in the list only if it has as much as the last term there. Three things tell that it
has less, each cheaper than the next one: what no term outside the row exceeds (`outside`) and what
the document adds; what all documents in the cells around say of it, which is the same for all rows;
and those documents themselves, counted one by one.
"""

import numpy as np
from numba import njit

from nearcast.prefetch import prefetch_row
from nearcast.space._kernels import region_meets
from nearcast.trending._regions.documents import (
    RECTS,
    add_document,
    drop_document,
    earliest,
)
from nearcast.trending._regions.inner import inner, leaf, melting
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
from nearcast.trending._regions.remembered import (
    begin_step,
    changed_lists,
    has_room,
    remember,
    with_room,
)
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
PLACE, ROW, OUTSIDE, NEIGHBOURS, RECTANGLES = 0, 1, 2, 3, 4
"""How far a walk over rows is: the place in the list of rows; the term of the document that comes
next for the row, or NEXT_ROW; what terms outside the row had before; how many neighbours are
gathered; how many rectangles the document has."""

NEXT_ROW = -1
AHEAD = 8  # rows that are brought near while one is looked at
NOTHING, ROOM_TO_REMEMBER = -1, -2


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
    for step in range(len(nows)):
        begin_step(remembered)
        oldest = nows[step] - horizon
        comes = (
            step < len(columns.moment)
            and columns.moment[step] > oldest
            and columns.term_start[step] < columns.term_start[step + 1]
        )
        while True:
            number = earliest(archive.documents)
            sign = np.int64(-1)
            if number != NONE and archive.documents.moment[number] <= oldest:
                archive = drop_from_cells(archive, levels, number, clock[BASE], True)
            else:
                base = np.int64(np.floor(nows[step])) - horizon
                pass_epochs(rows, slots, archive, terms, clock, base)
                if not comes:
                    break
                comes = False
                sign = np.int64(1)
                archive, number = add_document(archive, columns, step)
                archive = add_to_cells(archive, levels, number, clock[BASE], True)
            remembered, neighbours = visit(
                sign, number, rows, regions, is_earth, levels, homes, archive, terms, sums,
                remembered, spelling, clock[BASE], counts, neighbours,
            )  # fmt: skip
            if sign < 0:
                drop_document(archive, number)
        changed[step] = changed_lists(remembered, rows)
    return archive, remembered


@leaf
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


@njit(inline="always")
def visit(
    sign, number, rows, regions, is_earth, levels, homes, archive, terms, sums, remembered,
    spelling, base, counts, neighbours,
):  # fmt: skip
    """Every row whose region has the document: add what it says, or take it away."""
    said = terms_of(archive, number, base)
    for i in range(len(said.term)):
        terms.mark[said.term[i]] = i + 1
        terms.mass[said.term[i]] += sign * said.amount[i]
    rects, other_rects = np.empty((MOST_RECTS, 4)), np.empty((MOST_RECTS, 4))
    at = np.zeros(5, np.int64)
    at[RECTANGLES] = load_rects(archive, number, rects)
    is_wide = archive.documents.run[number, RECTS] != NONE
    runs = homes_to_visit(levels, homes, rects[0, 0], rects[0, 1], is_wide)
    level = np.int64(NO_LEVEL)
    for n in range(len(runs)):
        if runs[n, 1] != level:
            level = runs[n, 1]
            said.bound[:] = UNKNOWN
            said.first[:] = UNKNOWN
            at[NEIGHBOURS] = 0
        at[PLACE], at[ROW] = homes.runs.head[runs[n, 0], START], NEXT_ROW
        end = at[PLACE] + homes.runs.head[runs[n, 0], COUNT]
        counts[CANDIDATES] += end - at[PLACE]
        while at[PLACE] < end:
            wanted = update_rows(
                sign, at, end, level, homes.runs.pool, said, rows, regions, is_earth, levels,
                archive, terms, sums, remembered, spelling, base, counts, neighbours, rects,
                other_rects,
            )  # fmt: skip
            if wanted == ROOM_TO_REMEMBER:
                remembered = with_room(remembered, rows, homes.runs.pool[at[PLACE]])
            elif wanted >= 0:
                neighbours, at[NEIGHBOURS] = gather(
                    neighbours, at[NEIGHBOURS], said, wanted, levels, level, rects[0, 0],
                    rects[0, 1], archive, base,
                )  # fmt: skip
    for i in range(len(said.term)):
        terms.mark[said.term[i]] = 0
    return remembered, neighbours


@inner
def homes_to_visit(levels, homes, x, y, is_wide):
    """The runs of homes whose regions can have a document, and their levels.

    All of them, with no level, for one that is not at one point.
    """
    found = np.empty((64, 2), np.int64)
    count = 0
    if is_wide:
        found = np.empty((homes.table.ends[0], 2), np.int64)
        for place in range(len(homes.table.run)):
            if homes.table.run[place] != NONE:
                found[count, 0] = homes.table.run[place]
                found[count, 1] = NO_LEVEL
                count += 1
        return found
    for level in range(levels.ends[0]):
        if levels.held[level] == 0 or not reaches(levels.size[level], x, y):
            continue
        west, east, south, north = homes_around(levels, level, x, y)
        for home_x in range(west, east + 1):
            for home_y in range(south, north + 1):
                one, other = cell_key(
                    np.int64(home_x), np.int64(home_y), levels.code[level] + HOME, np.int64(0)
                )
                run = run_of(homes.table, one, other)
                if run == NONE:
                    continue
                if count == len(found):
                    larger = np.empty((2 * count, 2), np.int64)
                    larger[:count] = found
                    found = larger
                found[count, 0] = run
                found[count, 1] = level
                count += 1
    return found[:count]


@leaf
def homes_around(levels, level, x, y):
    """The columns and rows of homes of regions that can have the point."""
    if levels.code[level] == EVERYWHERE:
        return np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    size = levels.size[level] / HOMES_ACROSS
    return (
        column(x - levels.reach[level, 0] - MARGIN * size, size), column(x, size),
        column(y - levels.reach[level, 1] - MARGIN * size, size), column(y, size),
    )  # fmt: skip


@leaf
def update_rows(
    sign, at, end, level, pool, said, rows, regions, is_earth, levels, archive, terms, sums,
    remembered, spelling, base, counts, neighbours, rects, other_rects,
):  # fmt: skip
    """Go on with rows until something is wanted that takes memory; `at` has how far it is.

    Returns NOTHING at the end, ROOM_TO_REMEMBER, or the number of a term whose neighbours are
    wanted.
    """
    x, y = rects[0, 0], rects[0, 1]
    while at[PLACE] < end:
        slot = pool[at[PLACE]]
        if at[ROW] == NEXT_ROW:
            if at[PLACE] + AHEAD < end:
                ahead = rows.start[pool[at[PLACE] + AHEAD]]
                prefetch_row(rows.term, ahead)
                prefetch_row(rows.score, ahead)
                prefetch_row(rows.score, ahead + 8)
                prefetch_row(rows.head, pool[at[PLACE] + AHEAD])
                prefetch_row(regions.shape, pool[at[PLACE] + AHEAD])
            if not has_document(slot, level, x, y, rows, regions, is_earth, rects, at[RECTANGLES]):
                at[PLACE] += 1
                continue
            if not has_room(remembered, rows, slot):
                return np.int64(ROOM_TO_REMEMBER)
            at[ROW] = 0
            at[OUTSIDE] = rows.outside[slot]
            counts[UPDATED] += 1
            if sign < 0:
                if take_away(slot, said, rows, terms, remembered, spelling):
                    counts[REFILLED] += 1
                    refill(
                        rows, slot, levels, archive, regions, is_earth, base, sums, other_rects,
                        spelling,
                    )  # fmt: skip
                at[ROW] = len(said.term)
            else:
                add(counts[UPDATED], slot, said, rows, terms, remembered, spelling)
        last = least(rows, slot)
        while at[ROW] < len(said.term):
            i = at[ROW]
            if said.seen[i] == counts[UPDATED]:
                at[ROW] += 1
                continue
            score = said.amount[i]
            if at[OUTSIDE] > 0:
                most = at[OUTSIDE] + score
                if most >= last and level >= 0:
                    if said.bound[i] == UNKNOWN:
                        said.bound[i] = bound_of(
                            np.int64(said.term[i]), levels, level, x, y, archive
                        )
                    most = min(most, said.bound[i])
                if most < last:
                    rows.outside[slot] = max(rows.outside[slot], most)
                    at[ROW] += 1
                    continue
                if level < 0:
                    score = score_in_region(
                        rows, slot, np.int64(said.term[i]), levels, archive, regions, is_earth,
                        base, other_rects,
                    )  # fmt: skip
                elif said.first[i] == UNKNOWN:
                    return i
                else:
                    score = score_among(
                        neighbours, said, i, slot, archive, regions, is_earth, other_rects
                    )
                counts[COMPUTED] += 1
            if score >= last:
                remember(remembered, rows, slot)
            enter(rows, slot, said.term[i], score, spelling)
            last = least(rows, slot)
            at[ROW] += 1
        at[ROW] = NEXT_ROW
        at[PLACE] += 1
    return np.int64(NOTHING)


@melting
def has_document(slot, level, x, y, rows, regions, is_earth, rects, count):
    """Is the document in the region of a row?  `level` is NO_LEVEL when it is not at one point."""
    if level < 0:
        if rows.head[slot, K] == 0:
            return False
    elif (
        x < rows.bounds[slot, 0]
        or x > rows.bounds[slot, 2]
        or y < rows.bounds[slot, 1]
        or y > rows.bounds[slot, 3]
    ):
        return False
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


@melting
def take_away(slot, said, rows, terms, remembered, spelling):
    """Take what the document said away from the terms that are in the row: must it be refilled?"""
    at = rows.start[slot]
    held = np.int64(rows.head[slot, HELD])
    fell = False
    for place in range(held - 1, -1, -1):  # who sinks goes where all is done
        mark = terms.mark[rows.term[at + place]]
        if mark > 0:
            if not fell:
                remember(remembered, rows, slot)
                fell = True
            rows.score[at + place] -= said.amount[mark - 1]
            sink(rows, at, np.int64(place), held, spelling)
    while held > 0 and rows.score[at + held - 1] == 0:
        held -= 1
    rows.head[slot, HELD] = held
    return fell and rows.outside[slot] > 0 and rows.outside[slot] >= least(rows, slot)
