"""Subscriptions come and go, documents come and are forgotten: what Python calls."""

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.trending._cycles import UPDATING, WHOLE, begins, ends
from nearcast.trending._nearby.documents import add_document, expire, move_landmark
from nearcast.trending._nearby.places import spot
from nearcast.trending._nearby.touched import CHANGED, next_step
from nearcast.trending.nearby import LONGEST_MEMORY
from nearcast.trending.term_fields import _tree as nodes
from nearcast.trending.term_fields._cells import (
    CAPACITY,
    CELLS,
    COLUMN,
    COLUMNS,
    DEPTH,
    DIRTY,
    FIRST_COLUMN,
    FIRST_ROW,
    FLOOR,
    GROUP,
    HEIGHT,
    LAT,
    LISTED,
    LON,
    MEMBERS,
    NODE,
    OF,
    ORDER,
    REACH,
    ROWS,
    ROWS_END,
    WIDTH,
    new_cell,
)
from nearcast.trending.term_fields._cells import CELL as IN_CELL
from nearcast.trending.term_fields._columns import (
    column_for,
    join,
    part,
    put_column,
    take_column,
)
from nearcast.trending.term_fields._due import clean
from nearcast.trending.term_fields._geometry import (
    place_middle,
)
from nearcast.trending.term_fields._lists import (
    column_scores,
    count_changed,
)
from nearcast.trending.term_fields._room import (
    copy_rows,
    scale_near,
    tidy,
    with_columns,
    with_spare_rows,
)
from nearcast.trending.term_fields._rows import build
from nearcast.trending.term_fields._spread import spread, welcome
from nearcast.trending.term_fields._tree import (
    AXIS,
    CELL,
    LEFT,
    NODES,
    PARENT,
    RIGHT,
    SPLIT,
    begin_again,
    leaf_of,
    new_leaf,
    reach_out,
)

DEEPEST = 200  # nodes above one another: places that are so uneven stay together
UNBUILT = -1.0  # as the reach of a cell whose rows do not fit its columns


# ---------------------------------------------------------------- subscriptions


@inner
def keep_side(cells, c, axis, value, right, rules):
    """Of a cell's columns those on one side stay, without what they have.  O(columns)."""
    head = cells.head[c]
    first, order, depth = head[FIRST_COLUMN], head[ORDER], head[DEPTH]
    kept = 0
    for j in range(head[WIDTH]):
        place = spot(cells.at[first + j, LON], cells.at[first + j, LAT], rules.on_earth)
        if (place[axis] > value) != right:
            continue
        cells.column[first + kept] = cells.column[first + j]
        cells.at[first + kept] = cells.at[first + j]
        for p in range(cells.column[first + j, LISTED]):
            cells.order[order + kept * depth + p] = cells.order[order + j * depth + p]
        g = cells.column[first + kept, GROUP]
        cells.group[g, IN_CELL], cells.group[g, COLUMN] = c, kept
        kept += 1
    head[WIDTH] = kept


@inner
def depth_of(tree, node):
    """How many nodes are above one."""
    depth = 0
    while tree.link[node, PARENT] >= 0:
        node = tree.link[node, PARENT]
        depth += 1
    return depth


@inner
def divide(cells, tree, c, rules):
    """A cell with too many columns becomes two, in the middle of the longest extent.

    Both are to be built afterwards. The arrays. All columns at one spot stay together.
    """
    head = cells.head[c]
    first, node = head[FIRST_COLUMN], head[NODE]
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for j in range(first, first + head[WIDTH]):
        place = spot(cells.at[j, LON], cells.at[j, LAT], rules.on_earth)
        for axis in range(3):
            value = place[axis]
            low[axis], high[axis] = min(low[axis], value), max(high[axis], value)
    longest = 0
    for axis in range(1, 3):
        if high[axis] - low[axis] > high[longest] - low[longest]:
            longest = axis
    value = low[longest] + (high[longest] - low[longest]) / 2.0
    if value >= high[longest] or depth_of(tree, node) > DEEPEST:
        return cells, tree
    place_middle(cells, c, rules)
    begin_again(tree, cells, c)  # it is the ball of both from now on
    cells = new_cell(with_spare_rows(cells, cells.head[c, ROWS]))
    other = cells.ends[CELLS] - 1
    cells.head[other] = cells.head[c]
    cells.frame[other] = cells.frame[c]
    cells.head[other, DIRTY] = 0
    cells = with_columns(cells, other, cells.head[c, COLUMNS], cells.head[c, DEPTH])
    copy_rows(cells, other)
    keep_side(cells, c, longest, value, np.bool_(False), rules)
    keep_side(cells, other, longest, value, np.bool_(True), rules)
    for side in range(2):
        cell = other if side == 1 else c
        tree = new_leaf(tree, node, cell)
        leaf = tree.counts[NODES] - 1
        tree.ball[leaf] = tree.ball[node]
        tree.link[node, RIGHT if side == 1 else LEFT] = leaf
        cells.head[cell, NODE] = leaf
        cells.frame[cell, REACH] = UNBUILT
    tree.link[node, AXIS], tree.link[node, CELL] = longest, -1
    tree.ball[node, SPLIT] = value
    return cells, tree


