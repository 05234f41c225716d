"""Are the lists of a block still right, and for how long?

A list is right while no term has more than (1 + patience) times what any term above it has, nor
one outside of it more than that of what any in it has. One that is not is put in the exact order.
Then a pair of terms changes places only when the lower has won by that much, and not with each
document when both are about equal; what is shown, for each term the most that it or a lower one
has, is off by `patience` at the most.

Until then a term may grow up to its limit without any list of the block changing, whatever others
do: they only grow as well.
"""

import numpy as np
from numba import njit

from nearcast.inner import inner, leaf
from nearcast.prefetch import prefetch_row
from nearcast.trending._nearby.spelling import is_better
from nearcast.trending._nearby.touched import LISTS, STEP, with_room
from nearcast.trending.term_fields._cells import (
    BLOCK,
    CELL,
    COLUMN,
    COLUMNS,
    DEPTH,
    FIRST_COLUMN,
    FIRST_ROW,
    FLOOR,
    GROUP,
    GROWN,
    HEIGHT,
    LISTED,
    LOOKED,
    MEMBERS,
    NEXT_LIMIT,
    NODE,
    ORDER,
    ROWS_SHIFT,
    ROWS_TOGETHER,
    STAMP,
    WIDTH,
    K,
    blocks_of,
    near_of,
    rows_up_to,
)
from nearcast.trending.term_fields._room import give_pieces
from nearcast.trending.term_fields._tree import (
    MARGIN,
    no_longer_row,
    put_spare,
    settle,
    with_entries,
)

NOT_LISTED = -np.inf  # less than any score
LISTS_AHEAD = 16
FADED = 0.6  # of the lowest last score of the cell: what has less everywhere is a row no longer


