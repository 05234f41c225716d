"""What kernels take of a batch of messages, and arrays that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch


def distinct_words(
    messages: MessageBatch, numbers: NDArray[np.int32], idf: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Each message's words once, rare ones first, with how often it says them.

    Returns (start, word, times): message i has word[start[i]:start[i + 1]].
    """
    return counted(numbers[messages.words], np.diff(messages.word_start), idf)


def unit_vectors(
    word: NDArray[np.int32], counts: NDArray[np.int64], idf: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """The vectors of rows that have so many words each: (start, word, times, weight)."""
    start, word, times = counted(word, counts, idf)
    weight = times * idf[word]
    length = np.sqrt(np.add.reduceat(weight * weight, start[:-1]))
    return start, word, times, weight / np.repeat(length, np.diff(start))


def counted(
    word: NDArray[np.int32], counts: NDArray[np.int64], idf: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Each row's words once, rare ones first: (start, word, times)."""
    row = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((word, -idf[word], row))
    row, word = row[order], word[order]
    is_new = np.ones(len(word), bool)
    is_new[1:] = (row[1:] != row[:-1]) | (word[1:] != word[:-1])
    begins = np.flatnonzero(is_new)
    times = np.diff(np.append(begins, len(word))).astype(np.int32)
    return np.searchsorted(row[begins], np.arange(len(counts) + 1)), word[begins], times


def wider(array: NDArray[Any], size: int, value: float) -> NDArray[Any]:
    """The array, or a larger one with so many things at the least."""
    if size <= len(array):
        return array
    larger = np.full((size + size // 8, *array.shape[1:]), value, array.dtype)
    larger[: len(array)] = array
    return larger
