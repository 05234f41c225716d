"""What keeps an endless stream in bounded memory: words that are gone, numbers that grow."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.topk._flat.subscriptions import FIRST, SEEN, STAMP, STEP, WORDS, Subscriptions
from nearcast.topk._flat.subscriptions import HELD as ROW_HELD
from nearcast.topk._flat.subscriptions import START as ROW_START
from nearcast.topk._flat.window import (
    HEAD,
    HELD,
    NEXT,
    NEXT_WORD,
    OLDEST,
    ROOM,
    START,
    WORDS_HELD,
    Messages,
    Rings,
    mark,
    wrapped,
)

FEW_WORDS = 1024  # not worth forgetting
LATEST = 2**30  # arrivals and steps are int32


def words_in_use(is_wanted: NDArray[np.bool_], rings: Rings) -> NDArray[np.int64]:
    """The numbers of words that a subscription or a message of the window has.  O(words)."""
    return np.flatnonzero(is_wanted | (rings.rings[: len(is_wanted), HELD] > 0))


def with_words(
    subscriptions: Subscriptions, messages: Messages, rings: Rings, kept: NDArray[np.int64]
) -> Rings:
    """Number the words that are kept anew, in the same order.  O(everything)."""
    number = np.full(len(rings.rings), -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    # of subscriptions that are gone: whatever it is
    subscriptions.word[:] = number[subscriptions.word]
    held = int(messages.ends[WORDS_HELD])
    at = (int(messages.ends[NEXT_WORD]) - 1 - np.arange(held)) % len(messages.word)
    messages.word[at] = number[messages.word[at]]
    mark_again(messages)
    return rings._replace(rings=rings.rings[kept])


@njit(cache=True, nogil=True)
def mark_again(messages):
    """The words of messages have other numbers, and other marks."""
    ring = len(messages.word)
    for seq in range(messages.ends[OLDEST], messages.ends[NEXT]):
        m = seq & (len(messages.live) - 1)
        messages.marks[m] = 0
        for i in range(messages.first[m], messages.first[m] + messages.words[m]):
            messages.marks[m] |= mark(messages.word[wrapped(i, ring)])


def with_terms(
    subscriptions: Subscriptions, slots: NDArray[np.int64]
) -> tuple[Subscriptions, NDArray[np.int64]]:
    """The terms of live subscriptions alone: (subscriptions, the old place of each).  O(terms)."""
    counts = subscriptions.head[slots, WORDS].astype(np.int64)
    ends = np.cumsum(counts)
    first = subscriptions.head[slots, FIRST].astype(np.int64)
    old = np.arange(int(counts.sum())) + np.repeat(first - (ends - counts), counts)
    subscriptions.head[slots, FIRST] = ends - counts
    return subscriptions._replace(
        word=subscriptions.word[old],
        weight=subscriptions.weight[old],
        where=subscriptions.where[old],
    ), old


def count_steps_from_0(subscriptions: Subscriptions) -> None:
    """No step has changed a list yet."""
    subscriptions.head[:, STAMP] = -1


@njit(cache=True, nogil=True)
def count_from(subscriptions, in_rows, messages, rings, slots, shift):
    """Arrivals are numbered from `shift` on, a multiple of the sizes of rings.  O(everything).

    `in_rows`: int32[], the arrivals that rows have.
    """
    for slot in slots:
        head = subscriptions.head[slot]
        head[SEEN] = -1
        at = head[ROW_START] * STEP
        for i in range(at, at + head[ROW_HELD]):
            in_rows[i] -= shift
    for word in range(len(rings.rings)):
        ring = rings.rings[word]
        for i in range(ring[HELD]):
            rings.seq[ring[START] + wrapped(ring[HEAD] + i, ring[ROOM])] -= shift
    messages.ends[OLDEST] -= shift
    messages.ends[NEXT] -= shift
