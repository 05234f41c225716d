"""What does a subscription keep, and what when it has run short?  Three ways.

COST_BASED  the k-skyband of the messages above a threshold that a cost model chooses
SKYBAND     the k-skyband above a share of the k-th score at the last search
KMAX        the best messages, k to kmax of them, dominated or not

Each takes what reaches the threshold of the row and searches the window when fewer than k are left.
"""

import numpy as np
from numba import njit

from nearcast.topk.skype._cost import SEARCH, SEARCH_POSTING, messages_to_keep
from nearcast.topk.skype._inner import inner
from nearcast.topk.skype._rows import KNOWS_ALL, enter, with_room_in_row, write_row
from nearcast.topk.word_lists._search import search, sift_down
from nearcast.topk.word_lists._window import LIVE

COST_BASED, SKYBAND, KMAX = range(3)


@njit(cache=True, nogil=True)
def most_kept(k, factor):
    """The kmax of a subscription."""
    return max(k, int(k * factor))


@inner
def accept(rows, wanted, slot, score, seq, messages, rings, how, arriving):
    """Put the newest message, which reaches the threshold, into a row: (rows, a new threshold?)"""
    k = wanted.k[slot]
    rows = with_room_in_row(rows, slot, rows.held[slot] + 1)
    enter(rows, slot, k, score, seq, how.policy != KMAX)
    held, at = rows.held[slot], rows.start[slot]
    if how.policy == KMAX:
        if held <= most_kept(k, how.factor):
            return rows, False
        cut_row(rows, slot, held - 1)
    elif how.policy == COST_BASED:
        if held < 2 * rows.aim[slot]:  # the reflecting barrier of the cost model
            return rows, False
        choose_aim(rows, wanted, slot, messages, rings, arriving)
        if held < 2 * rows.aim[slot]:
            return rows, False
        cut_row(rows, slot, rows.aim[slot])
    else:
        if rows.theta[slot] != KNOWS_ALL or held < 2 * k:
            return rows, False
        # The window had too few when it was searched; now there is a k-th score.
        theta = how.ratio * rows.score[at + k - 1]
        while rows.score[at + held - 1] < theta:
            held -= 1
        rows.held[slot], rows.theta[slot] = held, theta
    return rows, True


@inner
def choose_aim(rows, wanted, slot, messages, rings, arriving):
    """How many messages the threshold of a subscription should leave, as the window is now."""
    k = wanted.k[slot]
    window = max(messages.ends[LIVE], k + 1)
    rows.aim[slot] = messages_to_keep(k, window, arriving, cost_of_search(wanted, slot, rings))


@inner
def cut_row(rows, slot, count):
    """Keep the best so many, and know nothing of others."""
    rows.held[slot] = count
    rows.theta[slot] = rows.score[rows.start[slot] + count - 1]


@inner
def best_first(scores, seqs, size, most):
    """Sort what `search` has found; it is a heap when it is full.  O(size log size)."""
    if size < most:
        for h in range(size // 2 - 1, -1, -1):
            sift_down(scores, seqs, size, h)
    for last in range(size - 1, 0, -1):
        scores[0], scores[last] = scores[last], scores[0]
        seqs[0], seqs[last] = seqs[last], seqs[0]
        sift_down(scores, seqs, last, 0)


@inner
def cost_of_search(wanted, slot, rings):
    """What a search costs, as the cost model counts."""
    looks = 0
    first = wanted.first[slot]
    for t in range(first, first + wanted.words[slot]):
        looks += rings.held[wanted.word[t]]
    return SEARCH + SEARCH_POSTING * looks


@inner
def refill(rows, wanted, slot, messages, rings, idf, grid, space, how, arriving):
    """A row from the window alone, with a threshold that fits: the rows."""
    k = wanted.k[slot]
    if how.policy == COST_BASED:
        choose_aim(rows, wanted, slot, messages, rings, arriving)
        most = rows.aim[slot]
    elif how.policy == KMAX:
        most = most_kept(k, how.factor)
    else:
        most = 2 * k
    while True:
        scores, seqs = np.empty(most), np.empty(most, np.int32)
        size, _ = search(wanted, slot, messages, rings, idf, grid, space, most, scores, seqs)
        best_first(scores, seqs, size, most)
        theta = scores[size - 1] if size == most else KNOWS_ALL
        if how.policy != SKYBAND or size < k:
            break
        theta = how.ratio * scores[k - 1]
        if size < most or scores[size - 1] < theta:
            while scores[size - 1] < theta:
                size -= 1
            break
        most *= 4
    rows.theta[slot] = theta
    return write_row(rows, slot, k, scores[:size], seqs[:size], how.policy != KMAX)