@njit(cache=True, nogil=True)
def subscribe_all(state, slot, k, at, spelling, rules):
    """New subscriptions, and their cells are built from the documents: the state."""
    documents, cells, tree, touched = state
    next_step(touched)
    if cells.ends[CELLS] == 0:
        cells = new_cell(cells)
        tree = new_leaf(tree, np.int64(-1), np.int64(0))
        cells.frame[0, REACH] = UNBUILT
    for n in range(len(slot)):
        lon, lat = at[n, 0], at[n, 1]
        x, y, z = spot(lon, lat, rules.on_earth)
        node = leaf_of(tree, x, y, z)
        c = np.int64(tree.link[node, CELL])
        j = column_for(cells, c, k[n], lon, lat)
        if j >= 0:
            join(cells, cells.column[cells.head[c, FIRST_COLUMN] + j, GROUP], slot[n])
            continue
        cells = put_column(cells, c, k[n], lon, lat)
        at_end = cells.head[c, FIRST_COLUMN] + cells.head[c, WIDTH] - 1
        join(cells, cells.column[at_end, GROUP], slot[n])
        cells.frame[c, REACH] = UNBUILT
        if cells.head[c, WIDTH] > CAPACITY:
            cells, tree = divide(cells, tree, c, rules)
        reach_out(tree, leaf_of(tree, x, y, z), x, y, z, rules.on_earth)
    for c in range(cells.ends[CELLS]):
        if cells.frame[c, REACH] < 0.0:
            cells, touched = build(cells, tree, c, documents, touched, rules)
    cells = tidy(cells)
    tree, touched = clean(cells, tree, touched, spelling, rules)
    return documents, cells, tree, touched


@njit(cache=True, nogil=True)
def unsubscribe_one(cells, slot):
    """A subscription goes."""
    g = part(cells, slot)
    if cells.group[g, MEMBERS] == 0:
        take_column(cells, g)


# ---------------------------------------------------------------- documents


@inner
def pass_time(state, now, spelling, rules):
    """What is too old is forgotten, and the landmark moves when it is long past.  The state."""
    documents, cells, tree, touched = state
    expired = expire(documents, now)
    if len(expired) > 0:
        for t in expired:
            documents.mark[t] = -1
        for c in range(cells.ends[CELLS]):
            head = cells.head[c]
            for i in range(head[FIRST_ROW], head[FIRST_ROW] + head[HEIGHT]):
                if documents.mark[cells.term[i]] < 0:
                    cells, touched = build(cells, tree, c, documents, touched, rules)
                    break
        for t in expired:
            documents.mark[t] = 0
        tree, touched = clean(cells, tree, touched, spelling, rules)
    scale = move_landmark(documents, now)
    if scale != 1.0:
        cells.field[: cells.ends[ROWS_END]] *= scale
        scale_near(cells, scale)
        cells.frame[: cells.ends[CELLS], FLOOR] *= scale
        for node in range(tree.counts[NODES]):
            tree.ball[node, nodes.FLOOR] *= scale
        for at in range(len(tree.known)):
            if tree.known[at, nodes.SPARE] > 0.0:
                tree.known[at, nodes.SPARE] *= scale
    return documents, cells, tree, touched


