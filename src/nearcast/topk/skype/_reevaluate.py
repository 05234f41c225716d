"""What does a subscription keep, and what when it has run short?  Three ways.

COST_BASED  the k-skyband of the messages above a threshold that a cost model chooses
SKYBAND     the k-skyband above a share of the k-th score at the last search
KMAX        the best messages, k to kmax of them, dominated or not

Each takes what reaches the threshold of the row and searches the window when fewer than k are left.
"""

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.topk._flat.search import NEVER, OFF, best_first, search
from nearcast.topk._flat.subscriptions import FIRST, HELD, START, STEP, THETA, WORDS, K
from nearcast.topk._flat.window import HELD as RING_HELD
from nearcast.topk._flat.window import LIVE
from nearcast.topk.skype._cost import SEARCH, SEARCH_POSTING, messages_to_keep
from nearcast.topk.skype._rows import KNOWS_ALL, enter, with_room_in_row, write_row

COST_BASED, SKYBAND, KMAX = range(3)


@njit(cache=True, nogil=True)
def most_kept(k, factor):
    """The kmax of a subscription."""
    return max(k, int(k * factor))


@inner
def accept(subscriptions, rows, slot, score, seq, messages, rings, how, arriving):
    """Put the newest message, which reaches the threshold, into a row: (rows, a new threshold?)"""
    k = subscriptions.head[slot, K]
    rows = with_room_in_row(subscriptions, rows, slot, subscriptions.head[slot, HELD] + 1)
    enter(subscriptions, rows, slot, k, score, seq, how.policy != KMAX)
    held, at = subscriptions.head[slot, HELD], subscriptions.head[slot, START] * STEP
    if how.policy == KMAX:
        if held <= most_kept(k, how.factor):
            return rows, False
        cut_row(subscriptions, rows, slot, held - 1)
    elif how.policy == COST_BASED:
        if held < 2 * rows.aim[slot]:  # the reflecting barrier of the cost model
            return rows, False
        choose_aim(subscriptions, rows, slot, messages, rings, arriving)
        if held < 2 * rows.aim[slot]:
            return rows, False
        cut_row(subscriptions, rows, slot, rows.aim[slot])
    else:
        if subscriptions.place[slot, THETA] != KNOWS_ALL or held < 2 * k:
            return rows, False
        # The window had too few when it was searched; now there is a k-th score.
        theta = how.ratio * rows.score[at + k - 1]
        while rows.score[at + held - 1] < theta:
            held -= 1
        subscriptions.head[slot, HELD] = held
        subscriptions.place[slot, THETA] = theta
    return rows, True


@inner
def choose_aim(subscriptions, rows, slot, messages, rings, arriving):
    """How many messages the threshold of a subscription should leave, as the window is now."""
    k = subscriptions.head[slot, K]
    window = max(messages.ends[LIVE], k + 1)
    search_cost = cost_of_search(subscriptions, slot, rings)
    rows.aim[slot] = messages_to_keep(k, window, arriving, search_cost)


@inner
def cut_row(subscriptions, rows, slot, count):
    """Keep the best so many, and know nothing of others."""
    head = subscriptions.head[slot]
    head[HELD] = count
    subscriptions.place[slot, THETA] = rows.score[head[START] * STEP + count - 1]


@inner
def cost_of_search(subscriptions, slot, rings):
    """What a search costs, as the cost model counts."""
    looks = 0
    first = subscriptions.head[slot, FIRST]
    for t in range(first, first + subscriptions.head[slot, WORDS]):
        looks += rings.rings[subscriptions.word[t], RING_HELD]
    return SEARCH + SEARCH_POSTING * looks


@inner
def refill(subscriptions, rows, slot, messages, rings, arranged, idf, grid, space, how, arriving):
    """A row from the window alone, with a threshold that fits: the rows."""
    k = subscriptions.head[slot, K]
    if how.policy == COST_BASED:
        choose_aim(subscriptions, rows, slot, messages, rings, arriving)
        most = rows.aim[slot]
    elif how.policy == KMAX:
        most = most_kept(k, how.factor)
    else:
        most = k
    window = (messages, rings, arranged, idf, grid, space)
    scores, seqs = best_of_window(subscriptions, slot, window, NEVER, most)
    theta = scores[-1] if len(scores) == most else KNOWS_ALL
    if how.policy == SKYBAND and theta != KNOWS_ALL:
        theta = how.ratio * scores[k - 1]
        while len(scores) == most and scores[-1] >= theta:  # there may be more above it
            most *= 4
            floor = np.float32(theta) - OFF
            scores, seqs = best_of_window(subscriptions, slot, window, floor, most)
        size = len(scores)
        while scores[size - 1] < theta:
            size -= 1
        scores, seqs = scores[:size], seqs[:size]
    subscriptions.place[slot, THETA] = theta
    return write_row(subscriptions, rows, slot, k, scores, seqs, how.policy != KMAX)


@inner
def best_of_window(subscriptions, slot, window, floor, most):
    """The best messages that score `floor` or more, best first: (scores, seqs)."""
    messages, rings, arranged, idf, grid, space = window
    scores, seqs = np.empty(most), np.empty(most, np.int32)
    size, _ = search(
        subscriptions, slot, messages, rings, arranged, idf, grid, space, floor, most, scores, seqs
    )
    best_first(scores, seqs, size, most)
    return scores[:size], seqs[:size]
