"""The best messages of the window for one subscription, when its row has run short."""

import math

import numpy as np
from numba import njit

from nearcast.topk.word_lists._buffers import (
    STEP,
    claim_row,
    drop_dominated,
    most_entries,
    release_row,
    with_spare,
)
from nearcast.topk.word_lists._wanted import score_of
from nearcast.topk.word_lists._window import CELLS


@njit(cache=True, nogil=True)
def is_worse(score, seq, other_score, other_seq):
    """Does the first come after the second in a list?"""
    return score < other_score or (score == other_score and seq < other_seq)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
def nearness_of_cells(lon, lat, grid, space, by_column, by_row, by_level):
    """What `search` needs to know how near each column and row of the grid is, at the most."""
    west, south, width, height = grid
    degree = math.pi / 180.0
    for c in range(CELLS):
        apart = apart_from(c, west, width, lon, not space.on_earth)
        if space.on_earth:
            apart = min(
                apart,
                apart_from(c, west, width, lon - 360.0, False),
                apart_from(c, west, width, lon + 360.0, False),
            )
            by_column[c] = math.sin(apart * degree / 2.0) ** 2
        else:
            by_column[c] = (apart / space.max_dist) ** 2
    for r in range(CELLS):
        apart = apart_from(r, south, height, lat, not space.on_earth)
        if space.on_earth:
            by_row[r] = math.sin(apart * degree / 2.0) ** 2
            low, high = south + r * height, south + (r + 1) * height
            level = min(math.cos(low * degree), math.cos(high * degree))
            by_level[r] = max(0.0, level) * math.cos(lat * degree)
        else:
            by_row[r] = (apart / space.max_dist) ** 2
            by_level[r] = 1.0


@njit(cache=True, nogil=True)
def search(wanted, slot, messages, rings, idf, grid, space, most, scores, seqs):
    """The `most` best messages as a heap: (how many, the best score that had no place)."""
    first, count = wanted.first[slot], wanted.words[slot]
    alpha, lon, lat = wanted.alpha[slot], wanted.lon[slot], wanted.lat[slot]
    by_column = np.empty(CELLS)
    by_row = np.empty(CELLS)
    by_level = np.empty(CELLS)
    nearness_of_cells(lon, lat, grid, space, by_column, by_row, by_level)
    size, lost = 0, -1.0
    tail = 0.0
    for t in range(first, first + count):
        tail += wanted.weight[t] * wanted.weight[t]
    mask, ring = len(messages.lon) - 1, len(messages.word) - 1
    word, weight = np.empty(16, np.int32), np.empty(16, np.float64)
    for t in range(first, first + count):
        if size == most and alpha + (1.0 - alpha) * math.sqrt(tail) < scores[0]:
            break  # even a message of the same place with all the words that are left
        mine = wanted.weight[t]
        tail = max(0.0, tail - mine * mine)
        rest = math.sqrt(tail)
        start, room = rings.start[wanted.word[t]], rings.room[wanted.word[t]]
        head, held = rings.head[wanted.word[t]], rings.held[wanted.word[t]]
        for i in range(held - 1, -1, -1):  # the newest first
            at = start + ((head + i) & (room - 1))
            if size == most:
                theirs = rings.weight[at] / 65535.0
                alike = mine * theirs + rest * math.sqrt(max(0.0, 1.0 - theirs * theirs) + 4e-5)
                cell = rings.cell[at]
                square = by_row[cell % CELLS] + by_level[cell % CELLS] * by_column[cell // CELLS]
                if space.on_earth:
                    near = 1.0 - 2.0 * space.unit * math.asin(min(1.0, math.sqrt(square)))
                else:
                    near = 1.0 - math.sqrt(square)
                if alpha * max(0.0, near) + (1.0 - alpha) * alike + 1e-9 < scores[0]:
                    continue
            seq = rings.seq[at]
            m = seq & mask
            if not messages.live[m]:
                continue
            words = messages.words[m]
            if words > len(word):
                word, weight = np.empty(words, np.int32), np.empty(words, np.float64)
            begin = messages.first[m]
            for j in range(words):
                number = messages.word[(begin + j) & ring]
                word[j] = number
                weight[j] = messages.times[(begin + j) & ring] * idf[number] / messages.length[m]
            if seen_before(wanted, first, t, word[:words]):
                continue
            score = score_of(
                wanted, slot, messages.lon[m], messages.lat[m], word[:words], weight[:words], space
            )
            if size < most:
                scores[size], seqs[size] = score, seq
                size += 1
                if size == most:
                    for h in range(size // 2 - 1, -1, -1):
                        sift_down(scores, seqs, size, h)
            elif is_worse(scores[0], seqs[0], score, seq):
                lost = max(lost, scores[0])
                scores[0], seqs[0] = score, seq
                sift_down(scores, seqs, size, 0)
            else:
                lost = max(lost, score)
    return size, lost


@njit(cache=True, nogil=True)
def seen_before(wanted, first, t, word):
    """Has the message a word of the subscription that comes before t?"""
    for earlier in range(first, t):
        for each in word:
            if each == wanted.word[earlier]:
                return True
    return False


@njit(cache=True, nogil=True)
def fill_row(buffers, wanted, slot, messages, rings, idf, grid, space):
    """A row from the window alone, with a threshold that fits; there is spare room."""
    k = wanted.k[slot]
    most = most_entries(k) - k
    scores, seqs = np.empty(most), np.empty(most, np.int32)
    size, lost = search(wanted, slot, messages, rings, idf, grid, space, most, scores, seqs)
    # Best first: the worst goes to the end, again and again.
    if size < most:
        for h in range(size // 2 - 1, -1, -1):
            sift_down(scores, seqs, size, h)
    worst = scores[0] if size > 0 else 0.0
    for last in range(size - 1, 0, -1):
        scores[0], scores[last] = scores[last], scores[0]
        seqs[0], seqs[last] = seqs[last], seqs[0]
        sift_down(scores, seqs, last, 0)
    theta = 0.0
    if lost >= 0.0 or size == most:
        theta = worst
        if lost == worst:
            # Older ones of the lowest score are missing. They never come into the list where k
            # newer ones of that score are here; else that score is not kept.
            equal = 0
            while equal < size and scores[size - 1 - equal] == worst:
                equal += 1
            if equal < k:
                size -= equal
                theta = scores[size - 1]
    release_row(buffers, buffers.start[slot], buffers.room[slot])
    at = claim_row(buffers, size + 1)
    for i in range(size):
        buffers.score[at + i] = scores[i]
        buffers.seq[at + i] = seqs[i]
    buffers.start[slot] = at
    buffers.room[slot] = (size + STEP) // STEP * STEP
    buffers.held[slot] = size
    drop_dominated(buffers, slot, k)
    buffers.theta[slot] = theta


@njit(cache=True, nogil=True)
def fill_rows(buffers, wanted, slots, messages, rings, idf, grid, space):
    """Rows for new subscriptions; the buffers, larger perhaps."""
    for slot in slots:
        buffers = with_spare(buffers, most_entries(wanted.k[slot]) + STEP)
        fill_row(buffers, wanted, slot, messages, rings, idf, grid, space)
    return buffers
