"""Lists of messages by word and cell, which any number of grids may share.

table    int64[T, 3]   open addressing by the key (word number + 1) << 20 | level << 16 | cell: key,
                       number of its list from 1 on (0: a free row), messages in it
lists                  the chunks of `ap_plus_tree._lists`, by number of the list
counts   int64[V+1]    postings of each word + 1 in a grid, live or not; counts[0] of all messages
used     int64[2]      rows of the table in use, lists

Grid number `level` has sides[level] columns and rows over the 2^15 x 2^15 places of a frame (see
`nearcast.boolean._quad._cells`). A message is, in each grid, in all cells that its place touches,
under each of its words and under none; one that touches more than MOST_TOUCHED is in the cell
LARGE instead, which every search looks at.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._quad._cells import DEPTH, cells_of_box
from nearcast.inner import inner
from nearcast.moving._flat.messages import RECTS, RECTS_AT, WORDS, WORDS_AT
from nearcast.moving._flat.verify import NOTHING, holds_earlier, longer, meets, message_holds
from nearcast.moving.ap_plus_tree._lists import (
    COUNT,
    NEXT,
    POSTINGS,
    append,
    is_live,
    posting_of,
    with_positions,
)
from nearcast.moving.ap_plus_tree._search import distinct_from
from nearcast.space._kernels import BOX, EVERYWHERE

KEY, LIST, LENGTH = range(3)
ROWS, LISTS = range(2)
MIXER = -7046029254386353131  # 2^64 / golden ratio, odd
MOST_TOUCHED, LARGE = 64, (1 << 16) - 1
MOST_CELLS = 2  # along each side: a region is looked up in the finest grid in which it has no more


class Keys(NamedTuple):
    """Which list belongs to a word and a cell; see the module docstring."""

    table: NDArray[np.int64]
    counts: NDArray[np.int64]
    used: NDArray[np.int64]


def no_keys(words: int) -> Keys:
    """No list."""
    return Keys(np.zeros((64, 3), np.int64), np.zeros(words + 1, np.int64), np.zeros(2, np.int64))


@inner
def _row(table, key):
    """The row of a key, or the free one where it belongs.  O(1) expected."""
    mask = len(table) - 1
    at = ((key * MIXER) >> 24) & mask
    while table[at, LIST] and table[at, KEY] != key:
        at = (at + 1) & mask
    return at


@inner
def _with_room(keys):
    """The keys with room for one more.  O(1) amortised."""
    if 3 * keys.used[ROWS] < 2 * len(keys.table):
        return keys
    table = np.zeros((2 * len(keys.table), 3), np.int64)
    for i in range(len(keys.table)):
        if keys.table[i, LIST]:
            table[_row(table, keys.table[i, KEY])] = keys.table[i]
    return Keys(table, keys.counts, keys.used)


@inner
def _key(word, level, cell):
    return np.int64(word) << 20 | np.int64(level) << 16 | np.int64(cell)


@njit(cache=True, nogil=True)
def insert_messages(keys, lists, frame, sides, messages, slots):
    """Add messages to all their lists.  O(words x cells) each."""
    head = messages.head
    for i in range(len(slots)):
        slot = slots[i]
        posting = posting_of(messages, slot)
        begin, count = head[slot, WORDS_AT], head[slot, WORDS]
        for level in range(len(sides)):
            side = sides[level]
            for rect in range(head[slot, RECTS_AT], head[slot, RECTS_AT] + head[slot, RECTS]):
                place = messages.rects[rect]
                x0, y0, x1, y1 = cells_of_box(frame, place[0], place[1], place[2], place[3])
                left, down = (x0 * side) >> DEPTH, (y0 * side) >> DEPTH
                width = ((x1 * side) >> DEPTH) - left + 1
                touched = width * (((y1 * side) >> DEPTH) - down + 1)
                is_large = touched > MOST_TOUCHED
                for number in range(1 if is_large else touched):
                    cell = (down + number // width) * side + left + number % width
                    for k in range(-1, count):
                        word = 0 if k < 0 else messages.words[begin + k] + 1
                        keys = _with_room(keys)
                        key = _key(word, level, LARGE if is_large else cell)
                        at = _row(keys.table, key)
                        if keys.table[at, LIST] == 0:
                            keys.used[ROWS] += 1
                            keys.used[LISTS] += 1
                            keys.table[at, KEY] = key
                            keys.table[at, LIST] = keys.used[LISTS]
                            keys.table[at, LENGTH] = 0
                            lists = with_positions(lists, keys.used[LISTS] + 1)
                        lists = append(lists, keys.table[at, LIST], posting)
                        keys.table[at, LENGTH] += 1
                        if level == 0:
                            keys.counts[word] += 1
    return keys, lists


@njit(cache=True, nogil=True)
def cell_differences(
    keys, lists, frame, sides, word_first, messages, clauses, chains, number_of, slots,
    old, old_row, old_cover, new, new_row, new_cover, is_earth,
):  # fmt: skip
    """What changes for some subscriptions: (row, sign, message slot) of each, candidates.

    Keyword first: the required word that the fewest messages have, in each cell of the region.
    Space first: in each cell the required word with the shortest list there. Cells that lie within
    both regions, if these are boxes, are passed over.
    """
    rows, signs = np.empty(1024, np.int64), np.empty(1024, np.int8)
    found = np.empty(1024, np.int32)
    total, candidates = 0, 0
    wanted = np.empty(64, np.int64)
    for i in range(len(slots)):
        begin = total
        entry = chains.first[slots[i]]
        first_entry = entry
        while entry >= 0:
            start, required = clauses.start[entry], np.int64(clauses.required[entry])
            forbidden = np.int64(clauses.forbidden[entry])
            if required + forbidden > len(wanted):
                wanted = np.empty(2 * (required + forbidden), np.int64)
            for k in range(required + forbidden):
                wanted[k] = number_of[clauses.terms[start + k]]
            rarest = 0
            for k in range(1, required):
                if keys.counts[wanted[k] + 1] < keys.counts[wanted[rarest] + 1]:
                    rarest = k
            for which in range(2):
                row_of_side = new_row[i] if which else old_row[i]
                if row_of_side == NOTHING:
                    continue
                cover = new_cover[i] if which else old_cover[i]
                x0, y0, x1, y1 = cells_of_box(frame, cover[0], cover[1], cover[2], cover[3])
                level = _finest(sides, x0, y0, x1, y1)
                side = sides[level]
                if which:
                    a0, b0, a1, b1 = _inner(frame, old, old_row[i])
                else:
                    a0, b0, a1, b1 = _inner(frame, new, new_row[i])
                left, down = (x0 * side) >> DEPTH, (y0 * side) >> DEPTH
                width = ((x1 * side) >> DEPTH) - left + 1
                touched = width * (((y1 * side) >> DEPTH) - down + 1)
                for number in range(touched + 1):
                    cell = np.int64(LARGE)
                    if number < touched:
                        column, row = left + number % width, down + number // width
                        if _is_within(a0, a1, column, side) and _is_within(b0, b1, row, side):
                            continue  # what is in this cell is in the other region too
                        cell = row * side + column
                    best, least = np.int64(-1), np.int64(-1)
                    for k in range(max(1, required)):
                        if word_first and k != rarest:
                            continue
                        word = wanted[k] + 1 if required else 0
                        at = _row(keys.table, _key(word, level, cell))
                        length = keys.table[at, LENGTH] if keys.table[at, LIST] else 0
                        if least < 0 or length < least:
                            best, least = at, length
                    if least == 0:
                        continue
                    at = lists.first[keys.table[best, LIST] + 1]
                    while at:
                        for c in range(POSTINGS, POSTINGS + lists.chunks[at, COUNT]):
                            posting = lists.chunks[at, c]
                            candidates += 1
                            if not is_live(messages, posting):
                                continue
                            slot = posting >> 32
                            if not message_holds(messages, slot, wanted, required, forbidden):
                                continue
                            was = old_row[i] != NOTHING and meets(
                                old, old_row[i], is_earth, messages, slot
                            )
                            is_now = new_row[i] != NOTHING and meets(
                                new, new_row[i], is_earth, messages, slot
                            )
                            if was == is_now or is_now != (which == 1):
                                continue
                            if entry != first_entry and holds_earlier(
                                messages, slot, clauses, chains, number_of, first_entry, entry
                            ):
                                continue
                            if total == len(found):
                                rows = longer(rows, 2 * total)
                                signs = longer(signs, 2 * total)
                                found = longer(found, 2 * total)
                            rows[total], signs[total] = i, 2 * which - 1
                            found[total] = slot
                            total += 1
                        at = lists.chunks[at, NEXT]
            entry = chains.following[entry]
        total = distinct_from(signs, found, begin, total)
    return rows[:total], signs[:total], found[:total], candidates


@inner
def _finest(sides, x0, y0, x1, y1):
    """The finest grid in which a rectangle touches few cells; the coarsest where it is large."""
    level = 0
    for finer in range(1, len(sides)):
        side = sides[finer]
        if ((x1 * side) >> DEPTH) - ((x0 * side) >> DEPTH) >= MOST_CELLS or (
            (y1 * side) >> DEPTH
        ) - ((y0 * side) >> DEPTH) >= MOST_CELLS:
            break
        level = finer
    return level


@inner
def _inner(frame, regions, row):
    """First and last column and row such that all places strictly between are in a region."""
    kind, shape = regions[0], regions[1]
    if row != NOTHING and kind[row] == EVERYWHERE:
        return -1, -1, 1 << DEPTH, 1 << DEPTH
    if row != NOTHING and kind[row] == BOX and shape[row, 0] <= shape[row, 2]:
        return cells_of_box(frame, shape[row, 0], shape[row, 1], shape[row, 2], shape[row, 3])
    return 0, 0, 0, 0


@inner
def _is_within(low, high, number, side):
    """Do all places of a column or row lie strictly between two of them?"""
    first = ((number << DEPTH) + side - 1) // side
    last = (((number + 1) << DEPTH) + side - 1) // side - 1
    return low < first and last < high
