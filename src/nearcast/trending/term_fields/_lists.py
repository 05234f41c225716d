"""Are the lists of a cell still right, and for how long?

A list is right while no term has more than (1 + patience) times what any term above it has, nor
one outside of it more than that of what any in it has. One that is not is put in the exact order.
Then a pair of terms changes places only when the lower has won by that much, and not with each
document when both are about equal; what is shown, for each term the most that it or a lower one
has, is off by `patience` at the most.

Until then a term may grow by its SLACK without any list of the cell changing, whatever others do:
they only grow as well.
"""

import numpy as np

from nearcast.trending._nearby.inner import inner
from nearcast.trending._nearby.touched import LISTS, STEP, with_room
from nearcast.trending.term_fields._cells import (
    ALONG_U,
    ALONG_V,
    COLUMNS,
    DEPTH,
    FIRST_COLUMN,
    FIRST_ROW,
    FLOOR,
    HEIGHT,
    LISTED,
    LOOKED,
    NEAR,
    NODE,
    ORDER,
    SLACK,
    SLOT,
    STAMP,
    WIDTH,
    K,
)
from nearcast.trending.term_fields._tree import (
    MARGIN,
    no_longer_row,
    put_spare,
    settle,
    with_entries,
)

FADED = 0.6  # of the lowest last score of the cell: what has less everywhere is a row no longer
SAME = 1e-11  # scores that differ by this share are equal: sums depend on the order of additions


@inner
def column_scores(cells, head, j, scores):
    """What each row has at a column.  O(rows)."""
    at = cells.at[head[FIRST_COLUMN] + j]
    u, v = at[ALONG_U], at[ALONG_V]
    uu, uv, vv = u * u, u * v, v * v
    near, step = head[NEAR] + j, head[COLUMNS]
    for i in range(head[HEIGHT]):
        c = cells.field[head[FIRST_ROW] + i]
        scores[i] = (
            cells.near[near + i * step]
            + c[0] + c[1] * u + c[2] * v + c[3] * uu + c[4] * uv + c[5] * vv
        )  # fmt: skip


@inner
def comes_first(spelling, term, other):
    """Is a term before another one in the alphabet?"""
    data, start = spelling
    a, a_end = start[term], start[term + 1]
    b, b_end = start[other], start[other + 1]
    while a < a_end and b < b_end:
        if data[a] != data[b]:
            return data[a] < data[b]
        a += 1
        b += 1
    return a == a_end and b < b_end


@inner
def is_better(score, term, other_score, other, spelling):
    """Does a term come before another one in a list?"""
    if abs(score - other_score) <= SAME * score:
        return comes_first(spelling, term, other)
    return score > other_score


@inner
def remember(touched, cells, head, j):
    """The list of a column as it was before this step."""
    at = head[FIRST_COLUMN] + j
    column = cells.column[at]
    if column[STAMP] == touched.count[STEP]:
        return touched
    column[STAMP] = touched.count[STEP]
    touched = with_room(touched, column[LISTED])
    lists = touched.count[LISTS]
    begin = touched.start[lists]
    touched.slot[lists] = column[SLOT]
    for p in range(column[LISTED]):
        row = cells.order[head[ORDER] + j * head[DEPTH] + p]
        touched.term[begin + p] = cells.term[head[FIRST_ROW] + row]
    touched.start[lists + 1] = begin + column[LISTED]
    touched.count[LISTS] = lists + 1
    return touched


@inner
def sort_list(cells, head, j, scores, spelling):
    """The exact list of a column.  O(rows * listed)."""
    column = cells.column[head[FIRST_COLUMN] + j]
    at, listed = head[ORDER] + j * head[DEPTH], 0
    for i in range(head[HEIGHT]):
        term = cells.term[head[FIRST_ROW] + i]
        p = listed
        while p > 0:
            row = cells.order[at + p - 1]
            other = cells.term[head[FIRST_ROW] + row]
            if not is_better(scores[i], term, scores[row], other, spelling):
                break
            p -= 1
        if p == column[K]:
            continue
        listed = min(listed + 1, column[K])
        for q in range(listed - 1, p, -1):
            cells.order[at + q] = cells.order[at + q - 1]
        cells.order[at + p] = i
    column[LISTED] = listed


