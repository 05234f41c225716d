"""`ShardLists`: the lists of a shard, which hears a part of the stream."""

from __future__ import annotations

from time import thread_time

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import Id
from nearcast.topk.index import Scoring
from nearcast.topk.list_change import Ranked
from nearcast.topk.windows import TimeWindow
from nearcast.topk.word_lists import WordLists

_OF_THE_STREAM = TimeWindow(1.0)  # not looked at: a shard is told what leaves


class ShardLists(WordLists):
    """`WordLists` whose window is that of a stream of which it hears a part.

    The time of a message is its number in the stream, and whoever knows the stream says which
    numbers have left. Messages come in steps; lists are compared with those before the step.
    """

    _is_one_step = True
    seconds: float
    """Of the processor, for messages that came and went."""

    def _begin(self) -> None:
        super()._begin()
        self.seconds = 0.0

    @classmethod
    def of(cls, scoring: Scoring) -> ShardLists:
        """Without subscriptions, its window empty."""
        return cls(
            _OF_THE_STREAM,
            space=scoring.space,
            max_dist=scoring.max_dist,
            statistics=scoring.statistics,
        )

    def step(
        self,
        messages: MessageBatch,
        numbers: NDArray[np.float64],
        left: NDArray[np.float64],
        withdrawn: Id | None,
    ) -> list[tuple[Id, Ranked, Ranked]]:
        """Messages come and go: (subscription, its list before, its list now) of each changed list.

        - `numbers`: of the messages in the stream, ascending
        - `left`: for each message, and at the end: the highest number that has left the window
        - `withdrawn`: the id of a message that goes first, if the shard has it
        """
        self._left = left
        began = thread_time()
        _, gone = self._take_in(messages, numbers, withdrawn)
        self.seconds += thread_time() - began
        return [lists for lists in self._touched_lists(gone) if lists[1] != lists[2]]

    def _too_old(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._left
