"""`Tally`: what has arrived, where, and how soon."""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any

LATEST = 5_000
"""So many deliveries tell how long one takes."""


class Tally:
    """Counts deliveries.  Any thread.

    `after` is the number of the last event that does not count: it was there before the city began.

    >>> tally = Tally(after=6, clock=lambda: 10.5)
    >>> message = {"id": "a-1", "properties": {"time": 10.0, "text": "coffee and cake"}}
    >>> tally.note("leila", "stream", {"id": 7, "kind": "match", "message": message})
    >>> tally.deliveries, tally.median_milliseconds, tally.newest
    (1, 500.0, ('leila', 'coffee and cake'))
    """

    def __init__(self, after: float = math.inf, clock: Callable[[], float] = time.time) -> None:
        self.after = after
        self._clock = clock
        self._lock = threading.Lock()
        self._seconds: deque[float] = deque(maxlen=LATEST)
        self.by_way: Counter[str] = Counter()
        self.newest: tuple[str, str] | None = None

    def note(self, subscriber: str, way: str, event: Mapping[str, Any]) -> None:
        """An event has arrived, by a way such as `stream`."""
        if event["kind"] == "gap" or event["id"] <= self.after:
            return
        message = event.get("message")
        with self._lock:
            self.by_way[way] += 1
            # A message may enter somebody's result long after it was said.
            if message is not None and event.get("cause", message["id"]) == message["id"]:
                said = message["properties"]
                self._seconds.append(self._clock() - said["time"])
                self.newest = subscriber, said["text"]

    @property
    def deliveries(self) -> int:
        """How many in all."""
        with self._lock:
            return self.by_way.total()

    @property
    def median_milliseconds(self) -> float | None:
        """From publishing to delivery, of the latest ones; None before the first."""
        with self._lock:
            latest = list(self._seconds)
        return round(1000 * statistics.median(latest), 1) if latest else None
