"""The messages that each subscription keeps: the best, and some that may become so.

A *row* has messages that reach the threshold of a subscription, best first, of equal scores the
newer first. Whatever is not in it comes after all that are, unless k newer messages of at least
the same score keep it out for good (it is *dominated*); so the first k are the list.

    score  float64[E]   of each entry
    seq    int32[E]     the message, by arrival
    newer  uint16[E]    how many newer messages of at least its score have come; fewer than k
    start  int64[S]     where the row of a subscription begins
    room   int32[S]     entries it has room for; one of the sizes of `size_of`
    held   int32[S]     entries it has
    theta  float64[S]   the threshold; -1 when the row knows every message of the window
    aim    int32[S]     of a cost-based row: how many messages the threshold was chosen for
    free   int64[64]    the first free row of each size, -1 for none; `seq` of a free row leads to
                        the next
    used   int64[1]     entries in use, with free rows
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.topk.skype._inner import inner

SIZES = 64
KNOWS_ALL = -1.0
STEP = 4  # every row begins at a multiple of it, so that `seq` can lead to a free row far away


class Rows(NamedTuple):
    """The arrays; see the module docstring."""

    score: NDArray[np.float64]
    seq: NDArray[np.int32]
    newer: NDArray[np.uint16]
    start: NDArray[np.int64]
    room: NDArray[np.int32]
    held: NDArray[np.int32]
    theta: NDArray[np.float64]
    aim: NDArray[np.int32]
    free: NDArray[np.int64]
    used: NDArray[np.int64]


def empty_rows() -> Rows:
    """No subscription."""
    return Rows(
        np.empty(64, np.float64),
        np.empty(64, np.int32),
        np.empty(64, np.uint16),
        np.empty(0, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.empty(0, np.float64),
        np.empty(0, np.int32),
        np.full(SIZES, -1, np.int64),
        np.zeros(1, np.int64),
    )


@inner
def size_of(kind):
    """The sizes of rows: 8, 12, 16, 24, 32, 48 and so on."""
    return (8 if kind % 2 == 0 else 12) << (kind // 2)


@inner
def kind_for(entries):
    """The smallest kind of row that has room for so many."""
    kind = 0
    while size_of(kind) < entries:
        kind += 1
    return kind


@inner
def claim_row(rows, kind):
    """An empty row: (rows, larger perhaps, where it begins).  Amortised O(1)."""
    at = rows.free[kind]
    if at >= 0:
        following = np.int64(rows.seq[at])
        rows.free[kind] = following * STEP if following >= 0 else -1
        return rows, at
    at = rows.used[0]
    rows.used[0] += size_of(kind)
    needed = rows.used[0]
    if needed > len(rows.seq):
        size = needed + needed // 4
        score, seq = np.empty(size, np.float64), np.empty(size, np.int32)
        newer = np.empty(size, np.uint16)
        score[:at] = rows.score[:at]
        seq[:at] = rows.seq[:at]
        newer[:at] = rows.newer[:at]
        rows = Rows(
            score, seq, newer, rows.start, rows.room, rows.held, rows.theta, rows.aim, rows.free,
            rows.used,
        )  # fmt: skip
    return rows, at


@njit(cache=True, nogil=True)
def release_row(rows, slot):
    """The row of a subscription is free for others."""
    if rows.room[slot] > 0:
        kind, at = kind_for(rows.room[slot]), rows.start[slot]
        rows.seq[at] = rows.free[kind] // STEP if rows.free[kind] >= 0 else -1
        rows.free[kind] = at
    rows.room[slot] = 0
    rows.held[slot] = 0


@inner
def with_room_in_row(rows, slot, entries):
    """Rows in which that of a subscription has room for so many.  Amortised O(1)."""
    if entries <= rows.room[slot]:
        return rows
    kind, count = kind_for(entries), rows.held[slot]
    rows, at = claim_row(rows, kind)
    old = rows.start[slot]
    for i in range(count):
        rows.score[at + i] = rows.score[old + i]
        rows.seq[at + i] = rows.seq[old + i]
        rows.newer[at + i] = rows.newer[old + i]
    release_row(rows, slot)
    rows.start[slot], rows.room[slot], rows.held[slot] = at, size_of(kind), count
    return rows


@inner
def enter(rows, slot, k, score, seq, drops_dominated):
    """Put the newest message into a row that has room for it.  O(entries).

    What it dominates counts one more; what k dominate is left out.
    """
    at, end = rows.start[slot], rows.start[slot] + rows.held[slot]
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
    rows.held[slot] = write + 1 - at


@inner
def position_of(rows, slot, seq):
    """Where a message is in a row, -1 where it is not.  O(entries)."""
    at = rows.start[slot]
    for i in range(rows.held[slot]):
        if rows.seq[at + i] == seq:
            return i
    return -1


@inner
def take_out(rows, slot, position):
    """Take a message out of a row.  O(entries)."""
    at, last = rows.start[slot], rows.held[slot] - 1
    for i in range(at + position, at + last):
        rows.score[i] = rows.score[i + 1]
        rows.seq[i] = rows.seq[i + 1]
        rows.newer[i] = rows.newer[i + 1]
    rows.held[slot] = last


@inner
def write_row(rows, slot, k, scores, seqs, drops_dominated):
    """Have these messages, best first, and no others, less those that k dominate.  O(entries²)."""
    kept = 0
    rows.held[slot] = 0
    rows = with_room_in_row(rows, slot, len(scores))
    at = rows.start[slot]
    for i in range(len(scores)):
        newer = 0
        if drops_dominated:
            for j in range(i):
                newer += seqs[j] > seqs[i]
            if newer >= k:
                continue
        rows.score[at + kept] = scores[i]
        rows.seq[at + kept] = seqs[i]
        rows.newer[at + kept] = newer
        kept += 1
    rows.held[slot] = kept
    return rows
