"""`StreamWindow`: which messages of the whole stream are in the window?"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.model import Id
from nearcast.topk.windows import CountWindow, Window


class StreamWindow:
    """The ids of the messages of a window, with their numbers in the stream; no messages.

    One router has it. Shards, which hear different parts of the stream, are told the highest number
    that has left. A few hundred bytes a message.

    >>> window = StreamWindow(CountWindow(2))
    >>> window.admit(["a", "b", "c"], [0.0, 0.0, 0.0])
    (array([0., 1., 2.]), array([-1., -1.,  0.,  0.]))
    >>> window.number_before("a"), len(window), "a" in window
    (0, 2, False)
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._kept: OrderedDict[Id, tuple[int, float]] = OrderedDict()
        self._gone: dict[Id, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, id: Id) -> bool:
        return id in self._kept

    def messages(self) -> tuple[list[Id], NDArray[np.int64], NDArray[np.float64]]:
        """The ids, numbers and times of all messages of the window, in their order."""
        kept = np.array([*self._kept.values()], np.float64).reshape(-1, 2)
        return [*self._kept], kept[:, 0].astype(np.int64), kept[:, 1]

    def number_of(self, id: Id) -> int:
        """The number of a message of the window."""
        return self._kept[id][0]

    def number_before(self, id: Id) -> int:
        """The number that the message of this id had before the latest step."""
        number = self._gone.get(id)
        return self._kept[id][0] if number is None else number

    def begin_step(self, withdrawn: Id | None = None) -> None:
        """What leaves from now on has been there before; the message of one id goes at once."""
        self._gone = {}
        if withdrawn is not None:
            self._gone[withdrawn] = self._kept.pop(withdrawn)[0]

    def admit(
        self, ids: Sequence[Id], times: Sequence[float]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Messages come, with new ids: their numbers, and for each the highest that has left.

        The last of these is once more for the end.
        """
        numbers, left = np.arange(self._next, self._next + len(ids), dtype=np.float64), []
        for id, time in zip(ids, times, strict=True):
            self._kept[id] = (self._next, time)
            self._next += 1
            left.append(self._expire(time))
        left.append(left[-1])
        return numbers, np.array(left, np.float64)

    def pass_time(self, now: float) -> NDArray[np.float64]:
        """It is `now`: the highest number that has left."""
        return np.array([self._expire(now)], np.float64)

    def _expire(self, now: float) -> int:
        while self._kept:
            number, time = next(iter(self._kept.values()))
            if isinstance(self._window, CountWindow):
                if len(self._kept) <= self._window.messages:
                    return number - 1
            elif time > now - self._window.seconds:
                return number - 1
            id, _ = self._kept.popitem(last=False)
            self._gone.setdefault(id, number)
        return self._next - 1

    def row(self) -> dict[str, Any]:
        """All of it, as JSON."""
        kept = [[id, number, time] for id, (number, time) in self._kept.items()]
        return {"kept": kept, "next": self._next}

    @classmethod
    def of_row(cls, window: Window, row: dict[str, Any]) -> StreamWindow:
        """The window whose `row` this is."""
        made = cls(window)
        made._kept = OrderedDict((id, (number, time)) for id, number, time in row["kept"])
        made._next = row["next"]
        return made
