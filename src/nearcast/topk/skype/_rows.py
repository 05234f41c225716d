"""The messages that each subscription keeps: the best, and some that may become so.

A *row* has messages that reach the threshold of a subscription, best first, of equal scores the
newer first. Whatever is not in it comes after all that are, unless k newer messages of at least
the same score keep it out for good (it is *dominated*); so the first k are the list.

    score  float64[E]   of each entry
    seq    int32[E]     the message, by arrival
    newer  uint16[E]    how many newer messages of at least its score have come; fewer than k
    aim    int32[S]     of a cost-based row: how many messages the threshold was chosen for
    free   int32[64]    the first free row of each size, in steps, -1 for none; `seq` of a free row
                        leads to the next
    used   int64[1]     entries in use, with free rows

Where a row begins, how many entries it has and has room for (one of the sizes of `size_of`), and
its threshold stand with the subscription; the threshold is -1 when the row knows every message of
the window.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.large_pages import in_large_pages
from nearcast.topk._flat.subscriptions import HELD, ROOM, START, STEP

SIZES = 64
KNOWS_ALL = -1.0


class Rows(NamedTuple):
    """The arrays; see the module docstring."""

    score: NDArray[np.float64]
    seq: NDArray[np.int32]
    newer: NDArray[np.uint16]
    aim: NDArray[np.int32]
    free: NDArray[np.int32]
    used: NDArray[np.int64]


def empty_rows() -> Rows:
    """No subscription."""
    return Rows(
        np.empty(64, np.float64),
        np.empty(64, np.int32),
        np.empty(64, np.uint16),
        np.empty(0, np.int32),
        np.full(SIZES, -1, np.int32),
        np.zeros(1, np.int64),
    )


@inner
def size_of(kind):
    """The sizes of rows, in multiples of STEP: 4, 8, 12, 16, 24, 32, 48 and so on."""
    if kind == 0:
        return STEP
    return (2 * STEP if kind % 2 == 1 else 3 * STEP) << ((kind - 1) // 2)


@inner
def kind_for(entries):
    """The smallest kind of row that has room for so many."""
    kind = 0
    while size_of(kind) < entries:
        kind += 1
    return kind


@inner
def claim_row(rows, kind):
    """An empty row: (rows, larger perhaps, where it begins, in steps).  Amortised O(1)."""
    at = rows.free[kind]
    if at >= 0:
        rows.free[kind] = rows.seq[at * STEP]
        return rows, at
    used = rows.used[0]
    rows.used[0] += size_of(kind)
    needed = rows.used[0]
    if needed > len(rows.seq):
        size = needed + needed // 4
        score = in_large_pages(np.empty(size, np.float64))
        seq = in_large_pages(np.empty(size, np.int32))
        newer = in_large_pages(np.empty(size, np.uint16))
        score[:used] = rows.score[:used]
        seq[:used] = rows.seq[:used]
        newer[:used] = rows.newer[:used]
        rows = Rows(score, seq, newer, rows.aim, rows.free, rows.used)
    return rows, np.int32(used // STEP)


@njit(cache=True, nogil=True)
def release_row(subscriptions, rows, slot):
    """The row of a subscription is free for others."""
    head = subscriptions.head[slot]
    if head[ROOM] > 0:
        kind = kind_for(head[ROOM])
        rows.seq[head[START] * STEP] = rows.free[kind]
        rows.free[kind] = head[START]
    head[ROOM] = head[HELD] = 0


@inner
def with_room_in_row(subscriptions, rows, slot, entries):
    """Rows in which that of a subscription has room for so many.  Amortised O(1)."""
    head = subscriptions.head[slot]
    if entries <= head[ROOM]:
        return rows
    kind, count = kind_for(entries), head[HELD]
    rows, begin = claim_row(rows, kind)
    at, old = begin * STEP, head[START] * STEP
    for i in range(count):
        rows.score[at + i] = rows.score[old + i]
        rows.seq[at + i] = rows.seq[old + i]
        rows.newer[at + i] = rows.newer[old + i]
    release_row(subscriptions, rows, slot)
    head[START], head[ROOM], head[HELD] = begin, size_of(kind), count
    return rows


@inner
def enter(subscriptions, rows, slot, k, score, seq, drops_dominated):
    """Put the newest message into a row that has room for it.  O(entries).

    What it dominates counts one more; what k dominate is left out.
    """
    head = subscriptions.head[slot]
    at = head[START] * STEP
    end = at + head[HELD]
    place = end
    while place > at and rows.score[place - 1] <= score:
        place -= 1
    newer = np.uint16(0)
    write = place
    for i in range(place, end):
        next_score, next_seq, next_newer = rows.score[i], rows.seq[i], rows.newer[i]
        if drops_dominated:
            next_newer += np.uint16(1)
            if next_newer >= k:
                continue
        rows.score[write], rows.seq[write], rows.newer[write] = score, seq, newer
        score, seq, newer = next_score, next_seq, next_newer
        write += 1
    rows.score[write], rows.seq[write], rows.newer[write] = score, seq, newer
    head[HELD] = write + 1 - at


@inner
def take_out(subscriptions, rows, slot, position):
    """Take a message out of a row.  O(entries)."""
    head = subscriptions.head[slot]
    at, last = head[START] * STEP, head[HELD] - 1
    for i in range(at + position, at + last):
        rows.score[i] = rows.score[i + 1]
        rows.seq[i] = rows.seq[i + 1]
        rows.newer[i] = rows.newer[i + 1]
    head[HELD] = last


@inner
def write_row(subscriptions, rows, slot, k, scores, seqs, drops_dominated):
    """Have these messages, best first, and no others, less those that k dominate.

    O(entries * those that are kept)
    """
    kept, newer = np.empty(len(scores), np.int32), np.zeros(len(scores), np.uint16)
    count = 0
    for i in range(len(scores)):
        before = 0
        if drops_dominated:
            for j in range(count):  # one that was left out has k before it that are newer still
                before += seqs[kept[j]] > seqs[i]
            if before >= k:
                continue
        kept[count], newer[count] = i, before
        count += 1
    head = subscriptions.head[slot]
    head[HELD] = 0
    rows = with_room_in_row(subscriptions, rows, slot, count)
    at = head[START] * STEP
    for n in range(count):
        rows.score[at + n] = scores[kept[n]]
        rows.seq[at + n] = seqs[kept[n]]
        rows.newer[at + n] = newer[n]
    head[HELD] = count
    return rows
