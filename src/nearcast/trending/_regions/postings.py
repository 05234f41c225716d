"""Who has said what where: runs of documents by cell, and by cell and term.

A run of a cell, or of a cell and a term, has `document << 32 | times`, in the order of arrival; the
mass of a run of a term is what its documents have together, in units. A document that is not at one
point is in runs of its own, WIDE, whatever the level.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf
from nearcast.space._kernels import region_meets
from nearcast.trending._regions.circles import (
    INSIDE,
    UNSURE,
    circle_at,
    cosine_near,
    place_in_circle,
)
from nearcast.trending._regions.documents import RECTS, TERMS, Archive
from nearcast.trending._regions.places import (
    ALL_TERMS,
    EVERYWHERE,
    MARGIN,
    WIDE,
    column,
    reaches,
)
from nearcast.trending._regions.rows import HELD, LEVEL, enter, is_in_bounds
from nearcast.trending._regions.runs import (
    COUNT,
    HIGH,
    MASS,
    NONE,
    START,
    append,
    drop_run,
    new_run,
    number_at,
    take_out,
)
from nearcast.trending._regions.table import cell_key, drop, put, run_of

MOST_RECTS = 8
_TIMES = (1 << HIGH) - 1


class Regions(NamedTuple):
    """The arrays of a `RegionColumn`."""

    kind: NDArray[np.uint8]
    shape: NDArray[np.float64]
    ring_start: NDArray[np.int64]
    polygon_start: NDArray[np.int64]
    vertices: NDArray[np.float64]


class Sums(NamedTuple):
    """Room to add up what all terms have: by term, 0 between uses; and which those are."""

    units: NDArray[np.int64]
    term: NDArray[np.int32]


class Terms(NamedTuple):
    """By term: its place in the document at hand, from 1, 0 where it is not; what it has, in units,
    in all documents together."""

    mark: NDArray[np.int32]
    mass: NDArray[np.int64]


@leaf
def worth(documents, number, base):
    """What one mention in a document has, in units."""
    return documents.weight[number] << (documents.epoch[number] - base)


@leaf
def load_rects(archive, number, rects):
    """Where a document is, written to `rects`: how many rectangles."""
    documents, runs = archive.documents, archive.runs
    run = np.int64(documents.run[number, RECTS])
    if run == NONE:
        rects[0, 0] = rects[0, 2] = documents.place[number, 0]
        rects[0, 1] = rects[0, 3] = documents.place[number, 1]
        return 1
    corners, start = runs.pool.view(np.float64), runs.head[run, START]
    count = runs.head[run, COUNT] // 4
    for i in range(count):
        for j in range(4):
            rects[i, j] = corners[start + 4 * i + j]
    return count


@leaf
def is_in_region(archive, number, regions, slot, is_earth, rects):
    """Is a document in a region?  `rects` is room for where it is."""
    count = load_rects(archive, number, rects)
    return region_meets(
        regions.kind, regions.shape, regions.ring_start, regions.polygon_start, regions.vertices,
        slot, is_earth, rects, np.int64(0), count,
    )  # fmt: skip


# ------------------------------------------------------------------ documents come and go


@inner
def add_to_level(archive, levels, level, number, base, by_term):
    """The archive with a document in the cell of a level."""
    documents = archive.documents
    x, y = documents.place[number, 0], documents.place[number, 1]
    size = levels.size[level]
    if not reaches(size, x, y):
        return archive
    return _add_to_cell(
        archive, column(x, size), column(y, size), levels.code[level], number, base, by_term
    )


@inner
def add_to_cells(archive, levels, number, base, by_term):
    """The archive with a document in its cells, of all levels.  O(terms x levels) expected."""
    if archive.documents.run[number, RECTS] != NONE:
        zero = np.int64(0)
        return _add_to_cell(archive, zero, zero, np.int64(WIDE), number, base, by_term)
    for level in range(levels.ends[0]):
        archive = add_to_level(archive, levels, level, number, base, by_term)
    return archive


@inner
def _add_to_cell(archive, x, y, code, number, base, by_term):
    entry = number << HIGH
    archive = _appended(archive, x, y, code, np.int64(ALL_TERMS), entry, np.int64(0))
    if by_term:
        one = worth(archive.documents, number, base)
        terms = np.int64(archive.documents.run[number, TERMS])
        for place in range(archive.runs.head[terms, COUNT]):
            said = number_at(archive.runs, terms, place)
            times = said & _TIMES
            archive = _appended(archive, x, y, code, said >> HIGH, entry | times, times * one)
    return archive


@inner
def _appended(archive, x, y, code, term, entry, units):
    runs, table = archive.runs, archive.table
    one, other = cell_key(x, y, code, term)
    run = run_of(table, one, other)
    if run == NONE:
        runs, run = new_run(runs)
        table = put(table, one, other, run)
    runs = append(runs, run, entry)
    runs.head[run, MASS] += units
    return Archive(archive.documents, runs, table)


@inner
def drop_from_cells(archive, levels, number, base, by_term):
    """The archive with a document in no cell.  O(terms x levels) expected."""
    documents = archive.documents
    zero = np.int64(0)
    if documents.run[number, RECTS] != NONE:
        return _drop_from_cell(archive, zero, zero, np.int64(WIDE), number, base, by_term)
    x, y = documents.place[number, 0], documents.place[number, 1]
    for level in range(levels.ends[0]):
        size = levels.size[level]
        if reaches(size, x, y):
            archive = _drop_from_cell(
                archive, column(x, size), column(y, size), levels.code[level], number, base, by_term
            )
    return archive


@inner
def _drop_from_cell(archive, x, y, code, number, base, by_term):
    archive = _taken_out(archive, x, y, code, np.int64(ALL_TERMS), number, np.int64(0))
    if by_term:
        one = worth(archive.documents, number, base)
        terms = np.int64(archive.documents.run[number, TERMS])
        for place in range(archive.runs.head[terms, COUNT]):
            said = number_at(archive.runs, terms, place)
            archive = _taken_out(archive, x, y, code, said >> HIGH, number, (said & _TIMES) * one)
    return archive


@inner
def _taken_out(archive, x, y, code, term, number, units):
    runs, table = archive.runs, archive.table
    one, other = cell_key(x, y, code, term)
    run = run_of(table, one, other)
    runs = take_out(runs, run, number)
    runs.head[run, MASS] -= units
    if runs.head[run, COUNT] == 0:
        drop(table, one, other)
        drop_run(runs, run)
    return Archive(archive.documents, runs, table)


@inner
def halve_masses(archive, epochs):
    """So many epochs have passed: units are larger.  O(runs)."""
    epochs = min(epochs, np.int64(62))
    for run in range(archive.runs.ends[0]):
        archive.runs.head[run, MASS] >>= epochs


# ------------------------------------------------------------------ what a region has


@leaf
def cells_of(levels, level, bounds, slot):
    """The first and last column and row of the cells that a region lies in."""
    if levels.code[level] == EVERYWHERE:
        return np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    size = levels.size[level]
    return (
        column(np.float64(bounds[slot, 0]) - MARGIN * size, size),
        column(np.float64(bounds[slot, 2]) + MARGIN * size, size),
        column(np.float64(bounds[slot, 1]) - MARGIN * size, size),
        column(np.float64(bounds[slot, 3]) + MARGIN * size, size),
    )


@leaf
def _circle_of(regions, slot, is_earth):
    """What `_lies_in` wants to know of a region, once for many documents."""
    circle = circle_at(regions, slot)
    return circle[0], circle[1], circle[2], cosine_near(is_earth, circle[1])


@leaf
def _lies_in(archive, number, rows, regions, slot, is_earth, circle, rects):
    """As `is_in_region`; most documents of the cells around are told by a few comparisons."""
    if archive.documents.run[number, RECTS] == NONE:
        x, y = archive.documents.place[number, 0], archive.documents.place[number, 1]
        if not is_in_bounds(slot, x, y, rows):
            return False
        inside = place_in_circle(circle[:3], x, y, circle[3])
        if inside != UNSURE:
            return inside == INSIDE
    return is_in_region(archive, number, regions, slot, is_earth, rects)


@leaf
def score_in_region(rows, slot, term, levels, archive, regions, is_earth, base, rects):
    """What a term has in a region, in units, from its documents.  O(those in the cells)."""
    level = rows.head[slot, LEVEL]
    west, east, south, north = cells_of(levels, level, rows.bounds, slot)
    circle, total = _circle_of(regions, slot, is_earth), np.int64(0)
    zero, code = np.int64(0), levels.code[level]
    for x in range(west, east + 1):
        for y in range(south, north + 1):
            one, other = cell_key(np.int64(x), np.int64(y), code, term)
            total += _score_in_run(archive, run_of(archive.table, one, other),
                                   rows, regions, slot, is_earth, circle, base, rects)  # fmt: skip
    one, other = cell_key(zero, zero, np.int64(WIDE), term)
    wide = run_of(archive.table, one, other)
    return total + _score_in_run(archive, wide, rows, regions, slot, is_earth, circle, base, rects)


@leaf
def _score_in_run(archive, run, rows, regions, slot, is_earth, circle, base, rects):
    total = np.int64(0)
    if run == NONE:
        return total
    for place in range(archive.runs.head[run, COUNT]):
        entry = number_at(archive.runs, run, place)
        if _lies_in(archive, entry >> HIGH, rows, regions, slot, is_earth, circle, rects):
            total += (entry & _TIMES) * worth(archive.documents, entry >> HIGH, base)
    return total


@leaf
def refill(rows, slot, levels, archive, regions, is_earth, base, sums, rects, spelling):
    """Make a row anew from the documents in its region.  O(documents of the cells, their terms)."""
    count = add_up(rows, slot, levels, archive, regions, is_earth, base, sums, rects)
    rows.head[slot, HELD] = 0
    rows.outside[slot] = 0
    for i in range(count):
        term = sums.term[i]
        enter(rows, slot, term, sums.units[term], spelling)
        sums.units[term] = 0


@leaf
def add_up(rows, slot, levels, archive, regions, is_earth, base, sums, rects):
    """What all terms have in a region, to `sums`, which the caller clears: how many there are."""
    level = rows.head[slot, LEVEL]
    west, east, south, north = cells_of(levels, level, rows.bounds, slot)
    circle, count = _circle_of(regions, slot, is_earth), np.int64(0)
    zero, code, everything = np.int64(0), levels.code[level], np.int64(ALL_TERMS)
    for x in range(west, east + 1):
        for y in range(south, north + 1):
            one, other = cell_key(np.int64(x), np.int64(y), code, everything)
            count = _add_up(archive, run_of(archive.table, one, other), rows,
                            regions, slot, is_earth, circle, base, sums, count, rects)  # fmt: skip
    one, other = cell_key(zero, zero, np.int64(WIDE), everything)
    return _add_up(archive, run_of(archive.table, one, other), rows,
                   regions, slot, is_earth, circle, base, sums, count, rects)  # fmt: skip


@leaf
def _add_up(archive, run, rows, regions, slot, is_earth, circle, base, sums, count, rects):
    """Add what the documents of a run that are in the region have: how many terms by now."""
    if run == NONE:
        return count
    documents, runs = archive.documents, archive.runs
    for place in range(runs.head[run, COUNT]):
        number = number_at(runs, run, place) >> HIGH
        if not _lies_in(archive, number, rows, regions, slot, is_earth, circle, rects):
            continue
        one = worth(documents, number, base)
        terms = documents.run[number, TERMS]
        begin = runs.head[terms, START]  # a run that was only ever added to has no turn in it
        for i in range(begin, begin + runs.head[terms, COUNT]):
            said = runs.pool[i]
            term = said >> HIGH
            if sums.units[term] == 0:
                sums.term[count] = term
                count += 1
            sums.units[term] += (said & _TIMES) * one
    return count
