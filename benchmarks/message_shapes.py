"""Messages of another length or extent than the data set's own.

A message of `n` words has the words of one message and of those that follow it in the stream, each
word once, until there are `n`; a message with more keeps its first ones. It is where the first of
them is, so that it still reaches the subscriptions around it. A range message is a square around
that place.
"""

from dataclasses import replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import Box, Space

MOST_WORDS = 1_000_000  # in all messages of a workload together, where they were made longer


def affordable(messages: int, words: int) -> int:
    """How many messages of so many words are still a workload for seconds."""
    return max(1, min(messages, MOST_WORDS // words))


def with_words(pool: MessageBatch, count: int, words: int) -> MessageBatch:
    """`count` messages of `words` distinct words each, spread over the pool.

    Fewer words where the whole pool does not have that many.
    """
    count = min(count, len(pool))
    rows = np.arange(count, dtype=np.int64) * len(pool) // max(1, count)
    start = np.empty(count + 1, np.int64)
    joined = np.empty(count * words, np.int32)
    join_words(pool.word_start, pool.words, len(pool.lexicon), rows, words, start, joined)
    longer = replace(
        pool.take(rows),
        lexicon=pool.lexicon,
        word_start=start,
        words=joined[: start[-1]].copy(),
    )
    # An index looks each word of a batch up: one that no message has would only cost time.
    return longer.take(np.arange(count))


def with_area(messages: MessageBatch, bounds: Box, share: float) -> MessageBatch:
    """The same messages, each a square of this share of the area of `bounds`."""
    whole = (bounds.east - bounds.west) * (bounds.north - bounds.south)
    half = np.sqrt(share * whole) / 2
    at = messages.at + np.array([-half, -half, half, half])
    if messages.space is Space.EARTH:
        at = np.clip(at, (-180.0, -90.0, -180.0, -90.0), (180.0, 90.0, 180.0, 90.0))
    return replace(messages, at=at, is_box=np.ones(len(messages), np.bool_))


@njit(cache=True, nogil=True)
def join_words(
    word_start: NDArray[np.int64],
    words: NDArray[np.int32],
    vocabulary: int,
    rows: NDArray[np.int64],
    wanted: int,
    start: NDArray[np.int64],
    joined: NDArray[np.int32],
) -> None:
    """Words from row `rows[i]` on, around the end if need be, are joined[start[i]:start[i+1]].

    O(the words passed), of which the most frequent come again and again.
    """
    seen = np.full(vocabulary, -1, np.int64)
    messages = word_start.size - 1
    count = 0
    start[0] = 0
    for i in range(rows.size):
        end = count + wanted
        for step in range(messages):
            row = (rows[i] + step) % messages
            for k in range(word_start[row], word_start[row + 1]):
                if count < end and seen[words[k]] != i:
                    seen[words[k]] = i
                    joined[count] = words[k]
                    count += 1
            if count == end:
                break
        start[i + 1] = count
