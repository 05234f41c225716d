"""The m-lists of an AP+-Tree: messages at the places of its tree.

first    int64[C+1]    the first chunk at each child position + 1 (0: none); first[0] is the root's
chunks   int64[K, 16]  the next chunk (0 for none), how many postings, and up to 14 postings
used     int64[4]      chunks in use, a free one, postings, postings that were kept at inner nodes

A posting is slot << 32 | the low 32 bits of the arrival of its message. A message that is gone, or
was replaced, leaves its postings behind: their arrival is not that of the slot any more. They are
swept long before arrivals repeat.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._records import EMPTY, RUN
from nearcast.boolean.ap_tree._layout import CHILD_START, ROOT
from nearcast.boolean.ap_tree._update import children_of
from nearcast.inner import inner

NEXT, COUNT, POSTINGS = 0, 1, 2
LONGEST = 14
LOW = (1 << 32) - 1

# Cells of `used`.
CHUNKS, FREE, HELD, INNER = range(4)


class MessageLists(NamedTuple):
    """The arrays; see the module docstring."""

    first: NDArray[np.int64]
    chunks: NDArray[np.int64]
    used: NDArray[np.int64]


def no_lists(positions: int) -> MessageLists:
    """No messages.  Chunk 0 is never given out."""
    return MessageLists(
        np.zeros(positions + 1, np.int64), np.empty((16, 16), np.int64), np.array([1, 0, 0, 0])
    )


@inner
def with_positions(lists, positions):
    """The lists with a place for so many child positions.  O(1) amortised."""
    if positions + 1 <= len(lists.first):
        return lists
    first = np.zeros(positions + 1 + positions // 4, np.int64)
    first[: len(lists.first)] = lists.first
    return MessageLists(first, lists.chunks, lists.used)


@njit(cache=True, nogil=True, inline="always")
def posting_of(messages, slot):
    return np.int64(slot) << 32 | (messages.seq[slot] & LOW)


@njit(cache=True, nogil=True, inline="always")
def is_live(messages, posting):
    slot = posting >> 32
    return messages.seq[slot] >= 0 and (messages.seq[slot] & LOW) == (posting & LOW)


@inner
def append(lists, position, posting):
    """Add a posting to the list at a child position; -1 is the root.  O(1)."""
    chunks, used = lists.chunks, lists.used
    at = lists.first[position + 1]
    if at == 0 or chunks[at, COUNT] == LONGEST:
        new = used[FREE]
        if new:
            used[FREE] = chunks[new, NEXT]
        else:
            if used[CHUNKS] == len(chunks):
                more = np.empty((2 * len(chunks), 16), np.int64)
                more[: len(chunks)] = chunks
                chunks = more
            new = used[CHUNKS]
            used[CHUNKS] += 1
        chunks[new, NEXT], chunks[new, COUNT] = at, 0
        lists.first[position + 1] = new
        at = new
    chunks[at, POSTINGS + chunks[at, COUNT]] = posting
    chunks[at, COUNT] += 1
    used[HELD] += 1
    return MessageLists(lists.first, chunks, used)


@inner
def take_list(lists, position, out, total):
    """Empty a list; its postings go to `out`: (out, total).  O(its length)."""
    at = lists.first[position + 1]
    lists.first[position + 1] = 0
    while at:
        count = lists.chunks[at, COUNT]
        if total + count > len(out):
            more = np.empty(2 * (total + count), np.int64)
            more[:total] = out[:total]
            out = more
        out[total : total + count] = lists.chunks[at, POSTINGS : POSTINGS + count]
        total += count
        lists.used[HELD] -= count
        following = lists.chunks[at, NEXT]
        lists.chunks[at, NEXT] = lists.used[FREE]
        lists.used[FREE] = at
        at = following
    return out, total


@inner
def lift(tree, lists, reference, position):
    """Move all messages below a reference that has been replaced up to its position.  O(they)."""
    out, total = np.empty(64, np.int64), np.int64(0)
    waiting = np.empty(64, np.int64)
    waiting[0] = reference
    depth = 1
    while depth:
        depth -= 1
        what = waiting[depth] & 3
        if what in (EMPTY, RUN):
            continue
        node = tree.nodes[waiting[depth] >> 2]
        children, first = children_of(node, what), node[CHILD_START]
        if depth + children > len(waiting):
            more = np.empty(2 * (depth + children), np.int64)
            more[:depth] = waiting[:depth]
            waiting = more
        for child in range(first, first + children):
            out, total = take_list(lists, child, out, total)
            waiting[depth] = tree.children[child]
            depth += 1
    out, total = take_list(lists, position, out, total)
    postings = np.sort(out[:total])
    for i in range(total):
        if i == 0 or postings[i] != postings[i - 1]:
            lists = append(lists, position, postings[i])
            lists.used[INNER] += 1
    return lists


@inner
def carried(old, new, lists):
    """The lists of a tree for a copy of it with other positions.  O(children)."""
    first = np.zeros(len(new.children) + 1, np.int64)
    first[0] = lists.first[0]
    waiting = np.empty((64, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = old.used[ROOT], new.used[ROOT]
    depth = 1
    while depth:
        depth -= 1
        reference, copy = waiting[depth, 0], waiting[depth, 1]
        what = reference & 3
        if what in (EMPTY, RUN):
            continue
        node, twin = old.nodes[reference >> 2], new.nodes[copy >> 2]
        children = children_of(node, what)
        if depth + children > len(waiting):
            more = np.empty((2 * (depth + children), 2), np.int64)
            more[:depth] = waiting[:depth]
            waiting = more
        for i in range(children):
            child, other = node[CHILD_START] + i, twin[CHILD_START] + i
            first[other + 1] = lists.first[child + 1]
            waiting[depth, 0], waiting[depth, 1] = old.children[child], new.children[other]
            depth += 1
    return MessageLists(first, lists.chunks, lists.used)
