"""Which terms are rows of a cell, and what documents give them."""

import math

import numpy as np
from numba import njit

from nearcast.inner import inner, leaf
from nearcast.trending._nearby import documents as columns_of
from nearcast.trending._nearby.documents import HELD, LOST, MASS, START, WEIGHT
from nearcast.trending._nearby.places import LONG_ANGLE, curvature_of, short_way, way
from nearcast.trending._nearby.touched import COMPUTED, REFILLED, with_room
from nearcast.trending.term_fields._cells import (
    ALL_LISTS,
    BLOCK,
    COLUMN,
    COLUMNS,
    DEPTH,
    FIRST_COLUMN,
    FIRST_ROW,
    GROUP,
    HEIGHT,
    LISTED,
    NEXT_LIMIT,
    ORDER,
    REACH,
    ROWS,
    SOME_LISTS,
    WIDTH,
    K,
    U,
    V,
    X,
    Y,
    Z,
    blocks_of,
    near_of,
    rows_up_to,
    soil,
)
from nearcast.trending.term_fields._geometry import (
    coefficients,
    far_field,
    has_fields,
    is_far,
    is_smooth,
    near_columns,
    place_middle,
    seen_from,
    short_turn,
)
from nearcast.trending.term_fields._lists import remember, renumber
from nearcast.trending.term_fields._room import (
    give_pieces,
    with_columns,
    with_piece,
    with_rows,
)
from nearcast.trending.term_fields._tree import MARGIN, SHORT, begin_again

TOGETHER = 64  # documents whose weights and spots are side by side
MANY = 256  # rows
TINY = 1e-300
BEYOND = -1.0  # as the limit of a row that was not looked at yet


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


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def add_far_ones(count, group, frame, a, curvature, field_error, field):
    """Documents that are far, but no LONG_WAY, are added to a field.  Several at a time.

    `group` has their spots, in rows, and their weights; the weight of one that is added is 0 then.
    """
    x, y, z, weights = group[0], group[1], group[2], group[3]
    f0, f1, f2, f3, f4, f5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for n in range(count):
        dx, dy, dz = x[n] - frame[X], y[n] - frame[Y], z[n] - frame[Z]
        straight = math.sqrt(dx * dx + dy * dy + dz * dz)
        far = short_way(straight, curvature)
        is_field = is_smooth(far, frame[REACH], a, field_error) & (
            straight * curvature < LONG_ANGLE
        )
        weight = weights[n] if is_field else 0.0
        weights[n] = 0.0 if is_field else weights[n]
        far = far if is_field else 1.0
        u = dx * frame[U] + dy * frame[U + 1] + dz * frame[U + 2]
        v = dx * frame[V] + dy * frame[V + 1] + dz * frame[V + 2]
        across = 1.0 / max(math.sqrt(u * u + v * v), TINY)
        value = 1.0 / (a + far)
        turn = short_turn(value * value / far, far * curvature)
        c0, c1, c2, c3, c4, c5 = coefficients(value, turn, u * across, v * across)
        f0 += weight * c0
        f1 += weight * c1
        f2 += weight * c2
        f3 += weight * c3
        f4 += weight * c4
        f5 += weight * c5
    field[0] += f0
    field[1] += f1
    field[2] += f2
    field[3] += f3
    field[4] += f4
    field[5] += f5


@inner
def fill_row(cells, c, i, documents, rules):
    """A row from the documents of its term alone.  O(documents), and columns for near ones."""
    head, frame = cells.head[c], cells.frame[c]
    blocks = blocks_of(head[WIDTH])
    field = cells.field[head[FIRST_ROW] + i]
    term = cells.term[head[FIRST_ROW] + i]
    field[:] = 0.0
    field[NEXT_LIMIT] = BEYOND
    for b in range(blocks):
        at = near_of(cells, head, i, b)
        cells.near[at] = 0.0
        cells.limit[at] = BEYOND
    own, group, place = np.empty(blocks * BLOCK), np.empty((4, TOGETHER)), documents.place
    begin = documents.lists[term, START]
    end = begin + documents.lists[term, HELD]
    while begin < end:
        count = min(TOGETHER, end - begin)
        for n in range(count):
            d = documents.doc[begin + n]
            group[0, n], group[1, n] = place[d, columns_of.X], place[d, columns_of.Y]
            group[2, n] = place[d, columns_of.Z]
            group[3, n] = documents.times[begin + n] * place[d, WEIGHT]
        if has_fields(frame[REACH], rules):
            curvature = curvature_of(rules.on_earth)
            add_far_ones(count, group, frame, rules.a, curvature, rules.field_error, field)
        for n in range(count):
            if group[3, n] > 0.0:
                d = documents.doc[begin + n]
                add_one(cells, c, i, place[d], group[3, n], rules, own)
        begin += count


