"""For each word the subscriptions that want it, with what tells whether a message may concern them.

    lists    int32[V, 4]            START, where the list of a word begins; HELD, postings with
                                    holes; ROOM, as `room_for` gives it; CHANGES since it was sorted
    slot     int32[P]               the subscription, -1 for a hole
    data     float32[P/B, 7, B]     place (X, Y, Z), ALPHA, THETA, WEIGHT of the word, TAIL
    block    float32[P/B/8, 12, 8]  of eight blocks of B postings each, of lists of several
    free     int32[SIZES]           the first free list of each size, -1 for none; `slot` leads to
                                    the next
    used     int64[1]               postings in use, with free lists

Words have an order: rare ones first. The *tail* of a posting are the words of the subscription that
come after its word. A message meets a subscription at the first word that both have, and there

    wt(s.w) * wt(m.w) + |tail of s| * |tail of m|

is the most that their words can have in common (Cauchy and Schwarz), so that no other list needs
to be asked, and nothing has to be added up. Places are on the unit sphere, or in the plane: the
straight line is never longer than the way along the surface.

A list of several blocks is sorted now and then, so that a block has subscriptions of one
neighbourhood that are about as hard to please: most blocks are passed over as a whole. A block has
a ball around its places (MIDDLE_X, _Y, _Z, REACH), the LEAST_ALPHA, and the most by which a message
at the same place would exceed a threshold (SURPLUS) if its word and its tail both had the weight
USUAL; with the least and the most of what a larger or smaller weight of the word (WORD_LEAST,
WORD_MOST) or of the tail (TAIL_LEAST, TAIL_MOST) changes. The first block of a list also has the
RECENT weight of its word in messages, a moving average, for when it is sorted again.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.large_pages import in_large_pages
from nearcast.topk._flat.sizes import SIZES, give_room, kind_for, log2, size_of, take_room
from nearcast.topk._flat.subscriptions import (
    ALPHA as PLACE_ALPHA,
)
from nearcast.topk._flat.subscriptions import (
    FIRST,
    LAT,
    LON,
    WORDS,
    spot,
)
from nearcast.topk._flat.subscriptions import (
    THETA as PLACE_THETA,
)
from nearcast.topk.word_lists import _order

START, HELD, ROOM, CHANGES = range(4)
X, Y, Z, ALPHA, THETA, WEIGHT, TAIL = range(7)
MIDDLE_X, MIDDLE_Y, MIDDLE_Z, REACH, LEAST_ALPHA, SURPLUS, USUAL = range(7)
WORD_LEAST, WORD_MOST, TAIL_LEAST, TAIL_MOST, RECENT = range(7, 12)
BLOCK = 32
WHOLE = 5  # a block is 2**5 postings
TOGETHER = 8  # blocks that are looked at in one go
ROUNDING = np.float32(4e-6)  # of a score that was computed in float32 from float32 values
FIRST_GUESS = np.float32(0.15)  # weight of a frequent word in a message
ALL = np.float32(1.0)
NEVER = np.float32(np.inf)  # the threshold of a hole


class Postings(NamedTuple):
    """The arrays; see the module docstring."""

    lists: NDArray[np.int32]
    slot: NDArray[np.int32]
    data: NDArray[np.float32]
    block: NDArray[np.float32]
    free: NDArray[np.int32]
    used: NDArray[np.int64]


def no_postings() -> Postings:
    """The arrays of no word."""
    return Postings(
        np.empty((0, 4), np.int32),
        np.empty(BLOCK, np.int32),
        np.empty((1, 7, BLOCK), np.float32),
        np.empty((1, 12, TOGETHER), np.float32),
        np.full(SIZES, -1, np.int32),
        np.zeros(1, np.int64),
    )


@inner
def block_of(postings, at):
    """What is known of the block of a posting."""
    number = at // BLOCK
    return postings.block[number // TOGETHER, :, number % TOGETHER]


# ---------------------------------------------------------------- room


@inner
def release_list(postings, at, room):
    """Room that is free for other lists."""
    if room < BLOCK:
        kind = log2(room)
        postings.slot[at] = postings.free[kind]
        postings.free[kind] = at
    else:
        give_room(postings.free[WHOLE:], postings.slot, at, room // BLOCK, BLOCK)


@inner
def claim_list(postings, room):
    """Room for so many postings, as `room_for` says: (postings, larger perhaps, where it begins).

    It begins at a multiple of its size, or at a block.
    """
    wanted = kind = log2(min(room, BLOCK))
    while kind < WHOLE and postings.free[kind] < 0:
        kind += 1
    if kind < WHOLE:
        at = postings.free[kind]
        postings.free[kind] = postings.slot[at]
    else:
        blocks = max(1, room // BLOCK)
        at = take_room(postings.free[WHOLE:], postings.slot, kind_for(blocks), BLOCK)
    if at < 0:
        used = postings.used[0]
        at = np.int32(used)
        postings.used[0] = used + max(room, BLOCK)
        if postings.used[0] > len(postings.slot):
            blocks = (postings.used[0] + postings.used[0] // 8) // BLOCK + 1
            slot = in_large_pages(np.empty(blocks * BLOCK, np.int32))
            data = in_large_pages(np.empty((blocks, 7, BLOCK), np.float32))
            groups = (blocks + TOGETHER - 1) // TOGETHER
            block = in_large_pages(np.empty((groups, 12, TOGETHER), np.float32))
            slot[:used] = postings.slot[:used]
            data[: used // BLOCK] = postings.data[: used // BLOCK]
            block[: len(postings.block)] = postings.block
            postings = Postings(postings.lists, slot, data, block, postings.free, postings.used)
    while kind > wanted:  # what is too large is halved
        kind -= 1
        release_list(postings, at + (1 << kind), 1 << kind)
    return postings, at


@inner
def with_room_of(subscriptions, postings, word, room, space):
    """A list sorted anew, without holes, in a place of another size, or the same; or none at all.

    O(postings log postings).
    """
    old, count, old_room = (
        postings.lists[word, START],
        postings.lists[word, HELD],
        postings.lists[word, ROOM],
    )
    usual = block_of(postings, old)[RECENT] if old_room > BLOCK else FIRST_GUESS
    order = sorted_postings(postings, old, count, room, usual, space)
    slots, data = np.empty(len(order), np.int32), np.empty((7, len(order)), np.float32)
    for i in range(len(order)):
        at = old + order[i]
        slots[i] = postings.slot[at]
        for field in range(7):
            data[field, i] = postings.data[at // BLOCK, field, at % BLOCK]
    start = np.int32(old)
    if room != old_room:
        if old_room > 0:
            release_list(postings, old, old_room)
        start = np.int32(-1)
        if room > 0:
            postings, start = claim_list(postings, room)
    for i in range(len(order)):
        at = start + i
        postings.slot[at] = slots[i]
        for field in range(7):
            postings.data[at // BLOCK, field, at % BLOCK] = data[field, i]
        subscriptions.where[term_of(subscriptions, slots[i], word)] = i
    if room > BLOCK:
        for begin in range(0, len(order), BLOCK):
            sum_up(postings, start + begin, min(BLOCK, len(order) - begin), usual)
        block_of(postings, start)[RECENT] = usual
    postings.lists[word, START] = start
    postings.lists[word, HELD] = len(order)
    postings.lists[word, ROOM] = room
    postings.lists[word, CHANGES] = 0
    return postings


@inner
def term_of(subscriptions, slot, word):
    """Where the term of a subscription with this word is."""
    t = subscriptions.head[slot, FIRST]
    while subscriptions.word[t] != word:
        t += 1
    return t


@inner
def room_for(count):
    """The room of a list of so many postings: 0, a power of two up to a block, or whole blocks."""
    if count > BLOCK:
        return BLOCK * size_of(kind_for((count + BLOCK - 1) // BLOCK))
    room = min(1, count)
    while room < count:
        room *= 2
    return room


# ---------------------------------------------------------------- sorting


@inner
def sorted_postings(postings, at, count, room, usual, space):
    """Positions in a list without holes; for several blocks, by who is alike."""
    live = np.empty(count, np.int64)
    held = 0
    for i in range(count):
        if postings.slot[at + i] >= 0:
            live[held] = i
            held += 1
    live = live[:held]
    if room <= BLOCK:
        return live
    alike = np.empty((5, held), np.float32)
    scale = np.float32(space.unit)
    for n in range(held):
        data, lane = postings.data[(at + live[n]) // BLOCK], (at + live[n]) % BLOCK
        for axis in range(3):
            alike[axis, n] = scale * data[axis, lane]
        alike[_order.ALPHA, n] = data[ALPHA, lane]
        alike[_order.SURPLUS, n] = surplus(data, lane, usual)
    return live[_order.in_halves(alike, BLOCK)]


@inner
def surplus(data, lane, usual):
    """By how much a message of the same place exceeds the threshold, of usual weight."""
    alpha = data[ALPHA, lane]
    alike = usual * (data[WEIGHT, lane] + data[TAIL, lane])
    return alpha - data[THETA, lane] + (ALL - alpha) * alike


@inner
def sum_up(postings, begin, count, usual):
    """What the first so many postings of the block that begins there have in common."""
    data, block = postings.data[begin // BLOCK], block_of(postings, begin)
    begin_block(block, data, 0, usual)
    for axis in range(3):
        low = high = data[axis, 0]
        for i in range(1, count):
            low, high = min(low, data[axis, i]), max(high, data[axis, i])
        block[axis] = low + (high - low) / np.float32(2.0)
    for i in range(count):
        extend_block(block, data, i)


@inner
def begin_block(block, data, lane, usual):
    """A block of one posting."""
    block[MIDDLE_X], block[MIDDLE_Y], block[MIDDLE_Z] = data[X, lane], data[Y, lane], data[Z, lane]
    block[REACH] = 0.0
    block[LEAST_ALPHA] = data[ALPHA, lane]
    block[USUAL] = usual
    block[SURPLUS] = surplus(data, lane, usual)
    block[WORD_LEAST] = block[WORD_MOST] = (ALL - data[ALPHA, lane]) * data[WEIGHT, lane]
    block[TAIL_LEAST] = block[TAIL_MOST] = (ALL - data[ALPHA, lane]) * data[TAIL, lane]


@inner
def extend_block(block, data, lane):
    """A block with one posting more; what it had in common before may only get wider."""
    dx = data[X, lane] - block[MIDDLE_X]
    dy = data[Y, lane] - block[MIDDLE_Y]
    dz = data[Z, lane] - block[MIDDLE_Z]
    reach = np.float32(math.sqrt(dx * dx + dy * dy + dz * dz)) * np.float32(1.000001)
    by_word = (ALL - data[ALPHA, lane]) * data[WEIGHT, lane]
    by_tail = (ALL - data[ALPHA, lane]) * data[TAIL, lane]
    block[REACH] = max(block[REACH], reach)
    block[LEAST_ALPHA] = min(block[LEAST_ALPHA], data[ALPHA, lane])
    block[SURPLUS] = max(block[SURPLUS], surplus(data, lane, block[USUAL]))
    block[WORD_LEAST] = min(block[WORD_LEAST], by_word)
    block[WORD_MOST] = max(block[WORD_MOST], by_word)
    block[TAIL_LEAST] = min(block[TAIL_LEAST], by_tail)
    block[TAIL_MOST] = max(block[TAIL_MOST], by_tail)


# ---------------------------------------------------------------- subscriptions


@njit(cache=True, nogil=True)
def lower_threshold(theta):
    """A threshold that nothing falls short of by rounding; everything reaches that of 0."""
    return np.float32(theta) - ROUNDING if theta > 0.0 else np.float32(-1.0)


@inner
def put_postings(subscriptions, postings, slot, space):
    """Enter a subscription in the lists of its words.  O(words), amortised."""
    place = subscriptions.place[slot]
    x, y, z = spot(place[LON], place[LAT], space)
    first, count = subscriptions.head[slot, FIRST], subscriptions.head[slot, WORDS]
    tail = 0.0
    for t in range(first + count - 1, first - 1, -1):
        word, weight = subscriptions.word[t], subscriptions.weight[t]
        held, room = postings.lists[word, HELD], postings.lists[word, ROOM]
        if held == room:
            larger = room_for(held + 1)
            postings = with_room_of(subscriptions, postings, word, larger, space)
            held = postings.lists[word, HELD]
        at = postings.lists[word, START] + held
        data, lane = postings.data[at // BLOCK], at % BLOCK
        postings.slot[at] = slot
        data[X, lane], data[Y, lane], data[Z, lane] = x, y, z
        data[ALPHA, lane] = place[PLACE_ALPHA]
        data[THETA, lane] = lower_threshold(place[PLACE_THETA])
        data[WEIGHT, lane], data[TAIL, lane] = weight, math.sqrt(tail)
        if postings.lists[word, ROOM] > BLOCK:
            if held % BLOCK == 0:
                usual = block_of(postings, postings.lists[word, START])[USUAL]
                begin_block(block_of(postings, at), data, lane, usual)
            else:
                extend_block(block_of(postings, at), data, lane)
        postings.lists[word, HELD] = held + 1
        subscriptions.where[t] = held
        postings = note_change(subscriptions, postings, word, space)
        tail += weight * weight
    return postings


@njit(cache=True, nogil=True)
def put_all_postings(subscriptions, postings, slots, space):
    """Enter new subscriptions."""
    for slot in slots:
        postings = put_postings(subscriptions, postings, slot, space)
    return postings


@inner
def note_change(subscriptions, postings, word, space):
    """One change more in a list of several blocks, which is sorted again when there are many."""
    if postings.lists[word, ROOM] > BLOCK:
        postings.lists[word, CHANGES] += 1
        held, room = postings.lists[word, HELD], postings.lists[word, ROOM]
        first = block_of(postings, postings.lists[word, START])
        # What is usual was a guess before the first messages.
        was_wrong = abs(first[RECENT] - first[USUAL]) > np.float32(0.25) * first[USUAL]
        enough = BLOCK if was_wrong else (held + BLOCK) // 4
        if postings.lists[word, CHANGES] > enough:
            live = 0
            for i in range(held):
                live += postings.slot[postings.lists[word, START] + i] >= 0
            smaller = room_for(live) if 2 * live < room else room
            postings = with_room_of(subscriptions, postings, word, smaller, space)
    return postings


@njit(cache=True, nogil=True)
def take_postings(subscriptions, postings, slot, space):
    """Take a subscription out of the lists of its words.  O(words), amortised."""
    first, count = subscriptions.head[slot, FIRST], subscriptions.head[slot, WORDS]
    for t in range(first, first + count):
        word, position = subscriptions.word[t], subscriptions.where[t]
        at, last = postings.lists[word, START], postings.lists[word, HELD] - 1
        hole = at + position
        if postings.lists[word, ROOM] > BLOCK:
            postings.slot[hole] = -1
            postings.data[hole // BLOCK, THETA, hole % BLOCK] = NEVER
            postings = note_change(subscriptions, postings, word, space)
            continue
        postings.lists[word, HELD] = last
        if last == 0:
            release_list(postings, at, postings.lists[word, ROOM])
            postings.lists[word, ROOM] = 0
        elif position < last:
            moved = postings.slot[at + last]
            postings.slot[hole] = moved
            postings.data[hole // BLOCK, :, hole % BLOCK] = postings.data[
                (at + last) // BLOCK, :, (at + last) % BLOCK
            ]
            subscriptions.where[term_of(subscriptions, moved, word)] = position
    return postings


@inner
def tell_threshold(subscriptions, postings, slot, space):
    """The lists know a subscription's new threshold.  O(words), amortised."""
    theta = lower_threshold(subscriptions.place[slot, PLACE_THETA])
    first, count = subscriptions.head[slot, FIRST], subscriptions.head[slot, WORDS]
    for t in range(first, first + count):
        word = subscriptions.word[t]
        at = postings.lists[word, START] + subscriptions.where[t]
        data, lane = postings.data[at // BLOCK], at % BLOCK
        data[THETA, lane] = theta
        if postings.lists[word, ROOM] > BLOCK:
            block = block_of(postings, at)
            block[SURPLUS] = max(block[SURPLUS], surplus(data, lane, block[USUAL]))
            postings = note_change(subscriptions, postings, word, space)
    return postings
