"""What kernels take of the documents that arrive.

moment      float64[n]     the time in half-lives
weight      int64[n]       see `decay`
middle      float64[n, 2]  lon, lat of the middle of the place
rect_start  int64[n + 1]   document i is at rects[rect_start[i]:rect_start[i + 1]]
rects       float64[r, 4]  west, south, east, north, planar
term_start  int64[n + 1]   document i has term[term_start[i]:term_start[i + 1]]
term        int32[t]       each once in a document
times       int32[t]       how often the document says it
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import Message
from nearcast.space import place_rects
from nearcast.trending._vocabulary import NO_TERM, Vocabulary
from nearcast.trending.decay import Decay, weights


class DocumentColumns(NamedTuple):
    """Documents in the order in which they arrive; the arrays are drawn above."""

    moment: NDArray[np.float64]
    weight: NDArray[np.int64]
    middle: NDArray[np.float64]
    rect_start: NDArray[np.int64]
    rects: NDArray[np.float64]
    term_start: NDArray[np.int64]
    term: NDArray[np.int32]
    times: NDArray[np.int32]


def columns_of_one(message: Message, vocabulary: Vocabulary, decay: Decay) -> DocumentColumns:
    """One document."""
    term, times = vocabulary.counted(message.keywords)
    rects = np.array(place_rects(message.at))
    at = message.middle
    moment = np.array([decay.moment(message.time)])
    return DocumentColumns(
        moment,
        weights(moment),
        np.array([[at.lon, at.lat]]),
        np.array([0, len(rects)]),
        rects,
        np.array([0, len(term)]),
        term,
        times,
    )


def columns_of_batch(
    messages: MessageBatch, vocabulary: Vocabulary, decay: Decay
) -> DocumentColumns:
    """Many documents.  O(words log words), vectorised."""
    numbers = vocabulary.numbers(messages.lexicon)[messages.words]
    row = np.repeat(np.arange(len(messages)), np.diff(messages.word_start))
    row, term = row[numbers != NO_TERM], numbers[numbers != NO_TERM]
    order = np.lexsort((term, row))
    row, term = row[order], term[order]
    is_new = np.ones(len(term), bool)
    is_new[1:] = (row[1:] != row[:-1]) | (term[1:] != term[:-1])
    begins = np.flatnonzero(is_new)
    moment = messages.time / decay.half_life
    return DocumentColumns(
        moment,
        weights(moment),
        messages.middles(),
        messages.rect_start.astype(np.int64),
        messages.rects,
        np.searchsorted(row[begins], np.arange(len(messages) + 1)).astype(np.int64),
        term[begins],
        np.diff(np.append(begins, len(term))).astype(np.int32),
    )
