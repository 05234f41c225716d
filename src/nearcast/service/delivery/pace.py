"""`Pace`: when to try again."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Clock, patience and chance; tests give their own."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def pause(self, attempts: int, retry_after: float | None = None) -> float:
        """How long to wait after so many attempts: exponential, with full jitter.

        Jitter, because receivers that fail together should not be tried again together. What the
        receiver asks for is the least, within limits.

        >>> Pace(chance=lambda: 0.5).pause(3)
        2.0
        """
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(attempts - 1, 30))
        return max(self.chance() * longest, min(retry_after or 0.0, LONGEST_PAUSE))

    def seconds_of(self, retry_after: str) -> float | None:
        """What a header Retry-After says: seconds, or a date; None if it is neither.

        >>> Pace(now=lambda: 0.0).seconds_of("Thu, 01 Jan 1970 00:00:07 GMT")
        7.0
        """
        if retry_after.isascii() and retry_after.isdigit():
            return float(retry_after)
        try:
            return max(0.0, parsedate_to_datetime(retry_after).timestamp() - self.now())
        except (ValueError, OverflowError):
            return None
