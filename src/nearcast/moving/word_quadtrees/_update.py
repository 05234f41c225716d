"""Messages come into the trees of their words, and leave them.  The arrays are in `_layout`."""

import numpy as np
from numba import njit

from nearcast.boolean.rarest_word_tree._frame import steps_of_point
from nearcast.inner import inner
from nearcast.moving._flat.messages import RECTS, RECTS_AT, WORDS, WORDS_AT
from nearcast.moving.word_quadtrees._layout import (
    NODE,
    REACH,
    RUN,
    SIZES,
    add,
    child_of,
    posting_of,
    run_at,
    take_out,
)
from nearcast.prefetch import prefetch_row


@njit(cache=True, nogil=True)
def where(frame, messages, slot):
    """(size of the place, posting) of a message."""
    at, count = messages.head[slot, RECTS_AT], messages.head[slot, RECTS]
    rect = messages.rects[at]
    x, y = steps_of_point(frame, 0.5 * rect[0] + 0.5 * rect[2], 0.5 * rect[1] + 0.5 * rect[3])
    size = 0
    if count > 1:
        size = SIZES - 1
    elif rect[0] != rect[2] or rect[1] != rect[3]:
        west, south = steps_of_point(frame, rect[0], rect[1])
        east, north = steps_of_point(frame, rect[2], rect[3])
        reach = max(max(x - west, east - x), max(y - south, north - y))
        size = 1
        while REACH[size] < reach:
            size += 1
    return size, posting_of(x, y, slot)


@njit(cache=True, nogil=True)
def has_range(messages, slots):
    """Is one of these messages elsewhere than at a point?"""
    for i in range(len(slots)):
        rect = messages.rects[messages.head[slots[i], RECTS_AT]]
        if messages.head[slots[i], RECTS] > 1 or rect[0] != rect[2] or rect[1] != rect[3]:
            return True
    return False


@njit(cache=True, nogil=True)
def insert_messages(trees, frame, messages, slots):
    """Add messages to the trees of all their words.  O(words x depth) each."""
    for i in range(len(slots)):
        size, posting = where(frame, messages, slots[i])
        begin = messages.head[slots[i], WORDS_AT]
        end = begin + messages.head[slots[i], WORDS]
        _prefetch(trees, messages, begin, end, size, posting)
        trees = add(trees, 0, size, posting)
        for k in range(begin, end):
            trees = add(trees, messages.words[k] + 1, size, posting)
    return trees


@njit(cache=True, nogil=True)
def remove_messages(trees, frame, messages, slots):
    """Take messages out of the trees of all their words.  O(words x depth) each."""
    for i in range(len(slots)):
        size, posting = where(frame, messages, slots[i])
        begin = messages.head[slots[i], WORDS_AT]
        end = begin + messages.head[slots[i], WORDS]
        _prefetch(trees, messages, begin, end, size, posting)
        trees = take_out(trees, 0, size, posting)
        for k in range(begin, end):
            trees = take_out(trees, messages.words[k] + 1, size, posting)
    return trees


@inner
def _prefetch(trees, messages, begin, end, size, posting):
    """Ask for what the words of a message lead to: each step for all of them before the next."""
    for k in range(begin, end):
        prefetch_row(trees.root, messages.words[k] + 1)
    for k in range(begin, end):
        reference = trees.root[messages.words[k] + 1, size]
        if reference & 3 == RUN:
            prefetch_row(trees.postings, run_at(reference))
        elif reference & 3 == NODE:
            prefetch_row(trees.nodes, reference >> 2)
    for k in range(begin, end):
        reference = trees.root[messages.words[k] + 1, size]
        if reference & 3 == NODE:
            below = trees.nodes[reference >> 2, child_of(posting, 0)]
            if below & 3 == NODE:
                prefetch_row(trees.nodes, below >> 2)
            else:
                prefetch_row(trees.postings, run_at(below))


@njit(cache=True, nogil=True)
def middles_of(messages, slots):
    """The middle of each place twice, as bounds: what a frame is made of."""
    bounds = np.empty((len(slots), 4), np.float32)
    for i in range(len(slots)):
        rect = messages.rects[messages.head[slots[i], RECTS_AT]]
        bounds[i, 0] = bounds[i, 2] = 0.5 * rect[0] + 0.5 * rect[2]
        bounds[i, 1] = bounds[i, 3] = 0.5 * rect[1] + 0.5 * rect[3]
    return bounds