@inner
def is_right(cells, head, j, scores, limit, mine):
    """Is the list of a column still right?  `mine` has j + 1 for the rows in it afterwards."""
    column = cells.column[head[FIRST_COLUMN] + j]
    at, least, right = head[ORDER] + j * head[DEPTH], np.inf, True
    for p in range(column[LISTED]):
        row = cells.order[at + p]
        mine[row] = j + 1
        right &= scores[row] <= limit * least
        least = min(least, scores[row])
    if column[LISTED] < column[K]:
        return right and column[LISTED] == head[HEIGHT]
    for i in range(head[HEIGHT]):
        right &= mine[i] == j + 1 or scores[i] <= limit * least
    return right


@inner
def look_at_lists(cells, tree, c, touched, spelling, rules):
    """All lists of a cell are right, and it is known for how long.  O(columns * rows).

    Rows that are far from all of them go. The arrays that may be others now.
    """
    head, frame = cells.head[c], cells.frame[c]
    height, limit = head[HEIGHT], 1.0 + rules.patience
    scores, mine = np.empty(height), np.zeros(height, np.int32)
    slack, most = np.full(height, np.inf), np.zeros(height)
    floor = np.inf
    for j in range(head[WIDTH]):
        column_scores(cells, head, j, scores)
        is_other = cells.column[head[FIRST_COLUMN] + j, STAMP] == touched.count[STEP]
        # What a step has changed it leaves in the exact order, whichever term came first.
        if not is_right(cells, head, j, scores, limit, mine) or is_other:
            touched = remember(touched, cells, head, j)
            sort_list(cells, head, j, scores, spelling)
            mine[:] = 0
        column = cells.column[head[FIRST_COLUMN] + j]
        at, least = head[ORDER] + j * head[DEPTH], np.inf
        for p in range(column[LISTED]):
            row = cells.order[at + p]
            mine[row] = j + 1
            slack[row] = min(slack[row], limit * least - scores[row])
            least = min(least, scores[row])
        for i in range(height):
            most[i] = max(most[i], scores[i])
            if mine[i] != j + 1:
                slack[i] = min(slack[i], limit * least - scores[i])
        floor = min(floor, least if column[LISTED] == column[K] else 0.0)
    cells.field[head[FIRST_ROW] : head[FIRST_ROW] + height, SLACK] = slack
    frame[FLOOR] = floor
    head[LOOKED] = touched.count[STEP]
    faded = 0
    for i in range(height):
        faded += most[i] < FADED * floor
    if faded > 0:
        tree = drop_rows(cells, tree, head, most, floor)
    settle(tree, cells, c)
    return tree, touched


@inner
def drop_rows(cells, tree, head, most, floor):
    """Rows that have too little at every column go; the tree knows how much they may grow."""
    height, width = head[HEIGHT], head[WIDTH]
    new, count = np.full(height, -1, np.int64), 0
    for i in range(height):
        term = cells.term[head[FIRST_ROW] + i]
        if most[i] < FADED * floor:
            no_longer_row(tree, head[NODE], term)
            tree = with_entries(tree)
            if floor < np.inf:
                put_spare(tree, head[NODE], term, MARGIN * floor - most[i])
            continue
        new[i] = count
        if count < i:
            cells.term[head[FIRST_ROW] + count] = term
            cells.field[head[FIRST_ROW] + count] = cells.field[head[FIRST_ROW] + i]
            to, source = head[NEAR] + count * head[COLUMNS], head[NEAR] + i * head[COLUMNS]
            for j in range(width):
                cells.near[to + j] = cells.near[source + j]
        count += 1
    head[HEIGHT] = count
    renumber(cells, head, new)
    return tree


@inner
def renumber(cells, head, new):
    """Rows have new numbers, -1 for those that are gone."""
    for j in range(head[WIDTH]):
        column = cells.column[head[FIRST_COLUMN] + j]
        at, listed = head[ORDER] + j * head[DEPTH], 0
        for p in range(column[LISTED]):
            row = new[cells.order[at + p]]
            if row >= 0:
                cells.order[at + listed] = row
                listed += 1
        column[LISTED] = listed


@inner
def count_changed(touched, cells):
    """How many of the remembered lists are other ones now."""
    changed = 0
    for n in range(touched.count[LISTS]):
        slot = touched.slot[n]
        c, j = cells.where[slot, 0], cells.where[slot, 1]
        head = cells.head[c]
        begin, size = touched.start[n], touched.start[n + 1] - touched.start[n]
        same = cells.column[head[FIRST_COLUMN] + j, LISTED] == size
        for p in range(size if same else 0):
            row = cells.order[head[ORDER] + j * head[DEPTH] + p]
            same &= cells.term[head[FIRST_ROW] + row] == touched.term[begin + p]
        changed += not same
    return changed
