"""Which subscriptions have their home where?"""

from typing import NamedTuple

import numpy as np
from numba import njit

from nearcast.inner import inner, leaf
from nearcast.trending._regions.documents import (
    LIVE,
    RECTS,
    TERMS,
    Archive,
)
from nearcast.trending._regions.places import (
    EVERYWHERE,
    HOME,
    HOMES_ACROSS,
    MARGIN,
    column,
    reaches,
)
from nearcast.trending._regions.postings import MOST_RECTS, add_to_cells, add_to_level, refill
from nearcast.trending._regions.rows import LEVEL
from nearcast.trending._regions.runs import (
    COUNT,
    HIGH,
    NONE,
    Runs,
    append,
    drop_run,
    new_run,
    no_runs,
    number_at,
    swap_out,
)
from nearcast.trending._regions.table import Table, cell_key, drop, no_keys, put, run_of

NO_LEVEL = -1
_TIMES = (1 << HIGH) - 1


class Homes(NamedTuple):
    """Runs of subscriptions by home, in any order."""

    runs: Runs
    table: Table


def no_homes() -> Homes:
    """None yet."""
    return Homes(no_runs(), no_keys())


@inner
def _home_key(rows, levels, slot):
    level = rows.head[slot, LEVEL]
    if levels.code[level] == EVERYWHERE:
        return cell_key(np.int64(0), np.int64(0), levels.code[level] + HOME, np.int64(0))
    size = levels.size[level] / HOMES_ACROSS
    return cell_key(
        column(np.float64(rows.bounds[slot, 0]), size),
        column(np.float64(rows.bounds[slot, 1]), size),
        levels.code[level] + HOME,
        np.int64(0),
    )


@njit(cache=True, nogil=True)
def settle(homes, rows, levels, slots):
    """The homes with these subscriptions in theirs.  Amortised O(slots) expected."""
    runs, table = homes.runs, homes.table
    for slot in slots:
        one, other = _home_key(rows, levels, slot)
        run = run_of(table, one, other)
        if run == NONE:
            runs, run = new_run(runs)
            table = put(table, one, other, run)
        runs = append(runs, run, np.int64(slot))
    return Homes(runs, table)


@njit(cache=True, nogil=True)
def unsettle(homes, rows, levels, slot):
    """Take a subscription out of its home.  O(those in it)."""
    one, other = _home_key(rows, levels, slot)
    run = run_of(homes.table, one, other)
    swap_out(homes.runs, run, np.int64(slot))
    if homes.runs.head[run, COUNT] == 0:
        drop(homes.table, one, other)
        drop_run(homes.runs, run)


@njit(cache=True, nogil=True)
def fill(rows, slots, levels, archive, regions, is_earth, base, sums, spelling):
    """Make rows from the documents that are there.  O(documents of their cells)."""
    rects = np.empty((MOST_RECTS, 4))
    for slot in slots:
        refill(
            rows, np.int64(slot), levels, archive, regions, is_earth, base, sums, rects, spelling
        )


@njit(cache=True, nogil=True)
def open_level(archive, levels, level, base, by_term):
    """The archive with all documents in the cells of a level that is new."""
    documents = archive.documents
    for place in range(documents.ends[LIVE]):
        number = np.int64(documents.queue[place])
        if documents.run[number, RECTS] == NONE:
            archive = add_to_level(archive, levels, level, number, base, by_term)
    return archive


@njit(cache=True, nogil=True)
def renumbered(archive, empty, order, levels, new_term, base, by_term):
    """An archive of the same documents, whose terms have new numbers; earliest first.

    `empty` has the runs and the table to begin with.
    """
    documents, runs = archive.documents, empty.runs
    for number in order:
        old = np.int64(documents.run[number, TERMS])
        runs, own = new_run(runs)
        for place in range(archive.runs.head[old, COUNT]):
            said = number_at(archive.runs, old, place)
            entry = np.int64(new_term[said >> HIGH]) << HIGH | (said & _TIMES)
            runs = append(runs, own, entry)
        documents.run[number, TERMS] = own
        old = np.int64(documents.run[number, RECTS])
        if old != NONE:
            runs, own = new_run(runs)
            for place in range(archive.runs.head[old, COUNT]):
                runs = append(runs, own, number_at(archive.runs, old, place))
            documents.run[number, RECTS] = own
    result = Archive(documents, runs, empty.table)
    for number in order:
        result = add_to_cells(result, levels, np.int64(number), base, by_term)
    return result


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
