"""Whom of a list may a message concern?

First the blocks, eight at a time, then the postings of those blocks that are not passed over, which
are asked for in time: most of what is scanned comes from far away.
"""

import math

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.prefetch import prefetch_row
from nearcast.topk._flat.subscriptions import spot, spot_error
from nearcast.topk.word_lists._postings import (
    ALL,
    ALPHA,
    BLOCK,
    HELD,
    LEAST_ALPHA,
    MIDDLE_X,
    MIDDLE_Y,
    MIDDLE_Z,
    REACH,
    RECENT,
    ROOM,
    ROUNDING,
    START,
    SURPLUS,
    TAIL,
    TAIL_LEAST,
    TAIL_MOST,
    THETA,
    TOGETHER,
    USUAL,
    WEIGHT,
    WORD_LEAST,
    WORD_MOST,
    X,
    Y,
    Z,
    block_of,
)

NOTHING = np.float32(0.0)
AHEAD = 2  # blocks, of those to be scanned, that are asked for
LINE = 16  # numbers of a cache line


@inner
def concerned(postings, word, weight, lon, lat, space, largest):
    """The subscriptions that a message may concern, some twice, and how near each may be."""
    most = 0
    for each in word:
        most += postings.lists[each, HELD]
        ask_for_list(postings, each)
    found, nears = np.empty(most, np.int32), np.empty(most, np.float32)
    numbers = np.empty(most // BLOCK + 1, np.int32)
    tails = np.empty(len(word))
    square = 0.0
    for j in range(len(word) - 1, -1, -1):
        tails[j] = math.sqrt(square)
        square += weight[j] * weight[j]
    place = spot(lon, lat, space)
    slack = 1.0 + space.unit * spot_error(lon, lat, largest, space)
    hits = 0
    for j in range(len(word)):
        hits = scan_list(
            postings, word[j], place, np.float32(weight[j]), np.float32(tails[j]),
            np.float32(space.unit), np.float32(slack), hits, found, nears, numbers,
        )  # fmt: skip
    return found[:hits], nears[:hits]


@inner
def ask_for_list(postings, word):
    """Have the beginning of a list brought near."""
    number = postings.lists[word, START] // BLOCK
    if postings.lists[word, ROOM] > BLOCK:
        prefetch_row(postings.block, number // TOGETHER)
    elif postings.lists[word, HELD] > 0:
        ask_for_block(postings, number)


@njit(cache=True, nogil=True)
def scan_lanes(data, slots, first, last, place, weight, tail, scale, slack, hits, found, nears):
    """Add the postings first:last of a block that a message may concern: how many are found now."""
    x, y, z = place
    xs, ys, zs = data[X, first:last], data[Y, first:last], data[Z, first:last]
    alphas, thetas = data[ALPHA, first:last], data[THETA, first:last]
    weights, tails = data[WEIGHT, first:last], data[TAIL, first:last]
    # Without branches, so that it is done eight at a time; the second loop seldom finds any.
    above = np.uint32(0)
    for i in range(len(xs)):
        dx, dy, dz = xs[i] - x, ys[i] - y, zs[i] - z
        near = max(NOTHING, slack - scale * np.sqrt(dx * dx + dy * dy + dz * dz))
        alike = weights[i] * weight + tails[i] * tail
        is_above = alphas[i] * near + (ALL - alphas[i]) * alike >= thetas[i]
        above |= np.uint32(is_above) << np.uint32(i)
    if above > 0:
        for i in range(len(xs)):
            if (above >> np.uint32(i)) & np.uint32(1):
                dx, dy, dz = xs[i] - x, ys[i] - y, zs[i] - z
                found[hits] = slots[first + i]
                nears[hits] = max(NOTHING, slack - scale * np.sqrt(dx * dx + dy * dy + dz * dz))
                hits += 1
    return hits


@njit(cache=True, nogil=True)
def may_concern(blocks, place, weight, tail, scale, slack):
    """Which of eight blocks perhaps have a posting that a message concerns?  A bit for each."""
    x, y, z = place
    xs, ys, zs, reaches = blocks[MIDDLE_X], blocks[MIDDLE_Y], blocks[MIDDLE_Z], blocks[REACH]
    alphas, surpluses, usuals = blocks[LEAST_ALPHA], blocks[SURPLUS], blocks[USUAL]
    word_least, word_most = blocks[WORD_LEAST], blocks[WORD_MOST]
    tail_least, tail_most = blocks[TAIL_LEAST], blocks[TAIL_MOST]
    off = slack - ALL
    maybe = np.uint32(0)
    for i in range(TOGETHER):
        dx, dy, dz = xs[i] - x, ys[i] - y, zs[i] - z
        apart = scale * (np.sqrt(dx * dx + dy * dy + dz * dz) - reaches[i])
        apart = min(ALL, max(NOTHING, apart - np.float32(3.0) * off))
        more, rest = weight - usuals[i], tail - usuals[i]
        by_word = max(more * word_most[i], more * word_least[i])
        by_tail = max(rest * tail_most[i], rest * tail_least[i])
        most = surpluses[i] + by_word + by_tail + off + ROUNDING
        maybe |= np.uint32(most >= alphas[i] * apart) << np.uint32(i)
    return maybe


@inner
def blocks_to_scan(postings, at, count, place, weight, tail, scale, slack, numbers):
    """Write the blocks of a list of several that a message may concern: how many they are."""
    first, last = at // BLOCK, (at + count - 1) // BLOCK
    chosen = 0
    for group in range(first // TOGETHER, last // TOGETHER + 1):
        maybe = may_concern(postings.block[group], place, weight, tail, scale, slack)
        if maybe > 0:
            for i in range(TOGETHER):
                number = group * TOGETHER + i
                if (maybe >> np.uint32(i)) & np.uint32(1) and first <= number <= last:
                    numbers[chosen] = number
                    chosen += 1
    return chosen


@inner
def ask_for_block(postings, number):
    """Have the postings of a block brought near."""
    data = postings.data[number].reshape(-1)
    for i in range(0, len(data), LINE):
        prefetch_row(data, i)
    prefetch_row(postings.slot, number * BLOCK)
    prefetch_row(postings.slot, number * BLOCK + LINE)


@inner
def scan_list(postings, word, place, weight, tail, scale, slack, hits, found, nears, numbers):
    """Add to `found`, from `found[hits]` on, the subscriptions a message may concern: how many now.

    `scale` is the share of the longest distance that a unit is, `slack` what places may be off by.
    `numbers` has room for those of all blocks of the list.
    """
    at, count = postings.lists[word, START], postings.lists[word, HELD]
    if count == 0:
        return hits
    if postings.lists[word, ROOM] <= BLOCK:
        number, lane = at // BLOCK, at % BLOCK
        slots = postings.slot[number * BLOCK : (number + 1) * BLOCK]
        return scan_lanes(
            postings.data[number], slots, lane, lane + count, place, weight, tail, scale, slack,
            hits, found, nears,
        )  # fmt: skip
    head = block_of(postings, at)
    head[RECENT] += (weight - head[RECENT]) / np.float32(16.0)
    chosen = blocks_to_scan(postings, at, count, place, weight, tail, scale, slack, numbers)
    for n in range(min(AHEAD, chosen)):
        ask_for_block(postings, numbers[n])
    for n in range(chosen):
        if n + AHEAD < chosen:
            ask_for_block(postings, numbers[n + AHEAD])
        begin = numbers[n] * BLOCK
        hits = scan_lanes(
            postings.data[numbers[n]], postings.slot[begin : begin + BLOCK], 0,
            min(BLOCK, at + count - begin), place, weight, tail, scale, slack, hits, found, nears,
        )  # fmt: skip
    return hits
