"""Postings in an order such that those of a block are alike.

All that makes a block's bound loose is measured in scores: how much the surpluses differ, how much
the alphas do, at the distance that messages usually have, and how far apart the places are, which
matters as much as alpha says. The list is halved where it differs most, and so on to the blocks.
"""

import numpy as np

from nearcast.inner import inner

X, Y, Z, ALPHA, SURPLUS = range(5)  # rows of `alike`; places in shares of the longest distance
APART = np.float32(0.3)  # where messages usually are, as such a share
FARTHEST = np.float32(1.0)
DEEP = 128  # more than twice the halvings of the longest list


@inner
def in_halves(alike, block):
    """The order of the columns of `alike`: neighbours are in one block.  O(n log² n)."""
    count = alike.shape[1]
    order = np.arange(count)
    waiting, top = np.empty((DEEP, 2), np.int64), 1
    waiting[0] = 0, count
    while top > 0:
        top -= 1
        begin, end = waiting[top]
        if end - begin <= block:
            continue
        key = alike[most_different(alike, order[begin:end])]
        part = order[begin:end].copy()
        values = np.empty(len(part), np.float32)
        for i in range(len(part)):
            values[i] = key[part[i]]
        order[begin:end] = part[np.argsort(values)]
        # Whole blocks on the left: two at least are here.
        middle = begin + (end - begin + block) // (2 * block) * block
        waiting[top], waiting[top + 1] = (begin, middle), (middle, end)
        top += 2
    return order


@inner
def most_different(alike, members):
    """The row in which these columns differ most, in scores."""
    best, most = SURPLUS, np.float32(-1.0)
    total = np.float32(0.0)
    for i in members:
        total += alike[ALPHA, i]
    alpha = total / np.float32(len(members))
    for row in range(5):
        low = high = alike[row, members[0]]
        for i in members:
            low, high = min(low, alike[row, i]), max(high, alike[row, i])
        spread = high - low
        if row == ALPHA:
            spread *= APART
        elif row != SURPLUS:
            spread = min(FARTHEST, spread) * alpha
        if spread > most:
            best, most = row, spread
    return best
