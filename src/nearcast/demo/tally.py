"""`Tally`: what has arrived, where, and how soon."""

from __future__ import annotations

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

    `prefix` is that of the ids of this run's messages: what is left of an earlier run is no
    delivery of this one.

    >>> tally = Tally("a-", clock=lambda: 10.5)
    >>> message = {"id": "a-1", "properties": {"time": 10.0, "text": "coffee and cake"}}
    >>> tally.note("leila", "stream", {"kind": "match", "message": message})
    >>> tally.deliveries, tally.median_milliseconds, tally.newest
    (1, 500.0, ('leila', 'coffee and cake'))
    """

    def __init__(self, prefix: str, clock: Callable[[], float] = time.time) -> None:
        self._prefix = prefix
        self._clock = clock
        self._lock = threading.Lock()
        self._seconds: deque[float] = deque(maxlen=LATEST)
        self.by_way: Counter[str] = Counter()
        self.newest: tuple[str, str] | None = None

    def note(self, subscriber: str, way: str, event: Mapping[str, Any]) -> None:
        """An event has arrived, by a way such as `stream`."""
        if event["kind"] != "match" or not event["message"]["id"].startswith(self._prefix):
            return
        said = event["message"]["properties"]
        with self._lock:
            self._seconds.append(self._clock() - said["time"])
            self.by_way[way] += 1
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
