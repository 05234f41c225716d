"""Which lists may a message reach (Algorithm 2)?  The arrays are drawn in `_layout`.

waiting  int64[76]  cells to visit, each doubled, plus one when a cover word was met on the way
cells    int64[C]   cells whose list is a candidate
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import EMPTY
from nearcast.boolean._verify import grown
from nearcast.boolean.mbr_trie._layout import lower_bound
from nearcast.boolean.pt_quadtree._layout import (
    BELOW,
    COVER,
    FIRST,
    MIDDLE_X,
    MIDDLE_Y,
    MOST_WAITING,
    OWN,
    WITH_WORDS,
    WITHOUT_WORDS,
)
from nearcast.inner import inner
from nearcast.prefetch import prefetch_row


@inner
def meets(quadtree, node, column, have, begin, end):
    """Does the message have a word of the cell's set?  O(fewer log more), as in `mbr_trie`."""
    tokens = quadtree.tokens
    start, count = quadtree.nodes[node, column], quadtree.nodes[node, column + 1]
    words = end - begin
    if count == 0 or words == 0:
        return False
    if words < count:
        # Frequent words, those that sets tend to have, come last.
        for i in range(end - 1, begin - 1, -1):
            at = lower_bound(tokens, start, start + count, have[i])
            if at < start + count and tokens[at] == have[i]:
                return True
    else:
        for i in range(start, start + count):
            at = lower_bound(have, begin, end, tokens[i])
            if at < end and have[at] == tokens[i]:
                return True
    return False


@njit(cache=True, nogil=True)
def visit(quadtree, root, have, begin, end, x0, y0, x1, y1, waiting, cells):
    """Collect the cells below a root whose list a message may reach: (cells, how many).

    A leaf that its own words do not rule out is a candidate, which the printed algorithm does not
    say; below a cell with a cover word of the message, words rule nothing out.
    """
    waiting[0] = 2 * root + (root == WITHOUT_WORDS)
    depth, found = 1, 0
    while depth:
        depth -= 1
        node, is_covered = waiting[depth] >> 1, (waiting[depth] & 1) == 1
        if quadtree.lists[node] != EMPTY and (
            is_covered or meets(quadtree, node, np.int64(OWN), have, begin, end)
        ):
            if found == len(cells):
                cells = grown(cells, found + 1)
            cells[found] = node
            found += 1
        first = quadtree.nodes[node, FIRST]
        if first == 0:
            continue
        if not is_covered:
            is_covered = meets(quadtree, node, np.int64(COVER), have, begin, end)
            if not is_covered and not meets(quadtree, node, np.int64(BELOW), have, begin, end):
                continue
        middle_x = np.float64(quadtree.places[node, MIDDLE_X])
        middle_y = np.float64(quadtree.places[node, MIDDLE_Y])
        for row in range(y0 >= middle_y, (y1 >= middle_y) + 1):
            for column in range(x0 >= middle_x, (x1 >= middle_x) + 1):
                child = first + 2 * row + column
                prefetch_row(quadtree.nodes, child)
                waiting[depth] = 2 * child + is_covered
                depth += 1
    return cells, found


@njit(cache=True, nogil=True)
def walk(quadtree, have, have_start, rects, rect_start, first, last):
    """The lists for each rectangle of the messages first:last: (runs, run_end)."""
    waiting, cells = np.empty(MOST_WAITING, np.int64), np.empty(256, np.int64)
    runs = np.empty(1024, np.int64)
    run_end = np.empty(rect_start[last] - rect_start[first], np.int64)
    total = 0
    for message in range(first, last):
        begin, end = have_start[message - first], have_start[message - first + 1]
        for rect in range(rect_start[message], rect_start[message + 1]):
            for root in (WITH_WORDS, WITHOUT_WORDS):
                cells, found = visit(
                    quadtree, root, have, begin, end,
                    rects[rect, 0], rects[rect, 1], rects[rect, 2], rects[rect, 3],
                    waiting, cells,
                )  # fmt: skip
                if total + found > len(runs):
                    runs = grown(runs, total + found)
                for cell in cells[:found]:
                    runs[total] = quadtree.lists[cell]
                    total += 1
            run_end[rect - rect_start[first]] = total
    return runs[:total], run_end
