"""Which messages does a region gain, and which does it lose, when it becomes another?

Each side of a move, the old region and the new one, is a rectangle in steps. One walk through the
tree of one word of each clause, the one with the fewest messages, finds what may be in one of them
and not in the other. Steps keep the order of coordinates, so for a point message in two boxes they
settle all but those in the step of a border; the others are asked of the exact regions. Squares
that lie within both boxes, or beside both, are not entered.
"""

import numpy as np
from numba import njit

from nearcast.boolean.rarest_word_tree._frame import FARTHEST, NOWHERE_ABOVE, steps_of_point
from nearcast.inner import inner
from nearcast.moving._flat.verify import NOTHING, holds_earlier, longer, meets, message_holds
from nearcast.moving.word_quadtrees._layout import (
    BELOW,
    EMPTY,
    FANOUT,
    NODE,
    ONE,
    REACH,
    RUN,
    SLOT_MASK,
    SPACE_LEVELS,
    count_of,
    run_at,
    run_length,
    x_of,
    y_of,
)
from nearcast.prefetch import prefetch_row
from nearcast.space._kernels import BOX, EVERYWHERE

TOGETHER = 64  # moves whose words are asked for before the first of them is looked at
DEEPEST = 16 * (SPACE_LEVELS + 9)

# Columns of a side: what its region meets at most, and, open, at least.
MOST, LEAST, SIDE = 0, 4, 8

# What steps say of a message that a walk found, in the low bits beside its slot.
MAYBE_OLD, SURELY_OLD, MAYBE_NEW, SURELY_NEW, SLOT_SHIFT = 1, 2, 4, 8, 4


@njit(cache=True, nogil=True)
def differences(
    trees, frame, messages, clauses, chains, number_of, slots,
    old, old_row, old_cover, new, new_row, new_cover, is_earth,
):  # fmt: skip
    """What changes for some subscriptions: (row, sign, message slot) of each, candidates.

    `old` and `new` are the arrays of two region columns; row i moves from old_row[i] to new_row[i],
    either of which may be NOTHING. `number_of` has the number of each word by rank.
    """
    rows, signs = np.empty(1024, np.int64), np.empty(1024, np.int8)
    found = np.empty(1024, np.int32)
    total, candidates = 0, 0
    sides = np.empty((2, SIDE), np.int64)
    waiting = np.empty((DEEPEST, 4), np.int64)  # reference, level, and the corner of its square
    wanted = np.empty(64, np.int64)
    near = np.empty(1024, np.int64)
    for i in range(len(slots)):
        if i % TOGETHER == 0:
            _prefetch_words(trees, clauses, chains, number_of, slots[i : i + TOGETHER])
        if _is_same_box(old, old_row[i], new, new_row[i]):
            continue
        _fill_side(sides[0], frame, old, old_row[i], old_cover[i])
        _fill_side(sides[1], frame, new, new_row[i], new_cover[i])
        entry = chains.first[slots[i]]
        first_entry = entry
        while entry >= 0:
            word, count = _rarest(trees, clauses, number_of, entry)
            if count:
                begin = clauses.start[entry]
                required = np.int64(clauses.required[entry])
                forbidden = np.int64(clauses.forbidden[entry])
                if required + forbidden > len(wanted):
                    wanted = np.empty(2 * (required + forbidden), np.int64)
                for k in range(required + forbidden):
                    wanted[k] = number_of[clauses.terms[begin + k]]
                is_plain = required <= 1 and forbidden == 0
                near, count = _walk(trees, word, sides[0], sides[1], waiting, near)
                candidates += count
                if total + count > len(found):
                    size = 2 * (total + count)
                    rows, signs = longer(rows, size), longer(signs, size)
                    found = longer(found, size)
                for k in range(count):
                    prefetch_row(messages.head, near[k] >> SLOT_SHIFT)
                gains = 0
                for k in range(count):
                    slot = near[k] >> SLOT_SHIFT
                    was = near[k] & SURELY_OLD or (
                        near[k] & MAYBE_OLD and meets(old, old_row[i], is_earth, messages, slot)
                    )
                    is_now = near[k] & SURELY_NEW or (
                        near[k] & MAYBE_NEW and meets(new, new_row[i], is_earth, messages, slot)
                    )
                    if bool(was) == bool(is_now):
                        continue
                    if not is_plain and not message_holds(
                        messages, slot, wanted, required, forbidden
                    ):
                        continue
                    if entry != first_entry and holds_earlier(
                        messages, slot, clauses, chains, number_of, first_entry, entry
                    ):
                        continue
                    if is_now:
                        near[gains] = slot
                        gains += 1
                    else:
                        rows[total], signs[total], found[total] = i, -1, slot
                        total += 1
                for k in range(gains):
                    rows[total], signs[total], found[total] = i, 1, near[k]
                    total += 1
            entry = chains.following[entry]
    return rows[:total], signs[:total], found[:total], candidates


