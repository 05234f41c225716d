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

from nearcast.inner import inner, leaf
from nearcast.trending._nearby.spelling import is_better
from nearcast.trending._nearby.touched import LISTS, STEP, with_room
from nearcast.trending.term_fields._cells import (
    ALONG_U,
    ALONG_V,
    CELL,
    COLUMN,
    COLUMNS,
    DEPTH,
    FIRST_COLUMN,
    FIRST_ROW,
    FLOOR,
    GROUP,
    HEIGHT,
    LISTED,
    LOOKED,
    MEMBERS,
    NEAR,
    NODE,
    ORDER,
    SLACK,
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


@leaf
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
    if column[STAMP] == touched.counts[STEP]:
        return touched
    column[STAMP] = touched.counts[STEP]
    touched = with_room(touched, column[LISTED])
    lists = touched.counts[LISTS]
    begin = touched.start[lists]
    touched.slot[lists] = column[GROUP]
    for p in range(column[LISTED]):
        row = cells.order[head[ORDER] + j * head[DEPTH] + p]
        touched.term[begin + p] = cells.term[head[FIRST_ROW] + row]
    touched.start[lists + 1] = begin + column[LISTED]
    touched.counts[LISTS] = lists + 1
    return touched


@leaf
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
def cell_scores(cells, c, scores):
    """What each row has at each column, row by row.  O(columns * rows), several at a time."""
    head = cells.head[c]
    first, width = head[FIRST_COLUMN], head[WIDTH]
    along, across = np.empty(width), np.empty(width)
    for j in range(width):
        along[j], across[j] = cells.at[first + j, ALONG_U], cells.at[first + j, ALONG_V]
    for i in range(head[HEIGHT]):
        field, begin = cells.field[head[FIRST_ROW] + i], head[NEAR] + i * head[COLUMNS]
        near, row = cells.near[begin : begin + width], scores[i]
        c0, c1, c2, c3, c4, c5 = field[0], field[1], field[2], field[3], field[4], field[5]
        for j in range(width):
            u, v = along[j], across[j]
            row[j] = near[j] + c0 + (c1 + c3 * u + c4 * v) * u + (c2 + c5 * v) * v


@leaf
def least_of(order, at, listed, scores, j, limit):
    """The least that a term of a list, order[at:at + listed], has; -1 where it is not in order."""
    least = np.inf
    for p in range(listed):
        score = scores[order[at + p], j]
        if score > limit * least:
            return -1.0
        least = min(least, score)
    return least


@inner
def mark_right(cells, c, scores, limit, caps):
    """For each column `limit` times the least of its list, or -1 where the list is not right."""
    head = cells.head[c]
    height, width, first = head[HEIGHT], head[WIDTH], head[FIRST_COLUMN]
    above = np.zeros(width, np.int64)
    for j in range(width):
        at, listed = head[ORDER] + j * head[DEPTH], cells.column[first + j, LISTED]
        least = least_of(cells.order, at, listed, scores, j, limit)
        caps[j] = limit * least if least >= 0.0 else -1.0
        if listed < min(np.int64(cells.column[first + j, K]), height):
            caps[j] = -1.0
    for i in range(height):
        row = scores[i]
        for j in range(width):
            above[j] += row[j] > caps[j]
    for j in range(width):
        # With patience, terms of the list may have more than that, and no others.
        at = head[ORDER] + j * head[DEPTH]
        for p in range(cells.column[first + j, LISTED]):
            above[j] -= scores[cells.order[at + p], j] > caps[j]
        if above[j] > 0:
            caps[j] = -1.0


@inner
def look_at_rows(cells, c, touched, spelling, rules):
    """All lists are right again, when only rows without SLACK have grown too much.

    O(columns * rows), several at a time, and O(rows) for a list that changes.
    """
    first, limit = cells.head[c, FIRST_ROW], 1.0 + rules.patience
    scores = np.empty((cells.head[c, HEIGHT], cells.head[c, WIDTH]))
    cell_scores(cells, c, scores)
    for i in range(cells.head[c, HEIGHT]):
        if cells.field[first + i, SLACK] < 0.0:
            cells.field[first + i, SLACK] = np.inf
            touched = look_at_row(cells, c, i, scores, limit, touched, spelling)
    return touched


@inner
def look_at_row(cells, c, i, scores, limit, touched, spelling):
    """The lists into which a row has grown are right, and it is known how much it may grow."""
    head = cells.head[c]
    first, row, height = head[FIRST_COLUMN], head[FIRST_ROW], head[HEIGHT]
    mine, slack = np.empty(height), np.inf
    for j in range(head[WIDTH]):
        at, least = head[ORDER] + j * head[DEPTH], np.inf
        for p in range(cells.column[first + j, LISTED]):
            other = cells.order[at + p]
            if other == i:
                break
            least = min(least, scores[other, j])
        room = limit * least - scores[i, j]
        if room >= 0.0:
            slack = min(slack, room)
            continue
        touched = remember(touched, cells, head, j)
        for other in range(height):
            mine[other] = scores[other, j]
        sort_list(cells, head, j, mine, spelling)
        least = np.inf
        for p in range(cells.column[first + j, LISTED]):
            other = cells.order[at + p]
            room = limit * least - mine[other]
            cells.field[row + other, SLACK] = min(cells.field[row + other, SLACK], room)
            least = min(least, mine[other])
            mine[other] = -np.inf
        for other in range(height):
            room = limit * least - mine[other]
            cells.field[row + other, SLACK] = min(cells.field[row + other, SLACK], room)
    cells.field[row + i, SLACK] = min(cells.field[row + i, SLACK], slack)
    return touched


@inner
def look_at_lists(cells, tree, c, touched, spelling, rules):
    """All lists of a cell are right, and it is known for how long.  O(columns * rows).

    Rows that are far from all of them go. The arrays that may be others now.
    """
    head, frame = cells.head[c], cells.frame[c]
    height, width, limit = head[HEIGHT], head[WIDTH], 1.0 + rules.patience
    first, depth, step = head[FIRST_COLUMN], head[DEPTH], touched.counts[STEP]
    scores, caps, mine = np.empty((height, width)), np.empty(width), np.empty(height)
    cell_scores(cells, c, scores)
    mark_right(cells, c, scores, limit, caps)
    floor = np.inf
    for j in range(width):
        at, column = head[ORDER] + j * depth, cells.column[first + j]
        # What a step has changed it leaves in the exact order, whichever term came first.
        if caps[j] < 0.0 or column[STAMP] == step:
            touched = remember(touched, cells, head, j)
            for i in range(height):
                mine[i] = scores[i, j]
            sort_list(cells, head, j, mine, spelling)
            last = cells.order[at + column[LISTED] - 1] if column[LISTED] > 0 else -1
            caps[j] = limit * (scores[last, j] if last >= 0 else np.inf)
        floor = min(floor, caps[j] / limit if column[LISTED] == column[K] else 0.0)
    slack, most = np.full(height, np.inf), np.zeros(height)
    for i in range(height):
        row, largest = scores[i], 0.0
        for j in range(width):
            largest = max(largest, row[j])
        most[i] = largest
    for j in range(width):
        at, least = head[ORDER] + j * depth, np.inf
        for p in range(cells.column[first + j, LISTED]):
            i = cells.order[at + p]
            slack[i] = min(slack[i], limit * least - scores[i, j])
            least = min(least, scores[i, j])
            scores[i, j] = -np.inf  # so that the next loop leaves it out
    for i in range(height):
        row, least = scores[i], slack[i]
        for j in range(width):
            least = min(least, caps[j] - row[j])
        slack[i] = least
    cells.field[head[FIRST_ROW] : head[FIRST_ROW] + height, SLACK] = slack
    frame[FLOOR] = floor
    head[LOOKED] = touched.counts[STEP]
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
    """How many members have one of the remembered lists and another one now."""
    changed = 0
    for n in range(touched.counts[LISTS]):
        group = cells.group[touched.slot[n]]
        c, j = group[CELL], group[COLUMN]
        head = cells.head[c]
        begin, size = touched.start[n], touched.start[n + 1] - touched.start[n]
        same = cells.column[head[FIRST_COLUMN] + j, LISTED] == size
        for p in range(size if same else 0):
            row = cells.order[head[ORDER] + j * head[DEPTH] + p]
            same &= cells.term[head[FIRST_ROW] + row] == touched.term[begin + p]
        if not same:
            changed += group[MEMBERS]
    return changed
