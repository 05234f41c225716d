"""`PartLists`: top-k lists among the messages that one shard hears, which are parts of others."""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path

import numpy as np

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.model import Id, TopKSubscription
from nearcast.topk.distributions.shard_lists import ShardLists
from nearcast.topk.distributions.stream_window import StreamWindow
from nearcast.topk.index import Scoring
from nearcast.topk.parts import Part, PartChanges, Parts
from nearcast.topk.windows import Window

_KIND = "part lists"


class PartLists:
    """The lists of the subscriptions of a shard among the messages that it hears whole.

    It hears of all others that they have come, so that it knows the window of the stream, and every
    shard gives a message the same number.
    """

    def __init__(self, window: Window, scoring: Scoring) -> None:
        self._lists = ShardLists.of(scoring)
        self._window = StreamWindow(window)
        self._length: dict[Id, int] = {}
        self.now = -inf

    def __len__(self) -> int:
        return len(self._length)

    def __contains__(self, id: object) -> bool:
        return id in self._length

    @property
    def time(self) -> float:
        """The latest that was heard of, for what no message causes."""
        return self.now if isfinite(self.now) else 0.0

    def length(self, id: Id) -> int:
        """How many messages the list of a subscription has at the most."""
        return self._length[id]

    def subscription(self, id: Id) -> TopKSubscription:
        """One that is here."""
        return self._lists.subscription(id)

    def subscriptions(self) -> list[TopKSubscription]:
        """All that are here."""
        return [self.subscription(id) for id in self._length]

    @property
    def window(self) -> StreamWindow:
        """Which messages of the stream are in the window, heard whole or not."""
        return self._window

    def heard(self) -> MessageBatch:
        """The messages of the window that were heard whole; their times are their numbers."""
        return self._lists.window_messages()

    def subscribe(self, subscriptions: list[TopKSubscription]) -> None:
        """New ones come, or take the place of those of the same ids."""
        self._lists.subscribe_many(subscriptions)
        self._length |= {each.id: each.k for each in subscriptions}

    def unsubscribe(self, id: Id) -> None:
        """One goes."""
        self._lists.unsubscribe(id)
        del self._length[id]

    def part(self, id: Id) -> Part:
        """What there is here of a list."""
        return self.parts([id]).part(0)

    def parts(self, ids: list[Id]) -> Parts:
        """What there is here of some lists."""
        return self._lists.parts(ids)

    def publish(self, messages: MessageBatch) -> PartChanges:
        """Messages come together, those that are not for this shard bare: what that changes.

        The message of an id that is in the window comes alone; ValueError where it does not.
        """
        ids = messages.ids.to_pylist()
        withdrawn = next((id for id in ids if id in self._window), None)
        if withdrawn is not None and len(ids) > 1:
            raise ValueError(f"message {withdrawn!r} is in the window; publish it by itself")
        times = np.maximum.accumulate(np.append(self.now, messages.time))[1:]
        self.now = float(times[-1])
        self._window.begin_step(withdrawn)
        numbers, left = self._window.admit(ids, times.tolist())
        rows = np.flatnonzero(np.diff(messages.word_start))
        mine = messages if len(rows) == len(messages) else messages.take(rows)
        left = left[np.append(rows, -1)]
        return self._lists.step_as_parts(mine, numbers[rows], left, withdrawn)

    def advance(self, now: float) -> PartChanges:
        """Time passes."""
        self.now = max(now, self.now)
        self._window.begin_step()
        left = self._window.pass_time(self.now)
        nothing = MessageBatch.from_messages([])
        return self._lists.step_as_parts(nothing, np.empty(0), left, None)

    def save(self, path: Path) -> None:
        """Write it to a file that is new."""
        meta, arrays = self._lists.state()
        own = {
            "lists": meta,
            "window": self._window.row(),
            "length": [*self._length.items()],
            "now": None if self.now == -inf else self.now,
        }
        storage.write_arrays(path, _KIND, own, arrays)

    @classmethod
    def load(cls, path: Path, window: Window, scoring: Scoring) -> PartLists:
        """What `save` wrote."""
        own, arrays = storage.read_arrays(path, _KIND)
        made = cls(window, scoring)
        made._lists = ShardLists.from_state(own["lists"], arrays)
        made._window = StreamWindow.of_row(window, own["window"])
        made._length = dict(own["length"])
        made.now = -inf if own["now"] is None else own["now"]
        return made
