"""The list of each subscription, and a few terms more: its *row*.

start    int64[n]       subscription i has the row that begins at start[i] of `term` and `score`
head     int32[n, 5]    how many terms its list has, how many are in its row, for how many there is
                        room, which level its region is of, in which step it was last remembered
outside  int64[n]       no term that is not in the row has a higher score; 0: all terms are in it
bounds   float32[n, 4]  the cover of its region; everywhere for a region with several
term     int32[m]       best first
score    int64[m]       in units of `decay`, above 0

Every score is exact. The first k of a row are the list; the others are those that would be next, or
were asked for, so that most documents can be counted without asking what others have said.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import leaf, melting

K, HELD, ROOM, LEVEL, STEP = 0, 1, 2, 3, 4


class Rows(NamedTuple):
    """The arrays drawn above."""

    start: NDArray[np.int64]
    head: NDArray[np.int32]
    outside: NDArray[np.int64]
    bounds: NDArray[np.float32]
    term: NDArray[np.int32]
    score: NDArray[np.int64]


def no_rows() -> Rows:
    """None yet."""
    return Rows(
        np.zeros(0, np.int64),
        np.zeros((0, 5), np.int32),
        np.zeros(0, np.int64),
        np.zeros((0, 4), np.float32),
        np.zeros(0, np.int32),
        np.zeros(0, np.int64),
    )


class Spelling(NamedTuple):
    """Bytes of all terms, and where each begins."""

    data: NDArray[np.uint8]
    start: NDArray[np.int64]


@melting
def is_before(score, term, other_score, other_term, spelling):
    """Does a term come before another: by score, of equal ones by the alphabet?"""
    if score != other_score:
        return score > other_score
    return is_spelled_before(term, other_term, spelling)


@leaf
def is_spelled_before(term, other_term, spelling):
    """Does a term come before another in the order of code points?  O(what they share)."""
    at, end = spelling.start[term], spelling.start[term + 1]
    other, other_end = spelling.start[other_term], spelling.start[other_term + 1]
    while at < end and other < other_end:
        if spelling.data[at] != spelling.data[other]:
            return spelling.data[at] < spelling.data[other]
        at += 1
        other += 1
    return end - at < other_end - other


@melting
def rise(rows, at, place, spelling):
    """A term of the row that begins at `at` has more than before: move it up."""
    term, score = rows.term[at + place], rows.score[at + place]
    while place > 0 and is_before(
        score, term, rows.score[at + place - 1], rows.term[at + place - 1], spelling
    ):
        rows.term[at + place] = rows.term[at + place - 1]
        rows.score[at + place] = rows.score[at + place - 1]
        place -= 1
    rows.term[at + place] = term
    rows.score[at + place] = score


@melting
def sink(rows, at, place, held, spelling):
    """A term of the row that begins at `at` has less than before: move it down."""
    term, score = rows.term[at + place], rows.score[at + place]
    while place + 1 < held and is_before(
        rows.score[at + place + 1], rows.term[at + place + 1], score, term, spelling
    ):
        rows.term[at + place] = rows.term[at + place + 1]
        rows.score[at + place] = rows.score[at + place + 1]
        place += 1
    rows.term[at + place] = term
    rows.score[at + place] = score


@melting
def enter(rows, slot, term, score, spelling):
    """A term that is not in the row: it gets its place, or the last one goes, or it stays out."""
    at = rows.start[slot]
    held = np.int64(rows.head[slot, HELD])
    if held == rows.head[slot, ROOM]:
        last = at + held - 1
        if not is_before(score, term, rows.score[last], rows.term[last], spelling):
            rows.outside[slot] = max(rows.outside[slot], score)
            return
        rows.outside[slot] = max(rows.outside[slot], rows.score[last])
    else:
        held += 1
        rows.head[slot, HELD] = held
    rows.term[at + held - 1] = term
    rows.score[at + held - 1] = score
    rise(rows, at, held - 1, spelling)


@melting
def least(rows, slot):
    """The score of the last term of a list, -1 where there is room for more."""
    if rows.head[slot, HELD] < rows.head[slot, K]:
        return np.int64(-1)
    return rows.score[rows.start[slot] + rows.head[slot, K] - 1]


@melting
def is_in_bounds(slot, x, y, rows):
    """Is a point in the cover of a region?"""
    return (
        (x >= rows.bounds[slot, 0])
        & (x <= rows.bounds[slot, 2])
        & (y >= rows.bounds[slot, 1])
        & (y <= rows.bounds[slot, 3])
    )


@leaf
def halve(rows, slots, epochs):
    """So many epochs have passed: units are larger.  O(rows)."""
    epochs = min(epochs, np.int64(62))
    rounding_up = (np.int64(1) << epochs) - 1
    for slot in range(slots):
        rows.outside[slot] = (rows.outside[slot] + rounding_up) >> epochs
        at = rows.start[slot]
        for place in range(rows.head[slot, HELD]):
            rows.score[at + place] >>= epochs
