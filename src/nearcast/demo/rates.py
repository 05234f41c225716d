"""How fast is it going right now?"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

SPAN_SECONDS = 3.0


class Rates:
    """Amounts by time, over the last few seconds.

    >>> now = iter([0.0, 1.0, 2.0, 3.0])
    >>> rates = Rates(lambda: next(now))
    >>> for messages in (30, 50, 40):
    ...     rates.add(messages=messages, matches=2 * messages, working=messages / 1e4)
    >>> rates.messages_per_second, rates.matches_per_second
    (40.0, 80.0)
    >>> rates.microseconds_per_message
    100.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # When, and what had been counted by then: messages, matches, seconds of matching.
        self._past: deque[tuple[float, int, int, float]] = deque([(clock(), 0, 0, 0.0)])

    def add(self, *, messages: int, matches: int, working: float) -> None:
        """Count what one tick did; `working` is the time that matching took."""
        _, sent, found, worked = self._past[-1]
        self._past.append((self._clock(), sent + messages, found + matches, worked + working))
        while self._past[-1][0] - self._past[1][0] > SPAN_SECONDS:
            self._past.popleft()

    @property
    def messages_per_second(self) -> float:
        """Messages published in a second of real time."""
        seconds, messages, _, _ = self._span()
        return messages / seconds if seconds else 0.0

    @property
    def matches_per_second(self) -> float:
        """Matches found in a second of real time."""
        seconds, _, matches, _ = self._span()
        return matches / seconds if seconds else 0.0

    @property
    def microseconds_per_message(self) -> float:
        """What matching one message takes."""
        _, messages, _, working = self._span()
        return 1e6 * working / messages if messages else 0.0

    def _span(self) -> tuple[float, int, int, float]:
        then, now = self._past[0], self._past[-1]
        return now[0] - then[0], now[1] - then[1], now[2] - then[2], now[3] - then[3]
