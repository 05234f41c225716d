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
    STAMP,
    WIDTH,
    K,
    blocks_of,
    near_of,
)
from nearcast.trending.term_fields._tree import (
    MARGIN,
    no_longer_row,
    put_spare,
    settle,
    with_entries,
)

NUMBERS_OF_A_LINE = 8  # of the cache
FADED = 0.6  # of the lowest last score of the cell: what has less everywhere is a row no longer


@leaf
def column_scores(cells, c, j, scores):
    """What each row has at a column.  O(rows)."""
    head = cells.head[c]
    at = head[FIRST_COLUMN] + j
    u, v = cells.along[at], cells.across[at]
    for i in range(head[HEIGHT]):
        field = cells.field[head[FIRST_ROW] + i]
        near = cells.near[near_of(cells.piece, head, i, j), j % BLOCK]
        scores[i] = (
            near + field[0] + field[1] * u + field[2] * v
            + field[3] * u * u + field[4] * u * v + field[5] * v * v
        )  # fmt: skip


@njit(cache=True, nogil=True, fastmath={"contract"})
def block_scores(height, field, near, along, across, scores):
    """What each row has at the columns of a block, also at vacant ones.  O(rows), four at a time.

    Arrays begin where the cell and the block do.
    """
    for i in range(height):
        c0, c1, c2 = field[i, 0], field[i, 1], field[i, 2]
        c3, c4, c5 = field[i, 3], field[i, 4], field[i, 5]
        for j in range(len(along)):
            u, v = along[j], across[j]
            scores[i, j] = near[i, j] + c0 + (c1 + c3 * u + c4 * v) * u + (c2 + c5 * v) * v


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


@leaf
def take_out(order, listed, scores, j, limit, own):
    """A list's scores go from `scores` to `own`, in the order of the list.

    `limit` times the least of them, or -1 where one has more than that of one above it.
    """
    least, right = np.inf, True
    for p in range(listed):
        i = order[p]
        score = scores[i, j]
        own[p], scores[i, j] = score, -np.inf
        right &= score <= limit * least
        least = min(least, score)
    return limit * least if right else -1.0


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
def narrow(order, listed, own, limit, slack):
    """Rows of a list may grow up to `limit` times the least above them: the least of all."""
    least = np.inf
    for p in range(listed):
        i = order[p]
        slack[i] = min(slack[i], limit * least - own[p])
        least = min(least, own[p])
    return least


@njit(cache=True, nogil=True)
def largest(height, scores, most):
    """The most that any row has at each column of a block.  O(rows), four at a time."""
    most[:] = -np.inf
    for i in range(height):
        for j in range(scores.shape[1]):
            most[j] = max(most[j], scores[i, j])


@njit(cache=True, nogil=True)
def widest(height, scores, most):
    """The most that each row has at any column of a block, if more.  O(rows), four at a time."""
    for i in range(height):
        largest_here = most[i]
        for j in range(scores.shape[1]):
            largest_here = max(largest_here, scores[i, j])
        most[i] = largest_here


@njit(cache=True, nogil=True)
def narrow_others(height, scores, caps, slack):
    """Rows that are in no list may grow up to the caps of columns.  O(rows), four at a time."""
    for i in range(height):
        least = slack[i]
        for j in range(scores.shape[1]):
            least = min(least, caps[j] - scores[i, j])
        slack[i] = least


@inner
def room_to_look(cells, c):
    """What `look_at_block` works with: scores, those of lists, caps, the most outside, slack."""
    height, depth = cells.head[c, HEIGHT], cells.head[c, DEPTH]
    return (
        np.empty((height, BLOCK)), np.empty((BLOCK, depth)), np.empty(BLOCK), np.empty(BLOCK),
        np.empty(height),
    )  # fmt: skip


@leaf
def score_block(cells, c, b, scores):
    """What each row has at the columns of a block.  O(rows)."""
    head = cells.head[c]
    first, row = head[FIRST_COLUMN] + b * BLOCK, head[FIRST_ROW]
    near = near_of(cells.piece, head, 0, b * BLOCK)
    block_scores(
        head[HEIGHT], cells.field[row:], cells.near[near:], cells.along[first : first + BLOCK],
        cells.across[first : first + BLOCK], scores,
    )  # fmt: skip