@leaf
def column_scores(cells, c, j, scores):
    """What each row has at a column.  O(rows)."""
    head = cells.head[c]
    at = head[FIRST_COLUMN] + j
    u, v = cells.along[at], cells.across[at]
    for i in range(head[HEIGHT]):
        field = cells.field[head[FIRST_ROW] + i]
        near = cells.near[near_of(cells, head, i, j // BLOCK), j % BLOCK]
        scores[i] = (
            near + field[0] + field[1] * u + field[2] * v
            + field[3] * u * u + field[4] * u * v + field[5] * v * v
        )  # fmt: skip


@njit(cache=True, nogil=True, fastmath={"contract"})
def block_scores(height, field, piece, b, near, along, across, scores):
    """What each row has at the columns of a block, also at vacant ones.  O(rows), four at a time.

    `field` and `piece` begin where the cell does, `along` and `across` where block b does.
    """
    for i in range(height):
        at = piece[i >> ROWS_SHIFT] + (b << ROWS_SHIFT) + (i & (ROWS_TOGETHER - 1))
        c0, c1, c2 = field[i, 0], field[i, 1], field[i, 2]
        c3, c4, c5 = field[i, 3], field[i, 4], field[i, 5]
        for j in range(len(along)):
            u, v = along[j], across[j]
            scores[i, j] = near[at, j] + c0 + (c1 + c3 * u + c4 * v) * u + (c2 + c5 * v) * v


@leaf
def remember(touched, cells, head, j):
    """The list of a column as it was before this step; there is room for it."""
    column = cells.column[head[FIRST_COLUMN] + j]
    if column[STAMP] == touched.counts[STEP]:
        return
    column[STAMP] = touched.counts[STEP]
    lists = touched.counts[LISTS]
    begin = touched.start[lists]
    touched.slot[lists] = column[GROUP]
    for p in range(column[LISTED]):
        row = cells.order[head[ORDER] + j * head[DEPTH] + p]
        touched.term[begin + p] = cells.term[head[FIRST_ROW] + row]
    touched.start[lists + 1] = begin + column[LISTED]
    touched.counts[LISTS] = lists + 1


@njit(cache=True, nogil=True)
def least_above(order, depth, column, scores, above, least):
    """The least that any term above each has in the lists of a block, NOT_LISTED for other rows.

    And the least of each list.  O(BLOCK * listed): all columns at once, since each waits for the
    place before.
    """
    above[:] = NOT_LISTED
    least[:] = np.inf
    longest = 0
    for j in range(len(column)):
        longest = max(longest, np.int64(column[j, LISTED]))
    for p in range(longest):
        for j in range(len(column)):
            if p < column[j, LISTED]:
                i = np.uint64(order[j * depth + p])
                score = scores[i, j]
                above[i, j] = least[j]
                least[j] = score if score < least[j] else least[j]


@njit(cache=True, nogil=True)
def least_room(height, limit, scores, above, least, room):
    """How much any row may grow until a list is wrong, for each column; below 0 if it is already.

    Rows that are not listed are above nothing. O(rows), several at a time.
    """
    room[:] = np.inf
    for i in range(height):
        for j in range(scores.shape[1]):
            cap = above[i, j] if above[i, j] > NOT_LISTED else least[j]
            above[i, j] = cap
            here = limit * cap - scores[i, j]
            room[j] = here if here < room[j] else room[j]


@njit(cache=True, nogil=True)
def room_of_rows(height, limit, scores, above, slack):
    """How much each row may grow until a list is wrong.  O(rows), several at a time."""
    for i in range(height):
        least = np.inf
        for j in range(scores.shape[1]):
            here = limit * above[i, j] - scores[i, j]
            least = here if here < least else least
        slack[i] = least


@leaf
def take_out(order, listed, scores, j, own):
    """A list's scores go from `scores` to `own`, in the order of the list."""
    for p in range(listed):
        i = order[p]
        own[p], scores[i, j] = scores[i, j], -np.inf


@leaf
def sort_list(order, listed, k, own, term, height, scores, j, spelling):
    """The exact list from one that is nearly right, whose scores were taken out: its size.

    O(rows + listed * places that terms move by).
    """
    for i in range(-listed, height):  # first those that are listed
        if i < 0:
            p = listed + i
            row, score = np.int64(order[p]), own[p]
        else:
            row, score = np.int64(i), scores[i, j]
            if score == -np.inf:
                continue
            if listed < k:
                listed += 1
            else:
                last = order[k - 1]
                if not is_better(score, term[row], own[k - 1], term[last], spelling):
                    continue
                scores[last, j] = own[k - 1]
            scores[i, j] = -np.inf
            p = listed - 1
        while p > 0 and is_better(score, term[row], own[p - 1], term[order[p - 1]], spelling):
            order[p], own[p] = order[p - 1], own[p - 1]
            p -= 1
        order[p], own[p] = row, score
    return listed


@leaf
def put_right(order, listed, k, own, term, height, scores, above, j, spelling):
    """The exact list of a column, and the least above each row: the size of the list."""
    take_out(order, listed, scores, j, own)
    listed = sort_list(order, listed, k, own, term, height, scores, j, spelling)
    least = np.inf
    above[:, j] = NOT_LISTED
    for p in range(listed):
        i = order[p]
        scores[i, j], above[i, j] = own[p], least
        least = min(least, own[p])
    for i in range(height):
        above[i, j] = above[i, j] if above[i, j] > NOT_LISTED else least
    return listed


@leaf
def least_of(own, listed):
    """The least of a list; the last may have more, by as much as counts as equal."""
    least = np.inf
    for p in range(listed):
        least = min(least, own[p])
    return least


@njit(cache=True, nogil=True)
def widest(height, scores, most):
    """The most that each row has at any column of a block, if more.  O(rows), four at a time."""
    for i in range(height):
        largest_here = most[i]
        for j in range(scores.shape[1]):
            largest_here = max(largest_here, scores[i, j])
        most[i] = largest_here


@inner
def room_to_look(height, depth):
    """What `look_at_block` works with, in cells that have at most so many rows, and lists of so
    many terms: scores, the least above each, that of each list, the room of each, slack of rows,
    the scores of one list."""
    return (
        np.empty((height, BLOCK)), np.empty((height, BLOCK)), np.empty(BLOCK), np.empty(BLOCK),
        np.empty(height), np.empty(depth),
    )  # fmt: skip


@leaf
def score_block(cells, c, b, scores):
    """What each row has at the columns of a block.  O(rows)."""
    head = cells.head[c]
    first, row = head[FIRST_COLUMN] + b * BLOCK, head[FIRST_ROW]
    block_scores(
        head[HEIGHT], cells.field[row:], cells.piece[row >> ROWS_SHIFT :], b, cells.near,
        cells.along[first : first + BLOCK], cells.across[first : first + BLOCK], scores,
    )  # fmt: skip


@leaf
def look_at_block(cells, c, b, room, touched, spelling, rules):
    """The lists of a block are right, and limits say for how long: the lowest last score.

    `room` has what `score_block` found. O(BLOCK * rows), several at a time, O(BLOCK * listed).
    """
    head, limit, step = cells.head[c], 1.0 + rules.patience, touched.counts[STEP]
    height, depth, term = head[HEIGHT], head[DEPTH], cells.term[head[FIRST_ROW] :]
    scores, above, least, free, slack, own = room
    scores, above = scores[:height], above[:height]
    begin = b * BLOCK
    columns = cells.column[head[FIRST_COLUMN] + begin :][: min(BLOCK, head[WIDTH] - begin)]
    order = cells.order[head[ORDER] + begin * depth :]
    least_above(order, depth, columns, scores, above, least)
    least_room(height, limit, scores, above, least, free)
    # What a step has changed it leaves in the exact order, whichever term came first.
    is_again = head[LOOKED] == step
    floor = np.inf
    for j in range(len(columns)):
        column = columns[j]
        listed, k = np.int64(column[LISTED]), np.int64(column[K])
        is_short = listed < min(k, height)
        if free[j] < 0.0 or is_short or (is_again and column[STAMP] == step):
            remember(touched, cells, head, begin + j)
            mine = order[j * depth :]
            listed = put_right(mine, listed, k, own, term, height, scores, above, j, spelling)
            column[LISTED], least[j] = listed, least_of(own, listed)
        floor = min(floor, least[j] if listed == k else 0.0)
    room_of_rows(height, limit, scores, above, slack)
    for i in range(height):
        field, at = cells.field[head[FIRST_ROW] + i], near_of(cells, head, i, b)
        cells.limit[at] = field[GROWN] + slack[i]
        field[NEXT_LIMIT] = min(field[NEXT_LIMIT], cells.limit[at])
    return floor


@leaf
def next_limits(cells, c):
    """Of each row the least of its limits.  O(rows * blocks)."""
    for i in range(cells.head[c, HEIGHT]):
        next_limit(cells, c, i)


@leaf
def next_limit(cells, c, i):
    """Of a row the least of its limits.  O(blocks)."""
    head, least = cells.head[c], np.inf
    for b in range(blocks_of(head[WIDTH])):
        least = min(least, cells.limit[near_of(cells, head, i, b)])
    cells.field[head[FIRST_ROW] + i, NEXT_LIMIT] = least


@inner
def look_at_cell(cells, tree, c, touched, spelling, rules):
    """All lists of a cell are right, and it is known for how long.  O(columns * rows).

    Rows that are far from all of them go. The arrays that may be others now.
    """
    head, frame = cells.head[c], cells.frame[c]
    height, floor, most = head[HEIGHT], np.inf, np.zeros(head[HEIGHT])
    cells.field[head[FIRST_ROW] : head[FIRST_ROW] + height, GROWN] = 0.0
    touched = with_room(touched, head[WIDTH], head[WIDTH] * head[DEPTH])
    room = room_to_look(height, head[DEPTH])
    for b in range(blocks_of(head[WIDTH])):
        score_block(cells, c, b, room[0])
        widest(height, room[0], most)
        floor = min(floor, look_at_block(cells, c, b, room, touched, spelling, rules))
    frame[FLOOR] = floor
    head[LOOKED] = touched.counts[STEP]
    faded = 0
    for i in range(height):
        faded += most[i] < FADED * floor
    if faded > 0:
        tree = drop_rows(cells, tree, head, most, floor)
    next_limits(cells, c)
    settle(tree, cells, c)
    return tree, touched


@inner
def drop_rows(cells, tree, head, most, floor):
    """Rows that have too little at every column go; the tree knows how much they may grow."""
    height = head[HEIGHT]
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
            for b in range(blocks_of(head[WIDTH])):
                at, to = near_of(cells, head, i, b), near_of(cells, head, count, b)
                cells.near[to] = cells.near[at]
                cells.limit[to] = cells.limit[at]
        count += 1
    head[HEIGHT] = count
    give_pieces(cells, head, rows_up_to(count), head[COLUMNS] // BLOCK)
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


@leaf
def ask_for_list(touched, cells, n):
    """What `count_changed` reads of a list that it comes to soon is on its way."""
    lists = touched.counts[LISTS]
    if n + LISTS_AHEAD < lists:
        prefetch_row(cells.group, touched.slot[n + LISTS_AHEAD])
    soon = n + LISTS_AHEAD // 2
    if soon < lists:
        group = cells.group[touched.slot[soon]]
        head = cells.head[group[CELL]]
        prefetch_row(cells.column, head[FIRST_COLUMN] + group[COLUMN])
        prefetch_row(cells.order, head[ORDER] + group[COLUMN] * head[DEPTH])
        prefetch_row(cells.term, head[FIRST_ROW])


@leaf
def count_changed(touched, cells):
    """How many members have one of the remembered lists and another one now."""
    changed = 0
    for n in range(touched.counts[LISTS]):
        ask_for_list(touched, cells, n)
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
