"""The live messages as arrays, and when each of them expires.

seq      int64[S]       by slot: arrivals are counted; -1 in a vacant slot
head     int32[S, 4]    by slot, see the columns below
expires  float64[S]     by slot; inf for never
words    int32[W]       numbers of words, ascending and each once in a message
rects    float64[R, 4]  places as planar rectangles, nearly always one a message
heap     float64[H, 3]  time of expiry, arrival, slot; the soonest first, as a binary heap

A message has `words[WORDS_AT:WORDS_AT + WORDS]` and `rects[RECTS_AT:RECTS_AT + RECTS]`. An entry of
the heap whose arrival is not that of its slot belongs to a message that was replaced; it is passed
over when its time comes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner

WORDS_AT, WORDS, RECTS_AT, RECTS = range(4)
VACANT = -1

# Kinds of events: a version of a message enters, leaves, or takes the place of another.
ENTERS, LEAVES, REPLACES = 0, 1, 2


class Messages(NamedTuple):
    """The arrays; see the module docstring."""

    seq: NDArray[np.int64]
    head: NDArray[np.int32]
    expires: NDArray[np.float64]
    words: NDArray[np.int32]
    rects: NDArray[np.float64]


@njit(cache=True, nogil=True)
def gathered(messages, slots):
    """The words and rectangles of some messages: (words, word_start, rects, rect_start)."""
    head = messages.head
    word_start, rect_start = np.zeros(len(slots) + 1, np.int64), np.zeros(len(slots) + 1, np.int32)
    for i in range(len(slots)):
        word_start[i + 1] = word_start[i] + head[slots[i], WORDS]
        rect_start[i + 1] = rect_start[i] + head[slots[i], RECTS]
    words = np.empty(word_start[-1], np.int32)
    rects = np.empty((rect_start[-1], 4), np.float64)
    for i in range(len(slots)):
        at = head[slots[i], WORDS_AT]
        for k in range(word_start[i], word_start[i + 1]):
            words[k] = messages.words[at]
            at += 1
        at = head[slots[i], RECTS_AT]
        for k in range(rect_start[i], rect_start[i + 1]):
            rects[k] = messages.rects[at]
            at += 1
    return words, word_start, rects, rect_start


@njit(cache=True, nogil=True)
def place_heads(head, slots, words, rects):
    """Words and rectangles of these messages now follow each other from here on."""
    for i in range(len(slots)):
        row = head[slots[i]]
        row[WORDS_AT], row[RECTS_AT] = words, rects
        words += row[WORDS]
        rects += row[RECTS]


@njit(cache=True, nogil=True)
def heap_of(messages, slots):
    """The heap of these messages, without those that never expire.  O(n log n)."""
    heap = np.empty((len(slots), 3))
    size = 0
    for i in range(len(slots)):
        slot = slots[i]
        if messages.expires[slot] < np.inf:
            _push(heap, size, messages.expires[slot], messages.seq[slot], slot)
            size += 1
    return heap[:size]


@inner
def _push(heap, size, time, seq, slot):
    at = size
    while at and heap[(at - 1) >> 1, 0] > time:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at, 0], heap[at, 1], heap[at, 2] = time, seq, slot


@inner
def _drop_first(heap, size):
    """Take the first entry off; `size` is what remains."""
    time, seq, slot = heap[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1, 0] < heap[child, 0]:
            child += 1
        if heap[child, 0] >= time:
            break
        heap[at] = heap[child]
        at = child
    heap[at, 0], heap[at, 1], heap[at, 2] = time, seq, slot


@njit(cache=True, nogil=True)
def timeline(messages, heap, size, slots, times, old_seq, first_seq, now, last_now):
    """What happens while messages arrive, in order: (events, live, heap size, now).

    Message i, in slots[i], came with arrival first_seq + i and takes the place of one of the same
    slot with arrival old_seq[i], or of none (-1). `heap` has room for all of them. An event is a
    row (kind, version, its slot): version i is arriving message i, n + i the one that it replaces,
    and -1 another one. live[i] tells whether message i is still there at the end, when it is
    `last_now` at the earliest.  O((arrivals + expiries) log live).
    """
    seqs, expires = messages.seq, messages.expires
    count = len(slots)
    old_lives = old_seq >= 0
    live = np.zeros(count, np.bool_)
    events = np.empty((3 * count + size + 1, 3), np.int64)
    total = 0
    for i in range(count + 1):
        now = max(now, times[i] if i < count else last_now)
        while size and heap[0, 0] <= now:
            seq, slot = np.int64(heap[0, 1]), np.int64(heap[0, 2])
            size -= 1
            _drop_first(heap, size)
            row = seqs[slot] - first_seq
            if row < 0 and seqs[slot] == seq:
                events[total, 0], events[total, 1], events[total, 2] = LEAVES, -1, slot
                total += 1
                seqs[slot] = VACANT
            elif row >= 0 and seqs[slot] == seq:
                live[row] = False
                events[total, 0], events[total, 1], events[total, 2] = LEAVES, row, slot
                total += 1
            elif row > i and old_seq[row] == seq:
                # In the same event it would be replaced; this one is earlier.
                old_lives[row] = False
                events[total, 0], events[total, 1], events[total, 2] = LEAVES, count + row, slot
                total += 1
        if i == count:
            break
        slot = slots[i]
        live[i] = expires[slot] > now
        if old_lives[i]:
            events[total, 0] = REPLACES if live[i] else LEAVES
            events[total, 1] = i if live[i] else count + i
            events[total, 2] = slot
            total += 1
        elif live[i]:
            events[total, 0], events[total, 1], events[total, 2] = ENTERS, i, slot
            total += 1
        if live[i] and expires[slot] < np.inf:
            _push(heap, size, expires[slot], seqs[slot], slot)
            size += 1
    return events[:total], live, size, now


@njit(cache=True, nogil=True)
def told(events, versions, count, found, found_end):
    """Who hears of events: (subscription slots, signs, event numbers).

    Versions are numbered as `timeline` does; those of other messages are count * 2 + 0, 1, 2, … in
    the order of their events. versions[v] is where the subscriptions of version v are in
    `found_end`.  O(what is found), sorted where a message replaces another.
    """
    other, total = 2 * count, np.int64(0)
    for event in range(len(events)):
        kind, version = events[event, 0], events[event, 1]
        if version < 0:
            version = other
            other += 1
        total += _size(found_end, versions[version])
        if kind == REPLACES:
            total += _size(found_end, versions[count + version])
    slots, signs = np.empty(total, np.int32), np.empty(total, np.int8)
    numbers = np.empty(total, np.int64)
    total, other = 0, 2 * count
    for event in range(len(events)):
        kind, version = events[event, 0], events[event, 1]
        if version < 0:
            version = other
            other += 1
        new = _those(found, found_end, versions[version])
        begin = total
        if kind == REPLACES:
            old = _those(found, found_end, versions[count + version])
            total = _difference(np.sort(old), np.sort(new), slots, signs, total)
        else:
            slots[begin : begin + len(new)] = new
            signs[begin : begin + len(new)] = 1 if kind == ENTERS else -1
            total += len(new)
        numbers[begin:total] = event
    return slots[:total], signs[:total], numbers[:total]


@inner
def _size(found_end, at):
    return found_end[at] - (found_end[at - 1] if at else 0)


@inner
def _those(found, found_end, at):
    return found[(found_end[at - 1] if at else 0) : found_end[at]]


@inner
def _difference(old, new, slots, signs, total):
    """Who is only among `old`, and who only among `new`, both ascending."""
    i, j = 0, 0
    while i < len(old) or j < len(new):
        if j == len(new) or (i < len(old) and old[i] < new[j]):
            slots[total], signs[total] = old[i], -1
            total += 1
            i += 1
        elif i == len(old) or new[j] < old[i]:
            slots[total], signs[total] = new[j], 1
            total += 1
            j += 1
        else:
            i += 1
            j += 1
    return total
