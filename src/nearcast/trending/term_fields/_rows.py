"""Which terms are rows of a cell, and what documents give them."""

import numpy as np

from nearcast.inner import inner, leaf
from nearcast.trending._nearby import documents as columns_of
from nearcast.trending._nearby.documents import HELD, LOST, MASS, START, WEIGHT
from nearcast.trending._nearby.places import way
from nearcast.trending._nearby.touched import COMPUTED, REFILLED
from nearcast.trending.term_fields._cells import (
    ALL_LISTS,
    COLUMNS,
    DEPTH,
    FIRST_COLUMN,
    FIRST_ROW,
    HEIGHT,
    LISTED,
    NEAR,
    ORDER,
    REACH,
    ROWS,
    WIDTH,
    K,
    X,
    Y,
    Z,
    column_distance,
    far_field,
    is_far,
    place_middle,
    resized,
    rows_up_to,
    seen_from,
    soil,
)
from nearcast.trending.term_fields._lists import remember, renumber
from nearcast.trending.term_fields._tree import MARGIN, SHORT, begin_again


@leaf
def add_to_field(field, weight, far, u, v, rules):
    """A document far off, for a row."""
    c0, c1, c2, c3, c4, c5 = far_field(far, u, v, rules)
    field[0] += weight * c0
    field[1] += weight * c1
    field[2] += weight * c2
    field[3] += weight * c3
    field[4] += weight * c4
    field[5] += weight * c5


@leaf
def fill_row(cells, c, i, documents, rules):
    """A row from the documents of its term alone.  O(documents), and columns for near ones."""
    head, frame = cells.head[c], cells.frame[c]
    first, near = head[FIRST_COLUMN], head[NEAR] + i * head[COLUMNS]
    field = cells.field[head[FIRST_ROW] + i]
    term = cells.term[head[FIRST_ROW] + i]
    field[:] = 0.0
    cells.near[near : near + head[WIDTH]] = 0.0
    start, place = documents.lists[term, START], documents.place
    for p in range(start, start + documents.lists[term, HELD]):
        d = documents.doc[p]
        weight = documents.times[p] * place[d, WEIGHT]
        x, y, z = place[d, columns_of.X], place[d, columns_of.Y], place[d, columns_of.Z]
        far, u, v = seen_from(frame, x, y, z, rules.on_earth)
        if is_far(far, frame[REACH], rules):
            add_to_field(field, weight, far, u, v, rules)
            continue
        lon, lat = place[d, columns_of.LON], place[d, columns_of.LAT]
        for j in range(head[WIDTH]):
            cells.near[near + j] += weight / (
                rules.a + column_distance(cells, first + j, lon, lat, x, y, z, rules)
            )


@leaf
def most_within(documents, term, x, y, z, radius, enough, rules):
    """More than a term has anywhere within `radius` of a spot, or `enough`.  O(documents)."""
    start, total, place = documents.lists[term, START], 0.0, documents.place
    enough /= 1.0 + rules.patience
    for p in range(start + documents.lists[term, HELD] - 1, start - 1, -1):  # heavy ones first
        d = documents.doc[p]
        far = way(
            place[d, columns_of.X] - x, place[d, columns_of.Y] - y, place[d, columns_of.Z] - z,
            rules.on_earth,
        )  # fmt: skip
        total += documents.times[p] * place[d, WEIGHT] / (rules.a + max(0.0, far * SHORT - radius))
        if total > enough:
            break
    return total * (1.0 + abs(rules.patience))


@leaf
def deepest(cells, head):
    """The largest k of a cell."""
    most = 0
    for j in range(head[FIRST_COLUMN], head[FIRST_COLUMN] + head[WIDTH]):
        most = max(most, np.int64(cells.column[j, K]))
    return most


@leaf
def row_of(cells, c, term):
    """The row of a term in a cell, -1 for none.  O(rows)."""
    head = cells.head[c]
    for i in range(head[FIRST_ROW], head[FIRST_ROW] + head[HEIGHT]):
        if cells.term[i] == term:
            return i - head[FIRST_ROW]
    return np.int64(-1)


