"""`ListWindow`: the messages that top-k lists are made of, for other shards to hear them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.pipeline.hosted.spread.bare import with_bare
from nearcast.pipeline.hosted.spread.part_lists import PartLists
from nearcast.topk import WordLists
from nearcast.topk.distributions.stream_window import StreamWindow
from nearcast.topk.list_change import ids_as_arrow


@dataclass(frozen=True, slots=True)
class ListWindow:
    """The window of a stream.

    - `messages`: in their order; those of whose words nobody heard have none
    - `now`: the latest time that was heard of; -inf for none
    """

    messages: MessageBatch
    now: float

    @classmethod
    def of_index(cls, lists: WordLists) -> ListWindow:
        """As an index has it that has heard everything."""
        return cls(lists.window_messages(), lists.now)

    @classmethod
    def of_shards(
        cls, window: StreamWindow, heard: Sequence[MessageBatch], now: float
    ) -> ListWindow:
        """What all shards know together; the times of what they heard are its numbers."""
        ids, numbers, times = window.messages()
        parts, end = [], 0
        for part in [*heard, _bare(numbers)]:  # where nobody heard it, the last one counts
            parts.append(replace(part, ids=pa.array(np.arange(end, end + len(part)))))
            end += len(part)
        all_heard = MessageBatch.concat(parts)
        known, first = np.unique(all_heard.time, return_index=True)
        messages = all_heard.take(first[np.searchsorted(known, numbers)])
        return cls(replace(messages, ids=ids_as_arrow(ids), time=times), now)

    def heard_by(self, lists: WordLists) -> WordLists:
        """The same index, which had heard of nothing."""
        lists.publish_batch(self.messages)
        if isfinite(self.now):
            lists.advance(self.now)
        return lists

    def heard_in_part_by(self, lists: PartLists, is_whole: NDArray[np.bool_]) -> PartLists:
        """The same lists, which had heard of nothing, and get only these messages whole."""
        if len(self.messages):
            lists.publish(with_bare(self.messages, is_whole))
        if isfinite(self.now):
            lists.advance(self.now)
        return lists


def _bare(numbers: NDArray[np.int64]) -> MessageBatch:
    """Messages of which no more is known than that they have come."""
    count = len(numbers)
    return MessageBatch(
        ids=pa.array(np.arange(count)),
        lexicon=pa.array([], pa.large_string()),
        word_start=np.zeros(count + 1, np.int64),
        words=np.empty(0, np.int32),
        at=np.zeros((count, 4)),
        is_box=np.zeros(count, bool),
        time=numbers.astype(np.float64),
        expires=np.full(count, np.nan),
    )
