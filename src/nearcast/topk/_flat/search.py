"""The best messages of the window for one subscription, when its row has run short."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.prefetch import prefetch_row
from nearcast.topk._flat.subscriptions import ALPHA, FIRST, LAT, LON, WORDS, nearness
from nearcast.topk._flat.window import (
    CELLS,
    HEAD,
    HEAVIEST,
    HELD,
    LENGTH,
    ROOM,
    START,
    mark,
    wrapped,
)
from nearcast.topk._flat.window import LAT as MESSAGE_LAT
from nearcast.topk._flat.window import LON as MESSAGE_LON

TOGETHER = 64  # messages that are looked at together
OFF = np.float32(4e-6)  # what a bound in float32 may be too low by
NEVER = np.float32(-np.inf)  # no bound is below it
AS_GOOD = np.float32(0.02)  # what a cell may have less than the best of them to come first


@inner
def is_worse(score, seq, other_score, other_seq):
    """Does the first come after the second in a list?"""
    return score < other_score or (score == other_score and seq < other_seq)


@inner
def sift_down(scores, seqs, size, at):
    """Let a heap with the worst on top be one again."""
    score, seq = scores[at], seqs[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and is_worse(
            scores[child + 1], seqs[child + 1], scores[child], seqs[child]
        ):
            child += 1
        if not is_worse(scores[child], seqs[child], score, seq):
            break
        scores[at], seqs[at] = scores[child], seqs[child]
        at = child
    scores[at], seqs[at] = score, seq


@inner
def make_heap(scores, seqs, size):
    """A heap with the worst on top."""
    for at in range(size // 2 - 1, -1, -1):
        sift_down(scores, seqs, size, at)


@inner
def apart_from(cell, start, width, value, is_open):
    """How far a coordinate is, at the least, from those in a column or row of the grid.

    `is_open`: the first and the last have all that lies farther out as well.
    """
    low, high = start + cell * width, start + (cell + 1) * width
    below = 0.0 if is_open and cell == 0 else low - value
    above = 0.0 if is_open and cell == CELLS - 1 else value - high
    # A place on a border may have been rounded into the next cell.
    rounding = 4e-15 * (abs(start) + CELLS * width + abs(value))
    return max(0.0, max(below, above) - rounding)


@njit(cache=True, nogil=True)
def nearness_of_cells(alpha, lon, lat, grid, space, near):
    """What the place of a message adds to its score at the most, by the cell that it is in."""
    west, south, width, height = grid
    degree = math.pi / 180.0
    by_row, by_level = np.empty(CELLS, np.float32), np.empty(CELLS, np.float32)
    for r in range(CELLS):
        apart = apart_from(r, south, height, lat, not space.on_earth)
        if space.on_earth:
            by_row[r] = math.sin(apart * degree / 2.0) ** 2
            low, high = south + r * height, south + (r + 1) * height
            level = min(math.cos(low * degree), math.cos(high * degree))
            by_level[r] = max(0.0, level) * math.cos(lat * degree)
        else:
            by_row[r] = min(4.0, (apart / space.max_dist) ** 2)
            by_level[r] = 1.0
    # The straight line is shorter than the way along the surface, and soon computed.
    scale = np.float32(alpha * (2.0 * space.unit if space.on_earth else 1.0) * 0.999999)
    most = np.float32(alpha) + OFF
    for c in range(CELLS):
        apart = apart_from(c, west, width, lon, not space.on_earth)
        if space.on_earth:
            apart = min(
                apart,
                apart_from(c, west, width, lon - 360.0, False),
                apart_from(c, west, width, lon + 360.0, False),
            )
            by_column = np.float32(math.sin(apart * degree / 2.0) ** 2)
        else:
            by_column = np.float32(min(4.0, (apart / space.max_dist) ** 2))
        column = near[c * CELLS : (c + 1) * CELLS]
        for r in range(CELLS):
            far = np.sqrt(by_row[r] + by_level[r] * by_column)
            column[r] = max(np.float32(0.0), most - scale * far)


class Reach(NamedTuple):
    """What bounds the scores of messages that are met at one term.

    - `near`: float32[CELLS * CELLS], what a place adds at the most
    - `by_word`: what a weight of 1 of the word adds
    - `by_rest`, `most_rest`: the words that are left add no more than the length of their vectors
      allows, nor more than each of them has ever added
    - `marks`: of the words that are left; a message that has none of the marks has none of them
    - `floor`: nobody asks for less
    """

    near: NDArray[np.float32]
    by_word: np.float32
    by_rest: np.float32
    most_rest: np.float32
    marks: np.uint64
    floor: np.float32


@inner
def bound(weight, cell, reach):
    """The most that the score of a message can be, its weight in units of 1/65535."""
    theirs = np.float32(weight) * np.float32(1.0 / 65535.0)
    others = max(np.float32(0.0), np.float32(1.0) - theirs * theirs) + np.float32(4e-5)
    rest = min(reach.most_rest, reach.by_rest * np.sqrt(others))
    return reach.near[cell] + reach.by_word * theirs + rest


@njit(cache=True, nogil=True)
def promising(rings, first, last, reach, low, is_promising):
    """Which of the postings first:last have a bound of low or more: how many."""
    weights, cells = rings.weight[first:last], rings.cell[first:last]
    count = np.int32(0)
    for i in range(len(weights)):
        count += bound(weights[i], cells[i], reach) >= low
    if count > 0:  # seldom, so that the first loop has nothing to write
        for i in range(len(weights)):
            is_promising[i] = bound(weights[i], cells[i], reach) >= low
    return count


@inner
def most_of_rest(subscriptions, slot, rings, most_rest):
    """What the terms after each one can add to a score at the most, as the window is."""
    first, count = subscriptions.head[slot, FIRST], subscriptions.head[slot, WORDS]
    added = 0.0
    for n in range(count - 1, -1, -1):
        most_rest[n] = added
        heaviest = rings.rings[subscriptions.word[first + n], HEAVIEST] / 65535.0
        added += (
            (1.0 - subscriptions.place[slot, ALPHA]) * subscriptions.weight[first + n] * heaviest
        )
    return added


@inner
def read_ahead(messages, seqs):
    """Have what is needed of some messages brought near."""
    mask = len(messages.live) - 1
    for seq in seqs:
        prefetch_row(messages.first, seq & mask)
        prefetch_row(messages.words, seq & mask)
        prefetch_row(messages.live, seq & mask)
        prefetch_row(messages.place, seq & mask)
    for seq in seqs:
        prefetch_row(messages.word, messages.first[seq & mask])


@inner
def score_at(subscriptions, slot, t, messages, m, idf, space):
    """The score of a message that is met at term t; -1 when an earlier term has met it."""
    head, place, theirs = subscriptions.head[slot], subscriptions.place[slot], messages.place[m]
    first, ring, begin = head[FIRST], len(messages.word), messages.first[m]
    end = begin + messages.words[m]
    alike = 0.0
    for term in range(first, first + head[WORDS]):
        word, times = subscriptions.word[term], 0.0
        for i in range(begin, end):
            if messages.word[wrapped(i, ring)] == word:
                times += 1.0
        if times > 0.0:
            if term < t:
                return -1.0
            alike += subscriptions.weight[term] * (times * idf[word] / theirs[LENGTH])
    near = nearness(place[LON], place[LAT], theirs[MESSAGE_LON], theirs[MESSAGE_LAT], space)
    return place[ALPHA] * near + (1.0 - place[ALPHA]) * alike


@inner
def take(scores, seqs, size, most, score, seq):
    """A message comes into a heap if it is good enough: (its size, the score that is lost)."""
    if size < most:
        scores[size], seqs[size] = score, seq
        if size + 1 == most:
            make_heap(scores, seqs, most)
        return size + 1, -1.0
    if is_worse(scores[0], seqs[0], score, seq):
        lost = scores[0]
        scores[0], seqs[0] = score, seq
        sift_down(scores, seqs, size, 0)
        return size, lost
    return size, score


@inner
def search_ring(
    subscriptions, slot, t, messages, rings, idf, space, reach, most, scores, seqs, size
):
    """Take messages that are met at a term: (how many there are now, the best that was lost)."""
    ring = rings.rings[subscriptions.word[t]]
    is_promising = np.empty(TOGETHER, np.int32)
    chosen, bounds = np.empty(2 * TOGETHER, np.int32), np.empty(2 * TOGETHER, np.float32)
    waiting = 0
    lost, low = -1.0, reach.floor
    if size == most:
        low = np.float32(scores[0]) - OFF
    end = ring[HEAD] + ring[HELD]
    while end > ring[HEAD]:  # the newest first, no further than to where the ring goes round
        begin = max(ring[HEAD], end - TOGETHER)
        if end > ring[ROOM]:
            begin = max(begin, ring[ROOM])
        first = ring[START] + wrapped(begin, ring[ROOM])
        last = first + end - begin
        end = begin
        if promising(rings, first, last, reach, low, is_promising) > 0:
            for at in range(last - 1, first - 1, -1):
                if is_promising[at - first]:
                    chosen[waiting], bounds[waiting] = rings.seq[at], alone(rings, at, reach)
                    waiting += 1
        if waiting >= TOGETHER // 2 or end == ring[HEAD]:
            ahead = chosen[: few_of(messages, chosen, bounds, waiting, reach, low)]
            waiting = 0
            size, without = take_all(
                subscriptions, slot, t, messages, idf, space, ahead, most, scores, seqs, size
            )
            lost = max(lost, without)
            if size == most:
                low = np.float32(scores[0]) - OFF
    return size, lost


@inner
def take_all(subscriptions, slot, t, messages, idf, space, ahead, most, scores, seqs, size):
    """Take those of some messages that are good enough: (how many now, the best that was lost)."""
    lost = -1.0
    read_ahead(messages, ahead)
    for seq in ahead:
        m = seq & (len(messages.live) - 1)
        if messages.live[m]:
            score = score_at(subscriptions, slot, t, messages, m, idf, space)
            if score >= 0.0:
                size, without = take(scores, seqs, size, most, score, seq)
                lost = max(lost, without)
    return size, lost


@njit(cache=True, nogil=True)
def highest_of(arranged, reach, highest):
    """The most that a score can be, by the cells that are arranged, and of all of them."""
    rest = min(reach.most_rest, reach.by_rest * np.float32(1.0001))
    best = NEVER
    for n in range(len(highest)):
        highest[n] = reach.near[arranged.cell[n]] + reach.by_word * arranged.heaviest[n] + rest
        best = max(best, highest[n])
    return best


@inner
def search_cells(
    subscriptions, slot, t, messages, arranged, idf, space, reach, most, scores, seqs, size
):
    """As `search_ring`, where the postings of the word are arranged: the best cells first."""
    chosen, bounds = np.empty(TOGETHER, np.int32), np.empty(TOGETHER, np.float32)
    highest = np.empty(len(arranged.cell), np.float32)
    best = highest_of(arranged, reach, highest) - AS_GOOD
    lost, low = -1.0, reach.floor
    if size == most:
        low = np.float32(scores[0]) - OFF
    waiting = 0
    for are_best in (True, False):
        for n in range(len(highest)):
            if (highest[n] >= best) != are_best or highest[n] < low:
                continue
            end = arranged.start[n + 1]
            for at in range(arranged.start[n], end):
                if bound(arranged.weight[at], arranged.cell[n], reach) >= low:
                    theirs = np.float32(arranged.weight[at]) * np.float32(1.0 / 65535.0)
                    chosen[waiting] = arranged.seq[at]
                    bounds[waiting] = reach.near[arranged.cell[n]] + reach.by_word * theirs
                    waiting += 1
                if waiting == TOGETHER:
                    ahead = chosen[: few_of(messages, chosen, bounds, waiting, reach, low)]
                    waiting = 0
                    size, without = take_all(
                        subscriptions, slot, t, messages, idf, space, ahead, most, scores, seqs,
                        size,
                    )  # fmt: skip
                    lost = max(lost, without)
                    if size == most:
                        low = np.float32(scores[0]) - OFF
    ahead = chosen[: few_of(messages, chosen, bounds, waiting, reach, low)]
    size, without = take_all(
        subscriptions, slot, t, messages, idf, space, ahead, most, scores, seqs, size
    )
    return size, max(lost, without)


@inner
def few_of(messages, chosen, bounds, count, reach, low):
    """Keep, at the front, those that have one of the words that are left, or need none: how many.

    `bounds` are for messages that have none.
    """
    mask = len(messages.live) - 1
    for n in range(count):
        prefetch_row(messages.marks, chosen[n] & mask)
    kept = 0
    for n in range(count):
        if messages.marks[chosen[n] & mask] & reach.marks or bounds[n] >= low:
            chosen[kept] = chosen[n]
            kept += 1
    return kept


@inner
def alone(rings, at, reach):
    """The most that the score of a message can be that has none of the words that are left."""
    theirs = np.float32(rings.weight[at]) * np.float32(1.0 / 65535.0)
    return reach.near[rings.cell[at]] + reach.by_word * theirs


@inner
def search(
    subscriptions, slot, messages, rings, arranged, idf, grid, space, floor, most, scores, seqs
):
    """The `most` best messages as a heap: (how many, the best score that had no place).

    Of those that score less than `floor` some may be missing.
    """
    first, count = subscriptions.head[slot, FIRST], subscriptions.head[slot, WORDS]
    place = subscriptions.place[slot]
    alpha = place[ALPHA]
    near, most_rest = np.empty(CELLS * CELLS, np.float32), np.empty(count)
    nearness_of_cells(alpha, place[LON], place[LAT], grid, space, near)
    left = most_of_rest(subscriptions, slot, rings, most_rest)
    size, lost = 0, -1.0
    tail = 0.0
    for t in range(first, first + count):
        tail += subscriptions.weight[t] * subscriptions.weight[t]
    for t in range(first, first + count):
        low = scores[0] if size == most else np.float64(floor)
        if alpha + min(left, (1.0 - alpha) * math.sqrt(tail)) < low:
            break  # even a message of the same place with all the words that are left
        mine = subscriptions.weight[t]
        tail = max(0.0, tail - mine * mine)
        left = most_rest[t - first]
        marks = np.uint64(0)
        for later in range(t + 1, first + count):
            marks |= mark(subscriptions.word[later])
        reach = Reach(
            near,
            np.float32((1.0 - alpha) * mine),
            np.float32((1.0 - alpha) * math.sqrt(tail)),
            np.float32(left) + OFF,
            marks,
            floor,
        )
        if subscriptions.word[t] == arranged.word:
            size, without = search_cells(
                subscriptions, slot, t, messages, arranged, idf, space, reach, most, scores, seqs,
                size,
            )  # fmt: skip
        else:
            size, without = search_ring(
                subscriptions, slot, t, messages, rings, idf, space, reach, most, scores, seqs, size
            )
        lost = max(lost, without)
    return size, lost


@inner
def best_first(scores, seqs, size, most):
    """Sort what `search` has found; it is a heap when it is full.  O(size log size)."""
    if size < most:
        make_heap(scores, seqs, size)
    for last in range(size - 1, 0, -1):  # the worst goes to the end, again and again
        scores[0], scores[last] = scores[last], scores[0]
        seqs[0], seqs[last] = seqs[last], seqs[0]
        sift_down(scores, seqs, last, 0)
