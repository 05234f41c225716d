"""`WordLists`: top-k lists of millions, kept by scanning short lists of bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nearcast.topk.flat_index import FlatTopK
from nearcast.topk.word_lists._buffers import (
    STEP,
    Buffers,
    empty_buffers,
    most_entries,
    release_row,
)
from nearcast.topk.word_lists._check import check_arrays
from nearcast.topk.word_lists._columns import wider
from nearcast.topk.word_lists._maintenance import with_words
from nearcast.topk.word_lists._postings import Postings, empty_postings
from nearcast.topk.word_lists._process import arrive, depart, expire, next_step, publish_all
from nearcast.topk.word_lists._search import fill_rows
from nearcast.topk.word_lists._wanted import put_all_postings, take_postings
from nearcast.topk.word_lists._window import LIVE


class WordLists(FlatTopK):
    """Keeps the lists of millions of subscriptions current.

    For each word there is a list of the subscriptions that want it, each with its place, its
    threshold and bounds for its other words: a message scans the lists of its words, a few
    kilobytes in a row, and looks closely at the few that it may concern. A subscription keeps two
    or three times as many messages as it shows, so that it seldom has to search the window anew.

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

    _buffers: Buffers
    _postings: Postings

    _parts: ClassVar[dict[str, Any]] = {"buffers": Buffers, "postings": Postings}

    def check(self) -> None:
        check_arrays(
            self._buffers, self._postings, self._wanted, self._messages, self._rings,
            self._idf.used, self._distances, self._subscription_ids.live_slots(),
        )  # fmt: skip
        assert int(self._messages.ends[LIVE]) == len(self._message_ids)

    # ------------------------------------------------------------------ subscriptions

    def _begin_parts(self) -> None:
        self._buffers = empty_buffers()
        self._postings = empty_postings()

    def _enter(self, slots: NDArray[np.int32]) -> None:
        self._buffers = fill_rows(
            self._buffers, self._wanted, slots, self._messages, self._rings, *self._how[:3]
        )
        self._postings = put_all_postings(
            self._postings, self._wanted, slots, self._buffers.theta, self._distances
        )

    def _leave(self, slot: int) -> None:
        take_postings(self._postings, self._wanted, slot)
        buffers = self._buffers
        release_row(buffers, buffers.start[slot], buffers.room[slot])
        buffers.room[slot] = buffers.held[slot] = 0

    def _room_for_words(self, size: int) -> None:
        postings = self._postings
        self._postings = postings._replace(
            start=wider(postings.start, size, -1),
            held=wider(postings.held, size, 0),
            room=wider(postings.room, size, 0),
        )

    def _room_for_rows(self, size: int, k: int) -> None:
        buffers = self._buffers
        self._buffers = buffers._replace(
            start=wider(buffers.start, size, 0),
            room=wider(buffers.room, size, 0),
            held=wider(buffers.held, size, 0),
            theta=wider(buffers.theta, size, 0.0),
            free=wider(buffers.free, most_entries(k) // STEP + 2, -1),
        )

    # ------------------------------------------------------------------ messages

    def _pass(
        self,
        replaced: int,
        at: NDArray[np.float64],
        times: NDArray[np.float64],
        start: NDArray[np.int64],
        word: NDArray[np.int32],
        counts: NDArray[np.int32],
    ) -> NDArray[np.int32]:
        if len(at) > 1:
            self._state, changed = publish_all(
                self._state, at, times, start, word, counts, self._most, self._seconds, *self._how
            )
            return changed
        next_step(self._touched)
        if replaced >= 0:
            self._state = depart(self._state, replaced, True, *self._how)
        before = self.now - self._seconds
        self._state = expire(self._state, self._most - len(at), before, *self._how)
        if len(at):
            self._state = arrive(
                self._state, at[0, 0], at[0, 1], times[0], word, counts, *self._how
            )
        return np.full(len(at), self._touched.ends[0], np.int32)

    # ------------------------------------------------------------------ what the base asks for

    @property
    def _shown(self) -> Buffers:
        return self._buffers

    @property
    def _by_word(self) -> Postings:
        return self._postings

    def _with_words(self, kept: NDArray[np.int64]) -> None:
        self._postings, self._rings = with_words(
            self._postings, self._wanted, self._messages, self._rings, kept
        )

    def _more_arrays(self) -> dict[str, NDArray[Any]]:
        return {}

    def _take_more_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        pass

    def _more_settings(self) -> dict[str, Any]:
        return {}

    @property
    def _how(self) -> tuple[Any, ...]:
        return self._idf.used, self._grid_or_any, self._distances, self._largest

    @property
    def _state(self) -> tuple[Any, ...]:
        return (
            self._buffers, self._postings, self._wanted, self._messages, self._rings, self._touched,
        )  # fmt: skip

    @_state.setter
    def _state(self, state: tuple[Any, ...]) -> None:
        (
            self._buffers, self._postings, self._wanted, self._messages, self._rings, self._touched,
        ) = state  # fmt: skip
