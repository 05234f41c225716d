"""`ShardLists`: the lists of a shard, which hears a part of the stream."""

from __future__ import annotations

from bisect import bisect_right
from time import thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import Id
from nearcast.topk._flat.list_columns import part_changes
from nearcast.topk._flat.subscriptions import HELD, START, STEP, K
from nearcast.topk._flat.window import NEXT, OLDEST, TIME
from nearcast.topk.index import Scoring
from nearcast.topk.list_change import Ranked, ids_as_arrow, starts
from nearcast.topk.parts import PartChanges, Parts, runs
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
        gone = self._hear(messages, numbers, left, withdrawn)
        return [lists for lists in self._touched_lists(gone) if lists[1] != lists[2]]

    def step_as_parts(
        self,
        messages: MessageBatch,
        numbers: NDArray[np.float64],
        left: NDArray[np.float64],
        withdrawn: Id | None,
    ) -> PartChanges:
        """As `step`, as columns. Ids of a kind are all integers, or all texts."""
        self._tidy()
        arrivals = range(int(self._messages.ends[OLDEST]), int(self._messages.ends[NEXT]))
        leaving = bisect_right(arrivals, left[-1], key=lambda seq: self._numbers_at(seq))
        theirs = self._numbers_at(np.arange(arrivals.start, arrivals.start + leaving))
        gone = self._hear(messages, numbers, left, withdrawn)

        def numbers_of(seqs: NDArray[np.int32]) -> NDArray[np.int64]:
            found = self._numbers_at(seqs)
            has_left = seqs < arrivals.start + leaving
            found[has_left] = theirs[seqs[has_left] - arrivals.start]
            return found

        return part_changes(
            self._touched, self._subscriptions, self._rows, self._subscription_ids,
            self._message_ids, gone, numbers_of,
        )  # fmt: skip

    def parts(self, ids: list[Id]) -> Parts:
        """The lists of some subscriptions."""
        slots = self._subscription_ids.find(ids_as_arrow(ids))
        head = self._subscriptions.head[slots]
        lengths = np.minimum(head[:, K], head[:, HELD]).astype(np.int64)
        rows = runs(head[:, START].astype(np.int64) * STEP, lengths)
        seqs = self._rows.seq[rows]
        return Parts(
            starts(lengths),
            self._message_ids.ids_of(seqs),
            self._rows.score[rows],
            self._numbers_at(seqs),
        )

    def _numbers_at(self, seqs: Any) -> Any:
        """The numbers in the stream of messages that are in the window, or of one."""
        places = self._messages.place[seqs & (len(self._messages.live) - 1), TIME]
        return places.astype(np.int64)

    def _hear(
        self,
        messages: MessageBatch,
        numbers: NDArray[np.float64],
        left: NDArray[np.float64],
        withdrawn: Id | None,
    ) -> dict[int, Id]:
        self._left = left
        began = thread_time()
        _, gone = self._take_in(messages, numbers, withdrawn)
        self.seconds += thread_time() - began
        return gone

    def _too_old(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._left
