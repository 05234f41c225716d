"""The arrays of an IQ-tree, how they change, and how a message goes through them.

nodes       int64[N, 2]   cells that exist (see `_quad._cells`); what one holds is its table, below
keys        int32[T]      the lists (see `_quad._lists`) that cells have, -1 where there is none
references  int64[T]      the run of each, EMPTY where there is none
used        int64[2]      rows of nodes in use, slots of keys and references in use

A cell with lists has a hash table of its own: 2^bits slots of `keys`, at most half of them taken,
probed one after the other. It is start // 4 << 33 | lists << 5 | bits, 0 where a cell never had a
list: a message asks an empty cell nothing, and all it asks a small one lies in a cache line or two.
A table that outgrows its place moves to the end; what it leaves is less than what it takes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._quad._cells import (
    CHILDREN,
    CONTENT,
    DEPTH,
    cells_of_box,
    find_row,
    make_row,
    quarter,
    root_alone,
    rows_in_box,
)
from nearcast.boolean._quad._lists import drop_entry, is_time_to_divide
from nearcast.boolean._records import EMPTY, run_count, run_room, run_start
from nearcast.boolean._run_pool import GARBAGE, append_record
from nearcast.boolean._verify import grown
from nearcast.inner import inner
from nearcast.prefetch import prefetch_row

NODES, SLOTS = 0, 1  # cells of `used`

SMALLEST_BITS = 2
# The keys of a larger table are asked for before they are looked at.
NEAR_BITS = 4
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio


class Cells(NamedTuple):
    """The arrays; see the module docstring."""

    nodes: NDArray[np.int64]
    keys: NDArray[np.int32]
    references: NDArray[np.int64]
    used: NDArray[np.int64]


def empty_cells() -> Cells:
    """A root without lists."""
    return Cells(
        root_alone(), np.empty(16, np.int32), np.empty(16, np.int64), np.array([4, 0], np.int64)
    )


# ---------------------------------------------------------------------- tables


@njit(cache=True, nogil=True, inline="always")
def _start(table):
    return (table >> 33) << 2


@njit(cache=True, nogil=True, inline="always")
def _lists_in(table):
    return (table >> 5) & 0xFFFFFFF


@njit(cache=True, nogil=True, inline="always")
def _home(number, bits):
    """Where in its table a list is looked for first."""
    return np.int64((np.uint64(number) * _SPREAD) >> np.uint64(64 - bits))


@njit(cache=True, nogil=True, inline="always")
def _find(keys, table, number):
    """The slot of a list, or of the free place it would have."""
    start, bits = _start(table), table & 31
    mask = (1 << bits) - 1
    at = _home(number, bits)
    while keys[start + at] != number and keys[start + at] >= 0:
        at = (at + 1) & mask
    return start + at


@inner
def _resize(cells, row, bits):
    """Give a cell a table of 2^bits slots at the end, its lists moved there.  O(slots)."""
    size = 1 << bits
    start = cells.used[SLOTS]
    keys, references = cells.keys, cells.references
    if start + size > len(keys):
        keys = grown(keys[:start], max(start + size, start + start // 2))
        references = grown(references[:start], len(keys))
    keys[start : start + size] = -1
    references[start : start + size] = EMPTY
    cells.used[SLOTS] += size
    old = cells.nodes[row, CONTENT]
    new = (start >> 2) << 33 | _lists_in(old) << 5 | bits
    if old:
        for slot in range(_start(old), _start(old) + (1 << (old & 31))):
            if keys[slot] >= 0:
                to = _find(keys, new, keys[slot])
                keys[to], references[to] = keys[slot], references[slot]
                references[slot] = EMPTY
    cells.nodes[row, CONTENT] = new
    return Cells(cells.nodes, keys, references, cells.used)


@inner
def _enter(cells, row, number):
    """The slot of a list in a cell, which may be new to it: (cells, slot).  O(1) amortised."""
    table = cells.nodes[row, CONTENT]
    if table:
        slot = _find(cells.keys, table, number)
        if cells.keys[slot] == number:
            return cells, slot
    if table == 0 or 2 * (_lists_in(table) + 1) > 1 << (table & 31):
        cells = _resize(cells, row, max(SMALLEST_BITS, (table & 31) + 1))
    cells.nodes[row, CONTENT] += 1 << 5
    slot = _find(cells.keys, cells.nodes[row, CONTENT], number)
    cells.keys[slot] = number
    return cells, slot


@inner
def _leave(cells, row, slot):
    """Take an empty list out of its cell; those behind it close the gap.  O(1)."""
    keys, references = cells.keys, cells.references
    table = cells.nodes[row, CONTENT]
    start, bits = _start(table), table & 31
    mask = (1 << bits) - 1
    gap = slot - start
    at = gap
    while True:
        at = (at + 1) & mask
        if keys[start + at] < 0:
            break
        # It may move to the gap unless that is before its home, going round.
        if (at - _home(keys[start + at], bits)) & mask >= (at - gap) & mask:
            keys[start + gap] = keys[start + at]
            references[start + gap] = references[start + at]
            gap = at
    keys[start + gap] = -1
    references[start + gap] = EMPTY
    cells.nodes[row, CONTENT] = table - (1 << 5)


# ---------------------------------------------------------------------- changing


@njit(cache=True, nogil=True)
def hang_all(cells, lists, codes, references):
    """Enter runs, those of a cell side by side.  O(runs)."""
    i = 0
    while i < len(codes):
        end = i
        while end < len(codes) and codes[end] == codes[i]:
            end += 1
        nodes, row = make_row(cells.nodes, cells.used, np.int64(0), np.int64(0), codes[i])
        bits = SMALLEST_BITS
        while 1 << bits < 2 * (end - i):
            bits += 1
        cells = _resize(Cells(nodes, cells.keys, cells.references, cells.used), row, bits)
        for j in range(i, end):
            cells, slot = _enter(cells, row, np.int64(lists[j]))
            cells.references[slot] = references[j]
        i = end
    return cells


@njit(cache=True, nogil=True)
def put_all(cells, pool, records, lists, owner, codes, capacity):
    """Add records to lists in cells: (cells, pool, lists at the root to look at).  O(pairs)."""
    long = np.empty(len(owner), np.int32)
    found = 0
    for i in range(len(owner)):
        number = np.int64(lists[owner[i]])
        nodes, row = make_row(cells.nodes, cells.used, np.int64(0), np.int64(0), codes[i])
        cells = Cells(nodes, cells.keys, cells.references, cells.used)
        cells, slot = _enter(cells, row, number)
        pool, reference = append_record(pool, cells.references[slot], records[owner[i]])
        cells.references[slot] = reference
        if row == 0 and is_time_to_divide(run_count(reference), capacity):
            long[found] = number
            found += 1
    return cells, pool, long[:found]


@njit(cache=True, nogil=True)
def drop_all(cells, pool, entries, lists, owner, codes):
    """Take entries out of lists in cells.  O(records of those lists)."""
    for i in range(len(owner)):
        row = find_row(cells.nodes, 0, 0, codes[i])
        slot = _find(cells.keys, cells.nodes[row, CONTENT], lists[owner[i]])
        reference = drop_entry(pool, cells.references[slot], entries[owner[i]])
        cells.references[slot] = reference
        if reference == EMPTY:
            _leave(cells, row, slot)


@njit(cache=True, nogil=True)
def take_list(cells, pool, number):
    """Empty a list of the root; its records.  O(records)."""
    slot = _find(cells.keys, cells.nodes[0, CONTENT], number)
    reference = cells.references[slot]
    start, count = run_start(reference), run_count(reference)
    pool.used[GARBAGE] += run_room(count)
    _leave(cells, 0, slot)
    return pool.records[start : start + count].copy()


# ---------------------------------------------------------------------- matching


@njit(cache=True, nogil=True)
def walk(cells, frame, have, have_start, rects, rect_start, first, last):
    """The lists for each rectangle of the messages first:last: (runs, run_end).

    All cells that the place touches, in each the lists of the message's words.
    """
    nodes, keys, references = cells.nodes, cells.keys, cells.references
    rows = np.empty(64, np.int64)
    codes = np.empty(64, np.int64)
    runs = np.empty(1024, np.int64)
    run_end = np.empty(rect_start[last] - rect_start[first], np.int64)
    total = 0
    for message in range(first, last):
        begin, end = have_start[message - first], have_start[message - first + 1]
        for rect in range(rect_start[message], rect_start[message + 1]):
            x0, y0, x1, y1 = cells_of_box(
                frame, rects[rect, 0], rects[rect, 1], rects[rect, 2], rects[rect, 3]
            )
            rows[0], touched = 0, np.int64(1)
            block = nodes[0, CHILDREN]
            if x0 == x1 and y0 == y1:
                while block:
                    rows[touched] = block + quarter(x0, y0, DEPTH - touched)
                    block = nodes[rows[touched], CHILDREN]
                    touched += 1
            else:
                rows, codes, touched = rows_in_box(
                    nodes, block, x0, y0, x1, y1, rows, codes, touched
                )
            kept = 0
            for i in range(touched):
                table = nodes[rows[i], CONTENT]
                if _lists_in(table):
                    rows[kept] = table
                    kept += 1
                    if table & 31 > NEAR_BITS:
                        for j in range(begin, end):
                            prefetch_row(keys, _start(table) + _home(have[j] + 1, table & 31))
            if total + kept * (end - begin + 1) > len(runs):
                runs = grown(runs, total + kept * (end - begin + 1))
            for table in rows[:kept]:
                # List 0 is of entries that require no word.
                for j in range(begin - 1, end):
                    number = have[j] + 1 if j >= begin else 0
                    slot = _find(keys, table, number)
                    runs[total] = references[slot]  # EMPTY where the list is not there
                    total += references[slot] != EMPTY
            run_end[rect - rect_start[first]] = total
    return runs[:total], run_end
