"""For each word the subscriptions that want it, with what tells whether a message may concern them.

    slot   int32[P]      the subscription
    data   float32[7, P] place (x, y, z), alpha, threshold, weight of the word, length of the tail
    start  int64[V]      where the list of a word begins
    held   int32[V]
    room   int32[V]      a power of two, or 0
    free   int64[32]     the first free list of 2**i postings, -1 for none; `slot` leads to the next
    used   int64[1]      postings in use, with free lists

Words have an order: rare ones first. The *tail* of a posting are the words of the subscription that
come after its word. A message meets a subscription at the first word that both have, and there

    wt(s.w) * wt(m.w) + |tail of s| * |tail of m|

is the most that their words can have in common (Cauchy and Schwarz), so that no other list needs
to be asked, and nothing has to be added up. Places are on the unit sphere, or in the plane: the
straight line is never longer than the way along the surface.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

X, Y, Z, ALPHA, THETA, WEIGHT, TAIL = range(7)
BLOCK = 16  # postings that are looked at together
ROUNDING = np.float32(4e-6)  # of a score that was computed in float32 from float32 values


class Postings(NamedTuple):
    """The arrays; see the module docstring."""

    slot: NDArray[np.int32]
    data: NDArray[np.float32]
    start: NDArray[np.int64]
    held: NDArray[np.int32]
    room: NDArray[np.int32]
    free: NDArray[np.int64]
    used: NDArray[np.int64]


def empty_postings() -> Postings:
    """No word."""
    return Postings(
        np.empty(64, np.int32),
        np.empty((7, 64), np.float32),
        np.empty(0, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.full(32, -1, np.int64),
        np.zeros(1, np.int64),
    )


@njit(cache=True, nogil=True)
def claim_list(postings, kind):
    """Room for 2**kind postings: (postings, larger perhaps, where it begins)."""
    at = postings.free[kind]
    if at >= 0:
        postings.free[kind] = postings.slot[at]
        return postings, at
    at = postings.used[0]
    postings.used[0] += 1 << kind
    needed = postings.used[0]
    if needed > len(postings.slot):
        size = needed + needed // 4
        slot, data = np.empty(size, np.int32), np.empty((7, size), np.float32)
        slot[:at] = postings.slot[:at]
        data[:, :at] = postings.data[:, :at]
        postings = Postings(
            slot, data, postings.start, postings.held, postings.room, postings.free,
            postings.used,
        )  # fmt: skip
    return postings, at


@njit(cache=True, nogil=True)
def move_list(postings, word, room):
    """The same postings where there is more, or less, room."""
    old, count, old_room = postings.start[word], postings.held[word], postings.room[word]
    at = np.int64(-1)
    if room > 0:
        postings, at = claim_list(postings, log2(room))
        postings.slot[at : at + count] = postings.slot[old : old + count]
        postings.data[:, at : at + count] = postings.data[:, old : old + count]
    if old_room > 0:
        kind = log2(old_room)
        postings.slot[old] = postings.free[kind]
        postings.free[kind] = old
    postings.start[word] = at
    postings.room[word] = room
    return postings


@njit(cache=True, nogil=True)
def log2(power):
    """The exponent of a power of two."""
    kind = 0
    while (1 << kind) < power:
        kind += 1
    return kind


@njit(cache=True, nogil=True)
def add_posting(postings, word):
    """Room for one more in the list of a word: (postings, its position there).  Amortised O(1)."""
    count, room = postings.held[word], postings.room[word]
    if count == room:
        postings = move_list(postings, word, max(1, 2 * room))
    postings.held[word] = count + 1
    return postings, count


@njit(cache=True, nogil=True)
def drop_posting(postings, word, position):
    """The last posting of a list takes the place of another: the slot that has moved, or -1."""
    at, last = postings.start[word], postings.held[word] - 1
    postings.held[word] = last
    if position == last:
        return np.int32(-1)
    postings.slot[at + position] = postings.slot[at + last]
    postings.data[:, at + position] = postings.data[:, at + last]
    return postings.slot[at + position]


@njit(cache=True, nogil=True)
def bound(dx, dy, dz, scale, slack, alpha, alike):
    """The most that a score can be, given the way between two spots and what words can share."""
    near = slack - scale * np.float32(math.sqrt(dx * dx + dy * dy + dz * dz))
    near = near if near > 0.0 else np.float32(0.0)
    return alpha * near + (np.float32(1.0) - alpha) * alike


@njit(cache=True, nogil=True)
def scan_list(postings, word, place, weight, tail, scale, slack, hits, found):
    """Add to `found`, from `found[hits]` on, the subscriptions a message may concern: how many now.

    `scale` is the share of the longest distance that a unit is, `slack` what places may be off by.
    """
    at, count = postings.start[word], postings.held[word]
    if count == 0:
        return hits
    x, y, z = place
    xs = postings.data[X, at : at + count]
    ys = postings.data[Y, at : at + count]
    zs = postings.data[Z, at : at + count]
    alphas = postings.data[ALPHA, at : at + count]
    thetas = postings.data[THETA, at : at + count]
    weights = postings.data[WEIGHT, at : at + count]
    tails = postings.data[TAIL, at : at + count]
    for first in range(0, count, BLOCK):
        last = min(count, first + BLOCK)
        # Without branches, so that it is done eight at a time; the second loop seldom finds any.
        above = np.int32(0)
        for i in range(first, last):
            alike = weights[i] * weight + tails[i] * tail
            score = bound(xs[i] - x, ys[i] - y, zs[i] - z, scale, slack, alphas[i], alike)
            above += np.int32(1) if score >= thetas[i] else np.int32(0)
        if above == 0:
            continue
        for i in range(first, last):
            alike = weights[i] * weight + tails[i] * tail
            score = bound(xs[i] - x, ys[i] - y, zs[i] - z, scale, slack, alphas[i], alike)
            if score >= thetas[i]:
                found[hits] = postings.slot[at + i]
                hits += 1
    return hits
