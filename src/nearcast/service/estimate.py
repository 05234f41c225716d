"""`Estimator`: how many messages a day would a subscription match?  It looks at recent ones."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass

import numpy as np

from nearcast.batches import MessageBatch
from nearcast.boolean import RarestWordTree
from nearcast.model import Subscription
from nearcast.service.documents import message_from
from nearcast.service.stores.messages import Messages

MESSAGES_KEPT = 20_000
EXAMPLES = 20
SECONDS_A_DAY = 86_400.0
_SMALL_BATCH = 2_000  # below this, joining is cheaper than matching one batch more
_EDGE = 0.05  # of all messages at either end: publishers may give times that are far off


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a subscription would have matched, of so many messages in so many seconds.

    - `per_day`: None when the messages are too few, or too close in time, to tell
    - `examples`: ids of the newest messages that it matches
    """

    per_day: float | None
    matches: int
    messages: int
    seconds: float
    examples: tuple[str, ...]


class Estimator:
    """Keeps the newest messages as columns; any thread may ask.

    An answer is exact for those messages. New ones are read when somebody asks.
    """

    def __init__(self, messages: Messages, *, keep: int = MESSAGES_KEPT) -> None:
        self._messages = messages
        self._keep = keep
        self._lock = threading.Lock()
        self._batches: deque[MessageBatch] = deque()  # oldest first; between keep and twice that
        self._next = 0

    def estimate(self, subscription: Subscription) -> Estimate:
        """Match the newest messages.  Milliseconds, and some for each that is new since."""
        with self._lock:
            self._read_on()
            batches = list(self._batches)
        index = RarestWordTree()
        index.insert(subscription)
        found: list[str] = []
        for batch in batches:
            found += index.match_batch(batch).to_arrow()["message_id"].to_pylist()
        seconds = _seconds(batches)
        return Estimate(
            per_day=len(found) * SECONDS_A_DAY / seconds if seconds >= 1 else None,
            matches=len(found),
            messages=sum(map(len, batches)),
            seconds=seconds,
            examples=tuple(found[: -EXAMPLES - 1 : -1]),
        )

    def _read_on(self) -> None:
        rows = self._messages.since(self._next, self._keep + 1)
        if len(rows) > self._keep:  # far behind: the newest are enough
            rows = self._messages.recent(self._keep)[::-1]
            self._batches.clear()
        if not rows:
            return
        self._next = rows[-1][0] + 1
        new = MessageBatch.from_messages(message_from(json.loads(body), 0.0) for _, body in rows)
        if self._batches and len(self._batches[-1]) < _SMALL_BATCH:
            new = MessageBatch.concat([self._batches.pop(), new])
        self._batches.append(new)
        while sum(map(len, self._batches)) - len(self._batches[0]) >= self._keep:
            self._batches.popleft()


def _seconds(batches: list[MessageBatch]) -> float:
    """How long the messages took, by their own times."""
    if not batches:
        return 0.0
    times = np.concatenate([batch.time for batch in batches])
    first, last = np.quantile(times, [_EDGE, 1 - _EDGE])
    return float(last - first) / (1 - 2 * _EDGE)