@leaf
def add_one(cells, c, i, place, weight, rules, own):
    """A document for a row, wherever it is.  O(1), O(columns) for a near one."""
    head, frame = cells.head[c], cells.frame[c]
    x, y, z = place[columns_of.X], place[columns_of.Y], place[columns_of.Z]
    far, u, v = seen_from(frame, x, y, z, rules.on_earth)
    if is_far(far, frame[REACH], rules):
        add_to_field(cells.field[head[FIRST_ROW] + i], weight, far, u, v, rules)
        return
    lon, lat = place[columns_of.LON], place[columns_of.LAT]
    near_columns(cells, c, lon, lat, x, y, z, far, rules, own)
    for j in range(head[WIDTH]):
        cells.near[near_of(cells, head, i, j // BLOCK), j % BLOCK] += weight * own[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def most_of_some(doc, times, place, x, y, z, radius, a, curvature):
    """More than documents count anywhere within `radius` of a spot.  Several at a time.

    Those that are a LONG_WAY off are taken for nearer than they are.
    """
    total = 0.0
    for n in range(len(doc)):
        d = np.uint64(doc[n])
        dx = place[d, columns_of.X] - x
        dy = place[d, columns_of.Y] - y
        dz = place[d, columns_of.Z] - z
        far = short_way(math.sqrt(dx * dx + dy * dy + dz * dz), curvature) * SHORT
        total += times[n] * place[d, WEIGHT] / (a + max(0.0, far - radius))
    return total


@leaf
def most_within(documents, term, x, y, z, radius, enough, rules):
    """More than a term has anywhere within `radius` of a spot, or `enough`.  O(documents)."""
    start, total, curvature = documents.lists[term, START], 0.0, curvature_of(rules.on_earth)
    enough /= 1.0 + rules.patience
    end = start + documents.lists[term, HELD]
    while end > start and total <= enough:  # heavy ones first
        begin = max(start, end - TOGETHER)
        total += most_of_some(
            documents.doc[begin:end], documents.times[begin:end], documents.place, x, y, z, radius,
            rules.a, curvature,
        )  # fmt: skip
        end = begin
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
        # What moves whenever it is full has some to spare, or it moves all the time.
        rows = rows_up_to(head[HEIGHT] + 1 + max(np.int64(0), head[HEIGHT] - MANY) // 8)
        cells = with_rows(cells, c, rows)
        depth = min(deepest(cells, head), rows)
        if depth > head[DEPTH]:
            cells = with_columns(cells, c, head[COLUMNS], depth)
    i = head[HEIGHT]
    cells = with_piece(cells, c, i)
    head[HEIGHT] = i + 1
    cells.term[head[FIRST_ROW] + i] = term
    fill_row(cells, c, i, documents, rules)
    touched.counts[COMPUTED] += head[WIDTH]
    soil(cells, c, SOME_LISTS)
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
def side_by_side(cells, c):
    """The columns of a cell in the order of blocks of neighbours: in strips, and within a strip
    from one end to the other.  O(columns * log(columns))."""
    head = cells.head[c]
    first, width, depth = head[FIRST_COLUMN], head[WIDTH], head[DEPTH]
    begin, end = head[ORDER], head[ORDER] + width * depth
    blocks = blocks_of(width)
    strip = blocks_of(np.int64(width / math.sqrt(blocks))) * BLOCK
    by_place = np.argsort(cells.along[first : first + width])
    for left in range(0, width, strip):
        mine = by_place[left : left + strip]
        mine[:] = mine[np.argsort(cells.across[first + mine])]
    cells.column[first : first + width] = cells.column[first + by_place]
    cells.at[first : first + width] = cells.at[first + by_place]
    cells.along[first : first + width] = cells.along[first + by_place]
    cells.across[first : first + width] = cells.across[first + by_place]
    order = cells.order[begin:end].copy()
    for j in range(width):
        source = by_place[j] * depth
        cells.order[begin + j * depth : begin + (j + 1) * depth] = order[source : source + depth]
        cells.group[cells.column[first + j, GROUP], COLUMN] = j
    cells.along[first + width : first + head[COLUMNS]] = 0.0  # vacant ones have numbers as well
    cells.across[first + width : first + head[COLUMNS]] = 0.0


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
    side_by_side(cells, c)
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
    touched = with_room(touched, head[WIDTH], head[WIDTH] * head[DEPTH])
    for j in range(head[WIDTH]):
        for p in range(cells.column[head[FIRST_COLUMN] + j, LISTED]):
            if new[cells.order[head[ORDER] + j * head[DEPTH] + p]] < 0:
                remember(touched, cells, head, j)
    renumber(cells, head, new)
    head[HEIGHT] = 0
    give_pieces(cells, head, 0, head[COLUMNS] // BLOCK)
    rows, columns = rows_up_to(height), blocks_of(head[WIDTH]) * BLOCK
    depth = min(deepest(cells, head), rows)
    if columns != head[COLUMNS] or depth != head[DEPTH]:
        cells = with_columns(cells, c, columns, depth)
    if rows != head[ROWS]:
        cells = with_rows(cells, c, rows)
    cells.term[head[FIRST_ROW] : head[FIRST_ROW] + height] = more[:height]
    head[HEIGHT] = height
    for i in range(height):
        cells = with_piece(cells, c, i)
        fill_row(cells, c, i, documents, rules)
    touched.counts[REFILLED] += head[WIDTH]
    begin_again(tree, cells, c)
    soil(cells, c, ALL_LISTS)
    return cells, touched
