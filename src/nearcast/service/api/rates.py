"""`RateLimit`: how much each token may do in a second."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from fastapi import HTTPException

SECONDS_OF_BURST = 2.0
TOKENS_REMEMBERED = 10_000


class RateLimit:
    """A bucket for each token, filled at a steady rate, full after a short rest.

    Whoever finds 1 or more in its bucket may take as much as it needs and be in debt afterwards: so
    a large bulk is not refused for ever, but is paid for by a pause behind it.

    >>> limit = RateLimit("messages", per_second=10, clock=lambda: 0.0)
    >>> limit.take("ann", 70)
    >>> limit.take("ann")
    Traceback (most recent call last):
    fastapi.exceptions.HTTPException: 429: more than 10 messages a second; try again in 6 s
    """

    def __init__(
        self, what: str, per_second: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what = what
        self._per_second = per_second
        self._most = max(1.0, SECONDS_OF_BURST * per_second)
        self._clock = clock
        self._lock = threading.Lock()
        self._levels: dict[str, tuple[float, float]] = {}  # by token: level, and when

    def take(self, token: str, amount: int = 1) -> None:
        """Count so much for a token, or refuse with 429."""
        now = self._clock()
        with self._lock:
            level, then = self._levels.pop(token, (self._most, now))
            level = min(self._most, level + self._per_second * (now - then))
            is_refused = level < 1
            self._levels[token] = (level if is_refused else level - amount), now
            if len(self._levels) > TOKENS_REMEMBERED:
                del self._levels[next(iter(self._levels))]  # the one idle for longest
        if is_refused:
            wait = math.ceil((1 - level) / self._per_second)
            raise HTTPException(
                429,
                f"more than {self._per_second:g} {self._what} a second; try again in {wait} s",
                {"Retry-After": str(wait)},
            )