@inner
def _prefetch_words(trees, clauses, chains, number_of, slots):
    """Ask for what the words of some movers lead to: first where all begin, then what is there.

    Only of first clauses; nearly every subscription has no other.
    """
    for is_second in range(2):
        for slot in slots:
            entry = chains.first[slot]
            begin = clauses.start[entry]
            for k in range(begin, begin + clauses.required[entry]):
                row = np.int64(number_of[clauses.terms[k]]) + 1
                if not is_second:
                    prefetch_row(trees.root, row)
                    continue
                reference = trees.root[row, 0]
                if reference & 3 == RUN:
                    prefetch_row(trees.postings, run_at(reference))
                elif reference & 3 == NODE:
                    node = trees.nodes[reference >> 2]
                    prefetch_row(node, 0)
                    prefetch_row(node, FANOUT // 2)
                    prefetch_row(node, BELOW)


@inner
def _is_same_box(old, old_row, new, new_row):
    if old_row == NOTHING or new_row == NOTHING:
        return False
    if old[0][old_row] != BOX or new[0][new_row] != BOX:
        return False
    is_same = True
    for side in range(4):
        is_same &= old[1][old_row, side] == new[1][new_row, side]
    return is_same


@inner
def _fill_side(side, frame, regions, row, cover):
    """The steps of a region: west, south, east, north of what it may meet and what it must."""
    kind, shape = regions[0], regions[1]
    if row == NOTHING:
        side[MOST : MOST + 2], side[MOST + 2 : MOST + 4] = 2 * NOWHERE_ABOVE, -2 * NOWHERE_ABOVE
        side[LEAST : LEAST + 2], side[LEAST + 2 : LEAST + 4] = NOWHERE_ABOVE, -1
    elif kind[row] == EVERYWHERE:
        side[MOST : MOST + 2], side[MOST + 2 : MOST + 4] = 0, NOWHERE_ABOVE
        side[LEAST : LEAST + 2], side[LEAST + 2 : LEAST + 4] = 0, NOWHERE_ABOVE
    elif kind[row] == BOX and shape[row, 0] <= shape[row, 2]:
        side[0], side[1] = steps_of_point(frame, shape[row, 0], shape[row, 1])
        side[2], side[3] = steps_of_point(frame, shape[row, 2], shape[row, 3])
        side[4], side[5], side[6], side[7] = side[0] + 1, side[1] + 1, side[2] - 1, side[3] - 1
    else:
        side[0], side[1] = steps_of_point(frame, _finite(cover[0]), _finite(cover[1]))
        side[2], side[3] = steps_of_point(frame, _finite(cover[2]), _finite(cover[3]))
        side[LEAST : LEAST + 2], side[LEAST + 2 : LEAST + 4] = NOWHERE_ABOVE, -1


@inner
def _finite(value):
    return min(max(np.float64(value), -FARTHEST), FARTHEST)


@inner
def _rarest(trees, clauses, number_of, entry):
    """(row of `root`, how many messages) of the required word that the fewest have."""
    required = clauses.required[entry]
    if required == 0:
        return np.int64(0), _total(trees, np.int64(0))
    best, least = np.int64(0), np.int64(-1)
    for k in range(clauses.start[entry], clauses.start[entry] + required):
        row = np.int64(number_of[clauses.terms[k]]) + 1
        count = _total(trees, row)
        if least < 0 or count < least:
            best, least = row, count
    return best, least


@inner
def _total(trees, row):
    total = np.int64(0)
    for size in range(trees.root.shape[1]):
        total += count_of(trees, trees.root[row, size])
    return total


@inner
def _walk(trees, row, old, new, waiting, near):
    """The messages of a word that may be in one region and not in the other: (near, count)."""
    count = 0
    for size in range(trees.root.shape[1]):
        reference = trees.root[row, size]
        if reference == EMPTY:
            continue
        reach = REACH[size]
        west, south = min(old[0], new[0]) - reach, min(old[1], new[1]) - reach
        east, north = max(old[2], new[2]) + reach, max(old[3], new[3]) + reach
        waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = reference, 0, 0, 0
        depth = 1
        while depth:
            depth -= 1
            reference, level = waiting[depth, 0], waiting[depth, 1]
            x, y = waiting[depth, 2], waiting[depth, 3]
            kind = reference & 3
            if kind == NODE and level < SPACE_LEVELS:
                node, shift = reference >> 2, 13 - 2 * level
                last = (1 << shift) - 1
                for down in range(max(0, (south - y) >> shift), min(3, (north - y) >> shift) + 1):
                    low = y + (down << shift)
                    for along in range(
                        max(0, (west - x) >> shift), min(3, (east - x) >> shift) + 1
                    ):
                        child = trees.nodes[node, down << 2 | along]
                        left = x + (along << shift)
                        if (
                            child == EMPTY
                            or not (
                                _touches(old, reach, left, low, last)
                                or _touches(new, reach, left, low, last)
                            )
                            or (_holds(old, left, low, last) and _holds(new, left, low, last))
                        ):
                            continue
                        if child & 3 == NODE:
                            prefetch_row(trees.nodes, child >> 2)
                        elif child & 3 == RUN:
                            prefetch_row(trees.postings, run_at(child))
                        waiting[depth, 0], waiting[depth, 1] = child, level + 1
                        waiting[depth, 2], waiting[depth, 3] = left, low
                        depth += 1
            elif kind == NODE:
                for child in range(FANOUT):
                    if trees.nodes[reference >> 2, child] != EMPTY:
                        waiting[depth, 0] = trees.nodes[reference >> 2, child]
                        waiting[depth, 1] = level + 1
                        waiting[depth, 2], waiting[depth, 3] = x, y
                        depth += 1
            else:
                begin, end = run_at(reference), run_at(reference) + run_length(reference)
                if kind == ONE:
                    begin, end = np.int64(0), np.int64(1)
                if count + end - begin > len(near):
                    near = longer(near, 2 * (count + end - begin))
                for i in range(begin, end):
                    posting = reference >> 2 if kind == ONE else trees.postings[i]
                    at_x, at_y = x_of(posting), y_of(posting)
                    known = (
                        MAYBE_OLD * _touches(old, reach, at_x, at_y, 0)
                        | SURELY_OLD * _holds(old, at_x, at_y, 0)
                        | MAYBE_NEW * _touches(new, reach, at_x, at_y, 0)
                        | SURELY_NEW * _holds(new, at_x, at_y, 0)
                    )
                    near[count] = (posting & SLOT_MASK) << SLOT_SHIFT | known
                    count += known != 0 and known & (SURELY_OLD | SURELY_NEW) != (
                        SURELY_OLD | SURELY_NEW
                    )
    return near, count


@inner
def _touches(side, reach, x, y, last):
    """May a region meet what is in a square, whose middle is no farther than `reach` out of it?"""
    return (
        (x <= side[2] + reach)
        & (x + last >= side[0] - reach)
        & (y <= side[3] + reach)
        & (y + last >= side[1] - reach)
    )


@inner
def _holds(side, x, y, last):
    """Does a region meet whatever has its middle in a square?"""
    return (x >= side[4]) & (x + last <= side[6]) & (y >= side[5]) & (y + last <= side[7])
