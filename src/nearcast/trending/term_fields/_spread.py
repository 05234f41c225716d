"""A document arrives: rows grow, and terms become rows of cells where they may come into a list."""

import numpy as np

from nearcast.inner import inner
from nearcast.prefetch import prefetch_row
from nearcast.trending._cycles import UPDATING, begins, ends
from nearcast.trending._nearby.documents import LOST, MASS, larger
from nearcast.trending._nearby.places import way
from nearcast.trending._nearby.touched import CANDIDATES, STEP
from nearcast.trending.term_fields import _tree as nodes
from nearcast.trending.term_fields._cells import (
    BLOCK,
    CELLS,
    FIRST_ROW,
    FLOOR,
    GROWN,
    HEIGHT,
    LOOKED,
    NEXT_LIMIT,
    REACH,
    SOME_LISTS,
    WIDTH,
    blocks_of,
    near_of,
    soil,
)
from nearcast.trending.term_fields._geometry import (
    far_field,
    is_far,
    near_columns,
    seen_from,
)
from nearcast.trending.term_fields._lists import look_at_cell
from nearcast.trending.term_fields._rows import add_row, most_within, row_of
from nearcast.trending.term_fields._tree import (
    ALL_HAVE_IT,
    CELL,
    LEFT,
    MARGIN,
    RADIUS,
    RIGHT,
    SHORT,
    ask_for_node,
    entry_of,
    known_spare,
    put_spare,
    with_entries,
)

TOGETHER = 64  # cells whose rows are asked for before the first is changed
DEEP = 512  # more than twice the depth of the tree
TRIES = 16.0  # documents until a node where the cells below had to be asked is tried again


@inner
def marked_rows(cells, documents, begin, end, found):
    """The rows of terms that are marked, in the cells begin:end: (cell << 32 | row of each, count).

    They are asked for: each is in a line of its own, and the next thing is to change them.
    """
    heads, terms, total = cells.head, cells.term, 0
    for c in range(begin, end):
        prefetch_row(terms, heads[c, FIRST_ROW])
    for c in range(begin, end):
        first, height, before = heads[c, FIRST_ROW], heads[c, HEIGHT], total
        if total + height > len(found):
            found = larger(found, 2 * (total + height))
        for i in range(height):
            found[total] = c << 32 | i
            total += documents.mark[terms[first + i]] != 0
        for n in range(before, total):
            row = first + (found[n] & 0xFFFFFFFF)
            prefetch_row(cells.field, row)
    return found, total


@inner
def spread(cells, documents, touched, lon, lat, x, y, z, weight, rules):
    """To every row of the terms that are marked.  O(rows), and columns of cells that are near."""
    own, found = np.zeros(512), np.empty(1024, np.int64)
    heads, field, nears = cells.head, cells.field, cells.near
    for begin in range(0, cells.ends[CELLS], TOGETHER):
        end = min(begin + TOGETHER, cells.ends[CELLS])
        found, total = marked_rows(cells, documents, begin, end, found)
        seen, first, width, is_field, most = np.int64(-1), np.int64(0), np.int64(0), False, 0.0
        c0, c1, c2, c3, c4, c5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for n in range(total):
            c, i = found[n] >> 32, found[n] & 0xFFFFFFFF
            if c != seen:
                seen, first, width = c, heads[c, FIRST_ROW], heads[c, WIDTH]
                frame = cells.frame[c]
                far, u, v = seen_from(frame, x, y, z, rules.on_earth)
                most = (1.0 + 2.0 * rules.field_error) / (
                    rules.a + max(0.0, far * SHORT - frame[REACH])
                )
                is_field = is_far(far, frame[REACH], rules)
                if is_field:
                    c0, c1, c2, c3, c4, c5 = far_field(far, u, v, rules)
                else:
                    if width + BLOCK > len(own):
                        own = np.zeros(2 * (width + BLOCK))
                    near_columns(cells, c, lon, lat, x, y, z, far, rules, own)
                    touched.counts[CANDIDATES] += width
            r, times = first + i, documents.mark[cells.term[first + i]]
            amount = times * weight
            if is_field:
                field[r, 0] += amount * c0
                field[r, 1] += amount * c1
                field[r, 2] += amount * c2
                field[r, 3] += amount * c3
                field[r, 4] += amount * c4
                field[r, 5] += amount * c5
            else:
                for b in range(blocks_of(width)):
                    near = near_of(cells, heads[c], i, b)
                    for j in range(BLOCK):
                        nears[near, j] += amount * own[b * BLOCK + j]
            field[r, GROWN] += amount * most
            if field[r, GROWN] > field[r, NEXT_LIMIT]:
                soil(cells, c, SOME_LISTS)