@inner
def add_row(cells, c, term, documents, touched, rules):
    """One more term that may come into the lists of a cell: the arrays."""
    head = cells.head[c]
    if head[HEIGHT] == head[ROWS]:
        rows = rows_up_to(head[HEIGHT] + 1)
        depth = min(deepest(cells, head), rows)
        cells = resized(cells, c, head[COLUMNS], rows, max(depth, head[DEPTH]))
    i = head[HEIGHT]
    head[HEIGHT] = i + 1
    cells.term[head[FIRST_ROW] + i] = term
    fill_row(cells, c, i, documents, rules)
    touched.counts[COMPUTED] += head[WIDTH]
    soil(cells, c, ALL_LISTS)
    return cells


@inner
def fitting_terms(cells, c, documents, rules):
    """The terms that may be in lists of a cell.  O(documents of frequent terms)."""
    head, frame = cells.head[c], cells.frame[c]
    reach, place = frame[REACH], documents.place
    k = deepest(cells, head)
    best = np.zeros(k)  # the k best of the least that terms have anywhere in the cell, ascending
    terms, most = np.empty(len(documents.lists), np.int32), np.empty(len(documents.lists))
    count = 0
    for t in range(len(documents.lists)):
        held, start = documents.lists[t, HELD], documents.lists[t, START]
        all_here = (documents.sums[t, MASS] + documents.sums[t, LOST]) / rules.a
        if held == 0 or all_here <= MARGIN * best[0]:
            continue
        low, high = 0.0, 0.0
        for p in range(start, start + held):
            d = documents.doc[p]
            weight = documents.times[p] * place[d, WEIGHT]
            far = way(
                place[d, columns_of.X] - frame[X], place[d, columns_of.Y] - frame[Y],
                place[d, columns_of.Z] - frame[Z], rules.on_earth,
            )  # fmt: skip
            low += weight / (rules.a + far + reach)
            high += weight / (rules.a + max(0.0, far * SHORT - reach))
        terms[count], most[count] = t, high * (1.0 + abs(rules.patience))
        count += 1
        if low > best[0]:
            i = 0
            while i + 1 < k and best[i + 1] < low:
                best[i] = best[i + 1]
                i += 1
            best[i] = low
    kept = 0
    for n in range(count):
        if most[n] > MARGIN * best[0]:
            terms[kept] = terms[n]
            kept += 1
    return terms[:kept]


@inner
def build(cells, tree, c, documents, touched, rules):
    """A cell from its columns and the documents; lists stay as far as their terms are there.

    Its lists are to be looked at afterwards. The arrays.
    """
    head = cells.head[c]
    if head[WIDTH] == 0:
        head[HEIGHT] = 0
        soil(cells, c, ALL_LISTS)
        return cells, touched
    place_middle(cells, c, rules)
    terms = fitting_terms(cells, c, documents, rules)
    old = cells.term[head[FIRST_ROW] : head[FIRST_ROW] + head[HEIGHT]].copy()
    new = np.full(len(old), -1, np.int64)
    listed = np.zeros(len(old), np.bool_)
    for j in range(head[WIDTH]):
        for p in range(cells.column[head[FIRST_COLUMN] + j, LISTED]):
            listed[cells.order[head[ORDER] + j * head[DEPTH] + p]] = True
    more = np.empty(len(terms) + len(old), np.int32)
    height = len(terms)
    more[:height] = terms
    for i in range(len(old)):
        for n in range(len(terms)):
            if terms[n] == old[i]:
                new[i] = n
                break
        if new[i] < 0 and listed[i] and documents.lists[old[i], HELD] > 0:
            new[i] = height
            more[height] = old[i]
            height += 1
    for j in range(head[WIDTH]):
        for p in range(cells.column[head[FIRST_COLUMN] + j, LISTED]):
            if new[cells.order[head[ORDER] + j * head[DEPTH] + p]] < 0:
                touched = remember(touched, cells, head, j)
    renumber(cells, head, new)
    head[HEIGHT] = 0
    rows, columns = rows_up_to(height), head[WIDTH]
    depth = min(deepest(cells, head), rows)
    cells = resized(cells, c, columns, rows, depth)
    cells.term[head[FIRST_ROW] : head[FIRST_ROW] + height] = more[:height]
    head[HEIGHT] = height
    for i in range(height):
        fill_row(cells, c, i, documents, rules)
    touched.counts[REFILLED] += head[WIDTH]
    begin_again(tree, cells, c)
    soil(cells, c, ALL_LISTS)
    return cells, touched
