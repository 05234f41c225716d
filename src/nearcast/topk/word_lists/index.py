"""`WordLists`: top-k lists of millions, kept by scanning short lists of bounds."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.topk._flat.columns import wider
from nearcast.topk._flat.fill_order import in_fill_order
from nearcast.topk._flat.index import FlatTopK
from nearcast.topk._flat.list_columns import changed_lists
from nearcast.topk._flat.subscriptions import STEP
from nearcast.topk._flat.window import LIVE
from nearcast.topk.list_change import ListChanges
from nearcast.topk.word_lists._check import check_arrays
from nearcast.topk.word_lists._fill import fill_rows
from nearcast.topk.word_lists._postings import (
    HELD,
    Postings,
    no_postings,
    put_all_postings,
    take_postings,
)
from nearcast.topk.word_lists._process import publish_all
from nearcast.topk.word_lists._rows import Rows, most_entries, no_rows, release_row


class WordLists(FlatTopK):
    """Keeps the lists of millions of subscriptions current.

    For each word there is a list of the subscriptions that want it, each with its place, its
    threshold and bounds for its other words: a message scans the lists of its words, a few
    kilobytes in a row, and looks closely at the few that it may concern. A subscription keeps up
    to half more messages than it shows, and a few, so that it seldom has to search the window anew.

    >>> from nearcast.model import Message, Point, Space, TopKSubscription
    >>> from nearcast.topk import CountWindow
    >>> index = WordLists(CountWindow(2), max_dist=10.0, space=Space.PLANE)
    >>> here = Point(0, 0, space=Space.PLANE)
    >>> index.subscribe(TopKSubscription("s", "tea", here, k=1, alpha=0.5))
    []
    >>> index.publish(Message(1, text="tea", at=Point(4, 3, space=Space.PLANE)))
    [ListChange(subscription_id='s', results=((1, 0.75),), entered=(1,), left=())]
    >>> index.publish(Message(2, text="tea", at=here))[0].left
    (1,)
    """

    _rows: Rows
    _postings: Postings

    _parts: ClassVar[dict[str, Any]] = {"rows": Rows, "postings": Postings}

    def check(self) -> None:
        check_arrays(
            self._subscriptions, self._rows, self._postings, self._messages, self._rings,
            self._idf.used, self._distances, self._subscription_ids.live_slots(),
        )  # fmt: skip
        assert int(self._messages.ends[LIVE]) == len(self._message_ids)

    # ------------------------------------------------------------------ subscriptions

    def _begin_parts(self) -> None:
        self._rows = no_rows()
        self._postings = no_postings()

    def _enter(self, slots: NDArray[np.int32]) -> None:
        slots = in_fill_order(self._subscriptions, slots, self._how[1])
        self._rows = fill_rows(
            self._subscriptions, self._rows, slots, self._messages, self._rings, *self._how[:3]
        )
        self._postings = put_all_postings(
            self._subscriptions, self._postings, slots, self._distances
        )

    def _leave(self, slot: int) -> None:
        self._postings = take_postings(self._subscriptions, self._postings, slot, self._distances)
        release_row(self._subscriptions, self._rows, slot)

    def _room_for_words(self, size: int) -> None:
        self._postings = self._postings._replace(lists=wider(self._postings.lists, size, 0))

    def _room_for_rows(self, size: int, k: int) -> None:
        steps = most_entries(k) // STEP + 2
        self._rows = self._rows._replace(free=wider(self._rows.free, steps, -1))

    @property
    def _held_by_words(self) -> NDArray[np.int32]:
        return self._postings.lists[:, HELD]

    def _keep_words(self, kept: NDArray[np.int64]) -> None:
        self._postings = self._postings._replace(lists=self._postings.lists[kept])

    # ------------------------------------------------------------------ messages

    def publish_as_columns(self, messages: MessageBatch) -> ListChanges:
        """Many messages in their order: the lists that are others than before, each once."""
        self.check_batch(messages)
        if len(messages) == 0 or self._message_ids.has_any(messages.ids):
            return super().publish_as_columns(messages)
        times = np.maximum.accumulate(np.append(self.now, messages.time))
        self.now = float(times[-1])
        usual, self._is_one_step = self._is_one_step, True
        try:
            _, gone = self._take_in(messages, times[1:])
        finally:
            self._is_one_step = usual
        return changed_lists(
            self._touched, self._subscriptions, self._rows, self._subscription_ids,
            self._message_ids, gone,
        )  # fmt: skip

    def _pass(
        self,
        replaced: int,
        at: NDArray[np.float64],
        times: NDArray[np.float64],
        start: NDArray[np.int64],
        word: NDArray[np.int32],
        counts: NDArray[np.int32],
    ) -> NDArray[np.int32]:
        state = (
            self._subscriptions, self._rows, self._postings, self._messages, self._rings,
            self._touched,
        )  # fmt: skip
        state, changed = publish_all(
            state, replaced, at, times, self._too_old(times), start, word, counts, self._most,
            self._is_one_step, *self._how,
        )  # fmt: skip
        self._rows, self._postings, self._messages, self._rings, self._touched = state
        return changed

    _is_one_step: bool = False
    """Are lists remembered from before all messages of a batch, or from before each?"""

    def _too_old(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each of the messages of these times, and at the end: what is not later leaves."""
        return np.append(times, self.now) - self._seconds

    @property
    def _how(self) -> tuple[Any, ...]:
        return self._idf.used, self._grid_or_any, self._distances, self._largest
