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
from nearcast.trending._nearby.spelling import is_better
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


@inner
def column_scores(cells, c, j, scores):
    """What each row has at a column.  O(rows)."""
    first, step = cells.head[c, FIRST_ROW], cells.head[c, COLUMNS]
    near, at = cells.head[c, NEAR] + j, cells.head[c, FIRST_COLUMN] + j
    u, v = cells.at[at, ALONG_U], cells.at[at, ALONG_V]
    uu, uv, vv = u * u, u * v, v * v
    field = cells.field
    for i in range(cells.head[c, HEIGHT]):
        r = first + i
        scores[i] = (
            cells.near[near + i * step] + field[r, 0] + field[r, 1] * u + field[r, 2] * v
            + field[r, 3] * uu + field[r, 4] * uv + field[r, 5] * vv
        )  # fmt: skip


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
def is_right(order, at, listed, k, height, scores, limit):
    """Is a list, order[at:at + listed], still right?  O(rows)."""
    if listed < min(k, height):
        return False
    least, right = np.inf, True
    for p in range(listed):
        score = scores[order[at + p]]
        right &= score <= limit * least
        least = min(least, score)
    if not right or listed < k:
        return right
    above = 0
    for i in range(height):
        above += scores[i] > limit * least
    for p in range(listed):
        above -= scores[order[at + p]] > limit * least
    return above == 0


@inner
def score_at(cells, row, near, u, v):
    """What a row of all has at (u, v), where it has `near` of near documents."""
    field = cells.field
    return (
        cells.near[near] + field[row, 0] + field[row, 1] * u + field[row, 2] * v
        + field[row, 3] * u * u + field[row, 4] * u * v + field[row, 5] * v * v
    )  # fmt: skip


@inner
def are_rows_right(cells, c, rules):
    """Are all lists right, when only rows without SLACK have grown too much?

    Then it is known again for how long.  O(columns * k) for such a row.
    """
    for i in range(cells.head[c, FIRST_ROW], cells.head[c, FIRST_ROW] + cells.head[c, HEIGHT]):
        if cells.field[i, SLACK] < 0.0:
            slack = slack_of(cells, c, i - cells.head[c, FIRST_ROW], 1.0 + rules.patience)
            if slack < 0.0:
                return False
            cells.field[i, SLACK] = slack
    return True


@inner
def slack_of(cells, c, i, limit):
    """How much a row may grow before a list changes, below 0 where one has.  O(columns * k)."""
    first, row, columns = (
        cells.head[c, FIRST_COLUMN], cells.head[c, FIRST_ROW], cells.head[c, COLUMNS]
    )  # fmt: skip
    near, slack = cells.head[c, NEAR], np.inf
    for j in range(cells.head[c, WIDTH]):
        u, v = cells.at[first + j, ALONG_U], cells.at[first + j, ALONG_V]
        at, least = cells.head[c, ORDER] + j * cells.head[c, DEPTH], np.inf
        for p in range(cells.column[first + j, LISTED]):
            other = cells.order[at + p]
            if other == i:
                break
            score = score_at(cells, row + other, near + other * columns + j, u, v)
            least = min(least, score)
        mine = score_at(cells, row + i, near + i * columns + j, u, v)
        slack = min(slack, limit * least - mine)
        if slack < 0.0:
            break
    return slack


@inner
def look_at_lists(cells, tree, c, touched, spelling, rules):
    """All lists of a cell are right, and it is known for how long.  O(columns * rows).

    Rows that are far from all of them go. The arrays that may be others now.
    """
    head, frame = cells.head[c], cells.frame[c]
    height, width, limit = head[HEIGHT], head[WIDTH], 1.0 + rules.patience
    first, depth, step = head[FIRST_COLUMN], head[DEPTH], touched.count[STEP]
    column, order = cells.column, cells.order
    scores, slack, most = np.empty(height), np.full(height, np.inf), np.zeros(height)
    floor = np.inf
    for j in range(width):
        column_scores(cells, c, j, scores)
        at, k = head[ORDER] + j * depth, column[first + j, K]
        # What a step has changed it leaves in the exact order, whichever term came first.
        if column[first + j, STAMP] == step or not is_right(
            order, at, column[first + j, LISTED], k, height, scores, limit
        ):
            touched = remember(touched, cells, head, j)
            sort_list(cells, head, j, scores, spelling)
        listed, least = column[first + j, LISTED], np.inf
        for i in range(height):
            most[i] = max(most[i], scores[i])
        for p in range(listed):
            row = order[at + p]
            score = scores[row]
            slack[row] = min(slack[row], limit * least - score)
            least = min(least, score)
            scores[row] = -np.inf  # so that the next loop leaves it out
        for i in range(height):
            slack[i] = min(slack[i], limit * least - scores[i])
        floor = min(floor, least if listed == k else 0.0)
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
