"""What past messages tell about those to come: which words they had, and where they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.boolean.index import check_space
from nearcast.model import Space
from nearcast.text.string_table import StringTable

# Cells are judged by where messages were; this many places are enough to tell dense from empty.
MOST_POINTS = 8192


@dataclass(frozen=True, slots=True)
class MessageHistory:
    """How many of the past messages had each word, and a sample of their places.

    Words that only one had are half of all words and tell nothing: they are counted, not kept.
    """

    messages: int
    seen_once: int
    vocabulary: StringTable
    having: NDArray[np.int32]  # by number in the vocabulary
    points: NDArray[np.float64]
    span: NDArray[np.float64]  # how wide and how high places are on average, 0 for points

    @classmethod
    def of(cls, messages: MessageBatch, space: Space) -> MessageHistory:
        """Count a batch of messages.  O(words)."""
        check_space("the history is", messages.space, space)
        if len(messages) == 0:
            raise ValueError("the history has no messages; leave it out instead")
        message = np.repeat(np.arange(len(messages)), np.diff(messages.word_start))
        once = np.unique(message * len(messages.lexicon) + messages.words)
        having = np.bincount(once % max(1, len(messages.lexicon)), minlength=len(messages.lexicon))
        kept = np.flatnonzero(having > 1)
        vocabulary = StringTable()
        vocabulary.add(messages.lexicon.take(pa.array(kept)))
        rows = np.linspace(0, len(messages) - 1, min(MOST_POINTS, len(messages))).astype(np.int64)
        # A box message hits cells around its middle, near enough for a statistic.
        first = messages.rects[messages.rect_start[rows]]
        return cls(
            messages=len(messages),
            seen_once=int((having == 1).sum()),
            vocabulary=vocabulary,
            having=having[kept].astype(np.int32),
            points=(first[:, :2] + first[:, 2:]) / 2,
            span=(first[:, 2:] - first[:, :2]).mean(axis=0),
        )

    def chances_of(self, words: pa.LargeStringArray) -> NDArray[np.float64]:
        """The probability that a message has each of these words.  O(words)."""
        numbers = self.vocabulary.find(words)
        seen = numbers >= 0
        # Together, unseen words are about as likely as those seen once (Good and Turing).
        others = max(1, int((~seen).sum()))
        chance = np.full(len(numbers), min(1.0, 2 * self.seen_once / others) / self.messages)
        chance[seen] = self.having[numbers[seen]] / self.messages
        return chance

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, for saving."""
        own = {
            "messages": np.array([self.messages, self.seen_once]),
            "having": self.having,
            "points": self.points,
            "span": self.span,
        }
        words = {f"word_{name}": array for name, array in self.vocabulary.arrays().items()}
        return own | words

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> MessageHistory:
        """The history whose `arrays()` these are."""
        words = {name: arrays[f"word_{name}"] for name in ("data", "start", "slots")}
        messages, seen_once = arrays["messages"].tolist()
        return cls(
            messages,
            seen_once,
            StringTable.from_arrays(words),
            arrays["having"],
            arrays["points"],
            arrays.get("span", np.zeros(2)),  # files of before say nothing of it
        )
