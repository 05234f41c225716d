"""The arrays of an RQ-tree, how they change, and how a message goes through them.

roots   int64[L, 2]   the root cell of each list (see `_quad._lists`): its run, and the first of its
                      four children in `nodes` (0: no children)
nodes   int64[N, 2]   the same of smaller cells (see `_quad._cells`); rows 0-3 belong to nobody
used    int64[2]      rows of nodes in use, lists in use

A short list is a root without children.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._quad._cells import (
    CHILDREN,
    CONTENT,
    DEPTH,
    ROOT_CODE,
    SIDE,
    add_children,
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

NODES, LISTS = 0, 1  # cells of `used`


class Lists(NamedTuple):
    """The arrays; see the module docstring."""

    roots: NDArray[np.int64]
    nodes: NDArray[np.int64]
    used: NDArray[np.int64]


def empty_lists(count: int) -> Lists:
    """So many lists without an entry."""
    return Lists(np.zeros((count, 2), np.int64), root_alone(), np.array([4, count], np.int64))


def with_lists(lists: Lists, count: int) -> Lists:
    """The same with room for so many lists in all.  O(1) amortised."""
    roots, before = lists.roots, int(lists.used[LISTS])
    if count > len(roots):
        roots = np.zeros((count + count // 2, 2), np.int64)
        roots[:before] = lists.roots[:before]
    lists.used[LISTS] = max(count, before)
    return Lists(roots, lists.nodes, lists.used)


# ---------------------------------------------------------------------- changing


@njit(cache=True, nogil=True, inline="always")
def _quarter_of_root(code):
    """Which of a root's children a smaller cell is in."""
    rest = (code >> 2 * DEPTH) - 1
    return quarter((code >> DEPTH) & (SIDE - 1), code & (SIDE - 1), rest)


@inner
def _make(lists, number, code):
    """The row of a list's cell below its root, which may be new: (lists, row).  O(levels)."""
    nodes = lists.nodes
    if lists.roots[number, CHILDREN] == 0:
        nodes, block = add_children(nodes, lists.used)
        lists.roots[number, CHILDREN] = block
    child = lists.roots[number, CHILDREN] + _quarter_of_root(code)
    nodes, row = make_row(nodes, lists.used, child, np.int64(1), code)
    return Lists(lists.roots, nodes, lists.used), row


@njit(cache=True, nogil=True)
def hang_all(lists, numbers, codes, references):
    """Enter runs.  O(runs)."""
    for i in range(len(numbers)):
        if codes[i] == ROOT_CODE:
            lists.roots[numbers[i], CONTENT] = references[i]
        else:
            lists, row = _make(lists, np.int64(numbers[i]), codes[i])
            lists.nodes[row, CONTENT] = references[i]
    return lists


@njit(cache=True, nogil=True)
def put_all(lists, pool, records, numbers, owner, codes, capacity):
    """Add records to cells of lists: (lists, pool, lists whose root is to be looked at).

    `numbers` tells the list of each record.  O(pairs).
    """
    long = np.empty(len(owner), np.int32)
    found = 0
    for i in range(len(owner)):
        number = np.int64(numbers[owner[i]])
        if codes[i] == ROOT_CODE:
            root = lists.roots[number]
            pool, root[CONTENT] = append_record(pool, root[CONTENT], records[owner[i]])
            if is_time_to_divide(run_count(root[CONTENT]), capacity):
                long[found] = number
                found += 1
        else:
            lists, row = _make(lists, number, codes[i])
            node = lists.nodes[row]
            pool, node[CONTENT] = append_record(pool, node[CONTENT], records[owner[i]])
    return lists, pool, long[:found]


@njit(cache=True, nogil=True)
def drop_all(lists, pool, entries, numbers, owner, codes):
    """Take entries out of cells of lists.  O(records of those cells)."""
    for i in range(len(owner)):
        number = np.int64(numbers[owner[i]])
        if codes[i] == ROOT_CODE:
            node = lists.roots[number]
        else:
            child = lists.roots[number, CHILDREN] + _quarter_of_root(codes[i])
            node = lists.nodes[find_row(lists.nodes, child, 1, codes[i])]
        node[CONTENT] = drop_entry(pool, node[CONTENT], entries[owner[i]])


@njit(cache=True, nogil=True)
def take_list(lists, pool, number):
    """Empty a list that has no cell but its root; its records.  O(records)."""
    reference = lists.roots[number, CONTENT]
    start, count = run_start(reference), run_count(reference)
    pool.used[GARBAGE] += run_room(count)
    lists.roots[number, CONTENT] = EMPTY
    return pool.records[start : start + count].copy()


# ---------------------------------------------------------------------- matching


@njit(cache=True, nogil=True)
def walk(lists, frame, have, have_start, rects, rect_start, first, last):
    """The cells for each rectangle of the messages first:last: (runs, run_end).

    The lists of the message's words, in each all cells that the place touches. A point goes down
    in all of its lists at once, a level at a time: while one waits for memory, so do the others.
    """
    roots, nodes = lists.roots, lists.nodes
    blocks = np.empty(256, np.int64)  # children to visit, of some of the lists
    rows = np.empty(64, np.int64)
    codes = np.empty(64, np.int64)
    runs = np.empty(1024, np.int64)
    run_end = np.empty(rect_start[last] - rect_start[first], np.int64)
    total = 0
    for message in range(first, last):
        begin, end = have_start[message - first], have_start[message - first + 1]
        for j in range(begin, end):
            prefetch_row(roots, have[j] + 1)
        if end - begin + 1 > len(blocks):
            blocks = grown(blocks, end - begin + 1)
        for rect in range(rect_start[message], rect_start[message + 1]):
            x0, y0, x1, y1 = cells_of_box(
                frame, rects[rect, 0], rects[rect, 1], rects[rect, 2], rects[rect, 3]
            )
            is_point = x0 == x1 and y0 == y1
            most = (DEPTH + 1) * (end - begin + 1)
            if total + most > len(runs):
                runs = grown(runs, total + most)
            deeper = 0
            # List 0 is of entries that require no word.
            for j in range(begin - 1, end):
                number = have[j] + 1 if j >= begin else 0
                runs[total] = roots[number, CONTENT]
                total += roots[number, CONTENT] != EMPTY
                block = roots[number, CHILDREN]
                if block:
                    blocks[deeper] = block
                    deeper += 1
                    prefetch_row(nodes, block + quarter(x0, y0, DEPTH - 1))
            if is_point:
                rest = DEPTH
                while deeper:
                    rest -= 1
                    kept = 0
                    for i in range(deeper):
                        row = blocks[i] + quarter(x0, y0, rest)
                        runs[total] = nodes[row, CONTENT]
                        total += nodes[row, CONTENT] != EMPTY
                        block = nodes[row, CHILDREN]
                        if block:
                            blocks[kept] = block
                            kept += 1
                            prefetch_row(nodes, block + quarter(x0, y0, rest - 1))
                    deeper = kept
            else:
                touched = np.int64(0)
                for i in range(deeper):
                    rows, codes, touched = rows_in_box(
                        nodes, blocks[i], x0, y0, x1, y1, rows, codes, touched
                    )
                if total + touched > len(runs):
                    runs = grown(runs, total + touched)
                for row in rows[:touched]:
                    runs[total] = nodes[row, CONTENT]
                    total += nodes[row, CONTENT] != EMPTY
            run_end[rect - rect_start[first]] = total
    return runs[:total], run_end
