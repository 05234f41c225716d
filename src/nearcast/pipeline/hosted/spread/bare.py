"""Messages that do not concern a shard, as it hears of them: without words.

A message without words is in nobody's list and adds nothing to what is talked about, but takes its
place in the window, replaces the message of the same id, and time passes with it: all that one
index of everything would notice of it. One that expires does so at once, because nobody follows it
here; one that does not expire is one of the last so many of that sort, which are counted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch


def with_bare(messages: MessageBatch, is_whole: NDArray[np.bool_]) -> MessageBatch:
    """The same messages, those that are not whole without their words.

    >>> from nearcast.model import Message, Point
    >>> said = [Message(n, text="hot tea", at=Point(0, 0), time=1, expires=9) for n in (7, 8)]
    >>> heard = with_bare(MessageBatch.from_messages(said), np.array([True, False]))
    >>> [(each.keywords, each.expires) for each in map(heard.message, range(2))]
    [(('hot', 'tea'), 9.0), ((), 1.0)]
    """
    if is_whole.all():
        return messages
    words = np.diff(messages.word_start)
    ends = np.where(is_whole | np.isnan(messages.expires), messages.expires, messages.time)
    bare = replace(
        messages,
        words=messages.words[np.repeat(is_whole, words)],
        word_start=np.concatenate([[0], np.cumsum(np.where(is_whole, words, 0))]),
        expires=ends,
    )
    return bare.take(np.arange(len(bare)))  # with no more words in the lexicon than are used