@leaf
def look_at_block(cells, c, b, room, touched, spelling, rules):
    """The lists of a block are right, and limits say for how long: the lowest last score.

    `room` has what `score_block` found. O(BLOCK * rows), several at a time, O(BLOCK * listed).
    """
    scores, own, caps, most, slack = room
    head, limit, step = cells.head[c], 1.0 + rules.patience, touched.counts[STEP]
    height, first, depth = head[HEIGHT], head[FIRST_COLUMN], head[DEPTH]
    begin, end = b * BLOCK, min((b + 1) * BLOCK, head[WIDTH])
    # What a step has changed it leaves in the exact order, whichever term came first.
    is_again = head[LOOKED] == step
    caps[:] = np.inf
    slack[:] = np.inf
    for j in range(begin, end):
        order, column = cells.order[head[ORDER] + j * depth :], cells.column[first + j]
        listed = np.int64(column[LISTED])
        caps[j - begin] = take_out(order, listed, scores, j - begin, limit, own[j - begin])
        if listed < min(np.int64(column[K]), height):
            caps[j - begin] = -1.0
    largest(height, scores, most)
    floor, term = np.inf, cells.term[head[FIRST_ROW] :]
    for j in range(begin, end):
        order, column = cells.order[head[ORDER] + j * depth :], cells.column[first + j]
        mine, k = own[j - begin], np.int64(column[K])
        is_wrong = caps[j - begin] < 0.0 or most[j - begin] > caps[j - begin]
        if is_wrong or (is_again and column[STAMP] == step):
            remember(touched, cells, head, j)
            column[LISTED] = sort_list(
                order, np.int64(column[LISTED]), k, mine, term, height, scores, j - begin, spelling
            )
        least = narrow(order, np.int64(column[LISTED]), mine, limit, slack)
        caps[j - begin] = limit * least
        floor = min(floor, least if column[LISTED] == k else 0.0)
    narrow_others(height, scores, caps, slack)
    at = near_of(cells.piece, head, 0, b * BLOCK)
    for i in range(height):
        cells.limit[at + i] = slack[i]
    return floor


@leaf
def next_limits(cells, c):
    """Of each row the least of its limits.  O(rows * blocks)."""
    head, field = cells.head[c], cells.field
    first, height = head[FIRST_ROW], head[HEIGHT]
    field[first : first + height, NEXT_LIMIT] = np.inf
    for b in range(blocks_of(head[WIDTH])):
        at = near_of(cells.piece, head, 0, b * BLOCK)
        for i in range(height):
            field[first + i, NEXT_LIMIT] = min(field[first + i, NEXT_LIMIT], cells.limit[at + i])


@leaf
def is_due(cells, c, b):
    """Has a row of the cell grown past the limit of a block?  Limits are as of now then.  O(rows).

    What rows have grown may be many times what they have, where a cell is wide; so it is taken from
    limits, and is 0 again, before it is too large to be told apart from it plus a little.
    """
    head = cells.head[c]
    first, at = head[FIRST_ROW], near_of(cells.piece, head, 0, b * BLOCK)
    due = False
    for i in range(head[HEIGHT]):
        cells.limit[at + i] -= cells.field[first + i, GROWN]
        due |= cells.limit[at + i] < 0.0
    return due


@leaf
def ask_for(cells, head, b):
    """What is read of a block is on its way from now on.  O(rows)."""
    first, near = head[FIRST_COLUMN] + b * BLOCK, near_of(cells.piece, head, 0, b * BLOCK)
    half = cells.near[:, NUMBERS_OF_A_LINE:]
    for at in range(near, near + head[HEIGHT]):
        prefetch_row(cells.near, at)
        prefetch_row(half, at)
    for j in range(first, first + BLOCK, NUMBERS_OF_A_LINE):
        prefetch_row(cells.along, j)
        prefetch_row(cells.across, j)
        prefetch_row(cells.column, j)
        prefetch_row(cells.column, j + NUMBERS_OF_A_LINE // 2)
    order = head[ORDER] + b * BLOCK * head[DEPTH]
    for at in range(order, order + BLOCK * head[DEPTH], 4 * NUMBERS_OF_A_LINE):
        prefetch_row(cells.order, at)


@inner
def look_at_blocks(cells, c, touched, spelling, rules):
    """All lists are right again, when only rows beyond a limit have grown too much.

    O(rows * blocks), and O(columns * rows) of the blocks whose limit it is.
    """
    head = cells.head[c]
    touched = with_room(touched, head[WIDTH], head[WIDTH] * head[DEPTH])
    room = room_to_look(cells, c)
    due, count = np.empty(blocks_of(head[WIDTH]), np.int64), 0
    for b in range(len(due)):
        due[count] = b
        if is_due(cells, c, b):
            ask_for(cells, head, b)
            count += 1
    cells.field[head[FIRST_ROW] : head[FIRST_ROW] + head[HEIGHT], GROWN] = 0.0
    for b in due[:count]:
        score_block(cells, c, b, room[0])
        look_at_block(cells, c, b, room, touched, spelling, rules)
    next_limits(cells, c)
    return touched


@inner
def look_at_cell(cells, tree, c, touched, spelling, rules):
    """All lists of a cell are right, and it is known for how long.  O(columns * rows).

    Rows that are far from all of them go. The arrays that may be others now.
    """
    head, frame = cells.head[c], cells.frame[c]
    height, floor, most = head[HEIGHT], np.inf, np.zeros(head[HEIGHT])
    cells.field[head[FIRST_ROW] : head[FIRST_ROW] + height, GROWN] = 0.0
    touched = with_room(touched, head[WIDTH], head[WIDTH] * head[DEPTH])
    room = room_to_look(cells, c)
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
                at = near_of(cells.piece, head, 0, b * BLOCK)
                cells.near[at + count] = cells.near[at + i]
                cells.limit[at + count] = cells.limit[at + i]
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