@inner
def welcome(state, term, weight, x, y, z, spelling, rules):
    """The term is a row of every cell where it may come into a list.  The state.

    O(1) where the root knows that there is none; nodes below it else.
    """
    documents, cells, tree, touched = state
    stack, bounds, above, full = (
        np.empty(DEEP, np.int64), np.empty(DEEP), np.empty(DEEP, np.int64), np.zeros(DEEP, np.int64)
    )  # fmt: skip
    everything = (documents.sums[term, MASS] + documents.sums[term, LOST]) / rules.a
    stack[0], above[0], top = 0, DEEP - 1, 1
    while top > 0:
        level = top - 1
        node = stack[level]
        if node < 0:  # both sides were looked at
            node, top = ~node, level
            tree = with_entries(tree)
            if full[level] == 2:
                full[above[level]] += 1
                put_spare(tree, node, term, ALL_HAVE_IT)
            else:
                spare = MARGIN * tree.ball[node, nodes.FLOOR] - bounds[level]
                put_spare(tree, node, term, spare if spare > 0.0 else -TRIES)
            continue
        ball = tree.ball[node]
        top = level
        if everything <= MARGIN * ball[nodes.FLOOR]:
            continue
        at = entry_of(tree, node, term)
        spare = known_spare(tree, at, node)
        if spare == ALL_HAVE_IT:
            full[above[level]] += 1
            continue
        if spare >= 0.0:
            far = way(x - ball[nodes.X], y - ball[nodes.Y], z - ball[nodes.Z], rules.on_earth)
            spare -= weight / (rules.a + max(0.0, far * SHORT - ball[RADIUS]))
            if spare >= 0.0:
                tree.known[at, nodes.SPARE] = spare
                continue
        c = np.int64(tree.link[node, CELL])
        if c >= 0 and row_of(cells, c, term) >= 0:
            full[above[level]] += 1
            continue
        bound = np.inf
        if spare < -1.0:
            tree.known[at, nodes.SPARE] = spare + 1.0
        else:
            enough = 4.0 * MARGIN * ball[nodes.FLOOR]  # floors rise when they are looked at
            bound = most_within(
                documents, term, ball[nodes.X], ball[nodes.Y], ball[nodes.Z], ball[RADIUS],
                enough, rules,
            )  # fmt: skip
            if bound > enough:
                bound = np.inf
        if bound > MARGIN * ball[nodes.FLOOR] and c >= 0:
            if cells.head[c, LOOKED] != touched.counts[STEP]:
                began = begins(touched.counts)
                tree, touched = look_at_cell(cells, tree, c, touched, spelling, rules)
                ends(touched.counts, UPDATING, began)
            if bound > MARGIN * cells.frame[c, FLOOR]:
                cells = add_row(cells, c, term, documents, touched, rules)
                full[above[level]] += 1
                continue
        if bound <= MARGIN * ball[nodes.FLOOR]:
            tree = with_entries(tree)
            put_spare(tree, node, term, MARGIN * ball[nodes.FLOOR] - bound)
            continue
        stack[level], bounds[level], full[level], top = ~node, bound, 0, level + 3
        for child, side in ((level + 1, LEFT), (level + 2, RIGHT)):
            stack[child], above[child] = tree.link[node, side], level
            ask_for_node(tree, stack[child], term)
    return documents, cells, tree, touched