@inner
def arrive(state, lon, lat, moment, term, times, spelling, rules):
    """A document: into rows, and its terms into cells.  The state."""
    documents, cells, tree, touched = state
    documents, weight = add_document(documents, lon, lat, moment, term, times, rules)
    if cells.ends[CELLS] == 0:
        return documents, cells, tree, touched
    x, y, z = spot(lon, lat, rules.on_earth)
    for j in range(len(term)):
        documents.mark[term[j]] = times[j]
    spread(cells, documents, touched, lon, lat, x, y, z, weight, rules)
    for j in range(len(term)):
        documents.mark[term[j]] = 0
    for j in range(len(term)):
        documents, cells, tree, touched = welcome(
            (documents, cells, tree, touched), term[j], times[j] * weight, x, y, z, spelling, rules
        )
    began = begins(touched.counts)
    tree, touched = clean(cells, tree, touched, spelling, rules)
    ends(touched.counts, UPDATING, began)
    return documents, cells, tree, touched


@njit(cache=True, nogil=True)
def publish_all(
    state, moment, now, at, term_start, term, times, until, is_one_step, spelling, rules
):  # fmt: skip
    """Documents one after the other, and after them it is `until`: (the state, how many lists each
    has changed).  With the last document all lists of the step are in `touched`. Where
    `is_one_step`, all documents are one step, and nothing is counted."""
    documents, cells, tree, touched = state
    changed = np.zeros(len(moment), np.int32)
    next_step(touched)
    for i in range(len(moment)):
        began = begins(touched.counts)
        if i > 0 and not is_one_step:
            next_step(touched)
        documents, cells, tree, touched = pass_time(
            (documents, cells, tree, touched), now[i], spelling, rules
        )
        begin, end = term_start[i], term_start[i + 1]
        if moment[i] <= now[i] - LONGEST_MEMORY:
            end = begin  # so late that it was forgotten before it came
        documents, cells, tree, touched = arrive(
            (documents, cells, tree, touched), at[i, 0], at[i, 1], moment[i], term[begin:end],
            times[begin:end], spelling, rules,
        )  # fmt: skip
        if not is_one_step:
            changed[i] = count_changed(touched, cells)
            touched.counts[CHANGED] += changed[i]
        ends(touched.counts, WHOLE, began)
    if len(moment) == 0:
        documents, cells, tree, touched = pass_time(
            (documents, cells, tree, touched), until, spelling, rules
        )
    return (documents, cells, tree, touched), changed


# ---------------------------------------------------------------- looking up, tidying


@njit(cache=True, nogil=True)
def read_list(cells, slot, term, score):
    """The list of a subscription, in weights: how many terms.  O(rows)."""
    return list_of_group(cells, cells.member[slot, OF], term, score)


@njit(cache=True, nogil=True)
def read_lists(cells, groups):
    """The lists of these groups: where each begins, and the end of all; terms; and weights."""
    start = np.zeros(len(groups) + 1, np.int64)
    for n in range(len(groups)):
        group = cells.group[groups[n]]
        listed = cells.column[cells.head[group[IN_CELL], FIRST_COLUMN] + group[COLUMN], LISTED]
        start[n + 1] = start[n] + listed
    term, score = np.empty(start[-1], np.int32), np.empty(start[-1])
    for n in range(len(groups)):
        list_of_group(cells, groups[n], term[start[n] :], score[start[n] :])
    return start, term, score


@inner
def list_of_group(cells, g, term, score):
    """The list of a group, in weights: how many terms.  O(rows)."""
    group = cells.group[g]
    c, j = group[IN_CELL], group[COLUMN]
    head = cells.head[c]
    scores = np.empty(head[HEIGHT])
    column_scores(cells, c, j, scores)
    listed = cells.column[head[FIRST_COLUMN] + j, LISTED]
    most = 0.0
    for p in range(listed - 1, -1, -1):
        row = cells.order[head[ORDER] + j * head[DEPTH] + p]
        most = max(most, scores[row])
        term[p], score[p] = cells.term[head[FIRST_ROW] + row], most
    return listed


@njit(cache=True, nogil=True)
def mark_rows(cells, is_row):
    """Which terms are rows?"""
    for c in range(cells.ends[CELLS]):
        head = cells.head[c]
        for i in range(head[FIRST_ROW], head[FIRST_ROW] + head[HEIGHT]):
            is_row[cells.term[i]] = True


@njit(cache=True, nogil=True)
def renumber_terms(cells, tree, new):
    """Terms have new numbers; what is known of terms is found out again."""
    for c in range(cells.ends[CELLS]):
        head = cells.head[c]
        for i in range(head[FIRST_ROW], head[FIRST_ROW] + head[HEIGHT]):
            cells.term[i] = new[cells.term[i]]
    tree.known[:, nodes.KEY] = -1.0
    tree.counts[nodes.ENTRIES] = 0
