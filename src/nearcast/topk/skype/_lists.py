"""For each word and each cell the subscriptions that want the one and are in the other.

The lists of a word are its *heads*, side by side; a list is found among all by word, cell and
part (the lists of IGPT are divided by alpha into several parts, those of others have one).

    slot   int32[P]      the subscription of a posting
    data   float32[P,R]  of a posting: see below; CIQ has the first of them, IPT the first six
    start  int64[V]      where the heads of a word begin
    held   int32[V]      how many it has
    room   int32[V]      a power of two, or 0
    label  int64[H]      word, cell and part of a head
    first  int64[H]      where its postings begin
    size   int32[H]      how many it has, at least 1
    space  int32[H]      how many have room, a power of two
    bound  float32[3,H]  of IGPT: those of its first posting
    key    int64[K]      a hash table: labels, -1 for a free place
    place  int32[K]      which of the heads of its word has the label
    free   int64[2,32]   the first free postings and heads of 2**i, -1 for none; `slot` and `first`
                         lead to the next
    used   int64[3]      postings and heads in use, with free ones; labels

Columns of `data`, rounded such that bounds are never too tight. Words are in order, the rare first.

    WEIGHT     of the word                     SUM     of it and of the words after it
    REST_MOST  the largest of those after it   INSIDE  the way to the border of the cell
    ALPHA, THETA
    STAR       the threshold divided by 1 - alpha; a list of IGPT is sorted by it
    MOST       the largest weight, and
    MOST_ALPHA the largest alpha / (1 - alpha), of this posting and of those after it
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.large_pages import in_large_pages
from nearcast.topk._flat.sizes import log2

WEIGHT, SUM, REST_MOST, INSIDE, ALPHA, THETA, STAR, MOST, MOST_ALPHA = range(9)
POSTINGS, HEADS, LABELS = range(3)
_NONE = np.int64(-1)


class Lists(NamedTuple):
    """The arrays; see the module docstring."""

    slot: NDArray[np.int32]
    data: NDArray[np.float32]
    start: NDArray[np.int64]
    held: NDArray[np.int32]
    room: NDArray[np.int32]
    label: NDArray[np.int64]
    first: NDArray[np.int64]
    size: NDArray[np.int32]
    space: NDArray[np.int32]
    bound: NDArray[np.float32]
    key: NDArray[np.int64]
    place: NDArray[np.int32]
    free: NDArray[np.int64]
    used: NDArray[np.int64]


def empty_lists(columns: int) -> Lists:
    """No word; postings have so many columns of data."""
    return Lists(
        slot=np.empty(64, np.int32),
        data=np.empty((64, columns), np.float32),
        start=np.empty(0, np.int64),
        held=np.empty(0, np.int32),
        room=np.empty(0, np.int32),
        label=np.empty(64, np.int64),
        first=np.empty(64, np.int64),
        size=np.empty(64, np.int32),
        space=np.empty(64, np.int32),
        bound=np.empty((3, 64), np.float32),
        key=np.full(64, -1, np.int64),
        place=np.empty(64, np.int32),
        free=np.full((2, 32), -1, np.int64),
        used=np.zeros(3, np.int64),
    )


@njit(cache=True, nogil=True)
def label_of(word, cell, part):
    """Word, cell and part as one number."""
    return (np.int64(word) << 32) | (np.int64(cell) << 6) | np.int64(part)


@inner
def word_of(label):
    """The word of a label."""
    return label >> 32


@inner
def cell_of(label):
    """The cell of a label."""
    return (label >> 6) & 0x3FFFFFF


# ------------------------------------------------------------------ the hash table


@inner
def _home(label, mask):
    mixed = np.uint64(label) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> np.uint64(24)) & mask


@inner
def find_label(key, label):
    """Where a label is in the table, or the free place for it.  Expected O(1)."""
    mask = len(key) - 1
    at = _home(label, mask)
    while key[at] != -1 and key[at] != label:
        at = (at + 1) & mask
    return at


@inner
def drop_label(key, place, label):
    """Take a label out; what follows moves up, so that nothing is cut off.  Expected O(1)."""
    mask = len(key) - 1
    hole = find_label(key, label)
    at = (hole + 1) & mask
    while key[at] != -1:
        home = _home(key[at], mask)
        if ((at - home) & mask) >= ((at - hole) & mask):
            key[hole], place[hole] = key[at], place[at]
            hole = at
        at = (at + 1) & mask
    key[hole] = -1


@inner
def table_of(lists, size):
    """A table of so many places, a power of two, with the labels of all heads.  O(heads)."""
    key, place = np.full(size, -1, np.int64), np.empty(size, np.int32)
    for word in range(len(lists.start)):
        for i in range(lists.held[word]):
            at = find_label(key, lists.label[lists.start[word] + i])
            key[at] = lists.label[lists.start[word] + i]
            place[at] = i
    return key, place


@njit(cache=True, nogil=True)
def with_new_words(lists):
    """The words have new numbers, by which `start` is already ordered.  O(heads)."""
    for word in range(len(lists.start)):
        for i in range(lists.start[word], lists.start[word] + lists.held[word]):
            lists.label[i] = (np.int64(word) << 32) | (lists.label[i] & 0xFFFFFFFF)
    key, place = table_of(lists, len(lists.key))
    return Lists(
        lists.slot, lists.data, lists.start, lists.held, lists.room, lists.label, lists.first,
        lists.size, lists.space, lists.bound, key, place, lists.free, lists.used,
    )  # fmt: skip


# ------------------------------------------------------------------ room


@inner
def _claim_postings(lists, kind):
    """Room for 2**kind postings: (lists, larger perhaps, where it begins).  Amortised O(1)."""
    at = lists.free[POSTINGS, kind]
    if at >= 0:
        lists.free[POSTINGS, kind] = lists.slot[at]
        return lists, at
    at = lists.used[POSTINGS]
    lists.used[POSTINGS] += 1 << kind
    needed = lists.used[POSTINGS]
    if needed > len(lists.slot):
        size = needed + needed // 4
        slot = in_large_pages(np.empty(size, np.int32))
        data = in_large_pages(np.empty((size, lists.data.shape[1]), np.float32))
        slot[:at] = lists.slot[:at]
        data[:at] = lists.data[:at]
        lists = Lists(
            slot, data, lists.start, lists.held, lists.room, lists.label, lists.first,
            lists.size, lists.space, lists.bound, lists.key, lists.place, lists.free, lists.used,
        )  # fmt: skip
    return lists, at


@inner
def _release_postings(lists, at, room):
    kind = log2(room)
    lists.slot[at] = lists.free[POSTINGS, kind]
    lists.free[POSTINGS, kind] = at


@inner
def _claim_heads(lists, kind):
    """Room for 2**kind heads: (lists, larger perhaps, where it begins).  Amortised O(1)."""
    at = lists.free[HEADS, kind]
    if at >= 0:
        lists.free[HEADS, kind] = lists.first[at]
        return lists, at
    at = lists.used[HEADS]
    lists.used[HEADS] += 1 << kind
    needed = lists.used[HEADS]
    if needed > len(lists.label):
        size = needed + needed // 4
        label, first = np.empty(size, np.int64), np.empty(size, np.int64)
        count, space = np.empty(size, np.int32), np.empty(size, np.int32)
        bound = np.empty((3, size), np.float32)
        label[:at], first[:at] = lists.label[:at], lists.first[:at]
        count[:at], space[:at] = lists.size[:at], lists.space[:at]
        bound[:, :at] = lists.bound[:, :at]
        lists = Lists(
            lists.slot, lists.data, lists.start, lists.held, lists.room, label, first, count,
            space, bound, lists.key, lists.place, lists.free, lists.used,
        )  # fmt: skip
    return lists, at


@inner
def _copy_head(lists, to, at):
    lists.label[to], lists.first[to] = lists.label[at], lists.first[at]
    lists.size[to], lists.space[to] = lists.size[at], lists.space[at]
    lists.bound[:, to] = lists.bound[:, at]


@inner
def _move_heads(lists, word, room):
    """The heads of a word where there is more, or less, room."""
    old, old_room = lists.start[word], lists.room[word]
    at = _NONE
    if room > 0:
        lists, at = _claim_heads(lists, log2(room))
        for i in range(lists.held[word]):
            _copy_head(lists, at + i, old + i)
    if old_room > 0:
        kind = log2(old_room)
        lists.first[old] = lists.free[HEADS, kind]
        lists.free[HEADS, kind] = old
    lists.start[word], lists.room[word] = at, room
    return lists


# ------------------------------------------------------------------ heads and postings


@njit(cache=True, nogil=True)
def find_head(lists, label):
    """The head of a label, -1 where there is none.  Expected O(1)."""
    at = find_label(lists.key, label)
    if lists.key[at] == -1:
        return _NONE
    return lists.start[word_of(label)] + lists.place[at]


@inner
def with_head(lists, label):
    """(lists with a head of a label, which has room for one posting more, the head)."""
    head = find_head(lists, label)
    if head >= 0:
        if lists.size[head] == lists.space[head]:
            old, room = lists.first[head], lists.space[head]
            lists, at = _claim_postings(lists, log2(2 * room))
            lists.slot[at : at + room] = lists.slot[old : old + room]
            lists.data[at : at + room] = lists.data[old : old + room]
            _release_postings(lists, old, room)
            lists.first[head], lists.space[head] = at, 2 * room
        return lists, head
    if 2 * lists.used[LABELS] >= len(lists.key):
        key, place = table_of(lists, 2 * len(lists.key))
        lists = Lists(
            lists.slot, lists.data, lists.start, lists.held, lists.room, lists.label, lists.first,
            lists.size, lists.space, lists.bound, key, place, lists.free, lists.used,
        )  # fmt: skip
    word = word_of(label)
    if lists.held[word] == lists.room[word]:
        lists = _move_heads(lists, word, max(1, 2 * lists.room[word]))
    lists, at = _claim_postings(lists, 0)
    head = lists.start[word] + lists.held[word]
    lists.label[head], lists.first[head] = label, at
    lists.size[head], lists.space[head] = 0, 1
    found = find_label(lists.key, label)
    lists.key[found], lists.place[found] = label, lists.held[word]
    lists.held[word] += 1
    lists.used[LABELS] += 1
    return lists, head


@inner
def drop_head(lists, head):
    """A head has no posting left; the last of its word takes its place: the lists."""
    label = lists.label[head]
    word = word_of(label)
    _release_postings(lists, lists.first[head], lists.space[head])
    drop_label(lists.key, lists.place, label)
    lists.used[LABELS] -= 1
    lists.held[word] -= 1
    last = lists.start[word] + lists.held[word]
    if last != head:
        _copy_head(lists, head, last)
        at = find_label(lists.key, lists.label[head])
        lists.place[at] = head - lists.start[word]
    if lists.held[word] == 0:
        lists = _move_heads(lists, word, 0)
    elif 4 * lists.held[word] <= lists.room[word]:
        lists = _move_heads(lists, word, lists.room[word] // 2)
    return lists


@inner
def find_posting(lists, head, slot):
    """Where a list has a subscription that is in it.  O(postings)."""
    at = lists.first[head]
    while lists.slot[at] != slot:
        at += 1
    return at


@inner
def swap_postings(lists, at, other):
    """Two postings change places."""
    lists.slot[at], lists.slot[other] = lists.slot[other], lists.slot[at]
    for column in range(lists.data.shape[1]):
        value = lists.data[at, column]
        lists.data[at, column] = lists.data[other, column]
        lists.data[other, column] = value


@inner
def drop_posting(lists, head, at):
    """Take a posting out; the others stay in their order: the lists.  O(postings)."""
    end = lists.first[head] + lists.size[head] - 1
    for i in range(at, end):
        lists.slot[i] = lists.slot[i + 1]
        for column in range(lists.data.shape[1]):
            lists.data[i, column] = lists.data[i + 1, column]
    lists.size[head] -= 1
    if lists.size[head] == 0:
        return drop_head(lists, head)
    return lists
