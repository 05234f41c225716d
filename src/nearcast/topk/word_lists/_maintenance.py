"""What keeps an endless stream in bounded memory: words that are gone, numbers that grow."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.topk.word_lists._buffers import Buffers
from nearcast.topk.word_lists._postings import Postings
from nearcast.topk.word_lists._wanted import Wanted
from nearcast.topk.word_lists._window import NEXT, NEXT_WORD, OLDEST, Messages, Rings

FEW_WORDS = 1024  # not worth forgetting
LATEST = 2**30  # arrivals are int32


def words_in_use(postings: Postings, rings: Rings, words: int) -> NDArray[np.int64]:
    """The numbers of words that a subscription or a message of the window has.  O(words)."""
    return np.flatnonzero((postings.held[:words] > 0) | (rings.held[:words] > 0))


def with_words(
    postings: Any, wanted: Wanted, messages: Messages, rings: Rings, kept: NDArray[np.int64]
) -> tuple[Any, Rings]:
    """Number the words that are kept anew, in the same order.  O(everything).

    `postings` have `start`, `held` and `room` for each word.
    """
    number = np.full(len(postings.start), -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    wanted.word[:] = number[wanted.word]  # of subscriptions that are gone: whatever it is
    begin, end = _words_of_window(messages)
    at = np.arange(begin, end) & (len(messages.word) - 1)
    messages.word[at] = number[messages.word[at]]
    return (
        postings._replace(
            start=postings.start[kept], held=postings.held[kept], room=postings.room[kept]
        ),
        rings._replace(
            start=rings.start[kept],
            head=rings.head[kept],
            held=rings.held[kept],
            room=rings.room[kept],
        ),
    )


def _words_of_window(messages: Messages) -> tuple[int, int]:
    oldest, end = int(messages.ends[OLDEST]), int(messages.ends[NEXT_WORD])
    if oldest == int(messages.ends[NEXT]):
        return end, end
    return int(messages.first[oldest & (len(messages.first) - 1)]), end


def with_terms(wanted: Wanted, slots: NDArray[np.int64]) -> tuple[Wanted, NDArray[np.int64]]:
    """The terms of live subscriptions alone: (wanted, the old place of each).  O(terms)."""
    counts = wanted.words[slots].astype(np.int64)
    ends = np.cumsum(counts)
    old = np.arange(int(counts.sum())) + np.repeat(wanted.first[slots] - (ends - counts), counts)
    wanted.first[slots] = ends - counts
    return wanted._replace(
        word=wanted.word[old], weight=wanted.weight[old], where=wanted.where[old]
    ), old


@njit(cache=True, nogil=True)
def count_from(buffers: Buffers, messages: Messages, rings: Rings, slots, shift):
    """Arrivals are numbered from `shift` on, a multiple of the sizes of rings.  O(everything)."""
    for slot in slots:
        at = buffers.start[slot]
        for i in range(at, at + buffers.held[slot]):
            buffers.seq[i] -= shift
    for word in range(len(rings.start)):
        for i in range(rings.held[word]):
            at = rings.start[word] + ((rings.head[word] + i) & (rings.room[word] - 1))
            rings.seq[at] -= shift
    messages.ends[OLDEST] -= shift
    messages.ends[NEXT] -= shift
