"""How much does a document count after a while?

A document of time t counts `2 ** -((now - t) / half_life)`. Scores must be equal where the
definition says so, whatever the order of additions: many terms occur in the same documents, and the
alphabet decides between them. Floating point does not do that, whole numbers do. So

- a *moment* is a time in half-lives, and an *epoch* a whole one: `floor(moment)`;
- the *weight* of a document is `2 ** (moment - epoch)`, rounded to a whole number of 2**-22ths:
  off by one part in eight million at the most;
- of a term's documents `F * weight * 2 ** (epoch - base)` are added, as whole numbers, where
  `base` is the epoch of the oldest document that can still count. When time passes, the base
  moves with it, and sums are halved for each epoch, which is exact: who is older than that has
  left.

A document counts while `moment > now - horizon`, in half-lives. One that is 20 half-lives old is
worth a millionth of a new one; so memory is bounded, however long the stream is.

Sums of all documents, wherever they are, are at most `MOST_UNITS`: with a horizon of 20 there is
room for half a million mentions of a term. When a document comes that finds no room, the base moves
on alone, by as many epochs as it takes, and what is older is forgotten before its time. Each epoch
gives room for twice as many mentions. Later the base stays while time passes, until there are
`horizon` half-lives between them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from nearcast.model._checks import finite_number, positive_count

WEIGHT_BITS = 22
"""A new document of frequency 1 has 2**22 to 2**23 units."""

MOST_UNITS = 2**62
"""So much a term may have; two sums are below 2**63."""

DEFAULT_HORIZON, LONGEST_HORIZON = 20, 30

LATEST_MOMENT = 2.0**45
"""Beyond, half-lives are no longer told apart well enough: a part in eight million."""


@dataclass(frozen=True, slots=True)
class Decay:
    """A half-life in seconds, and after how many of them a document no longer counts.

    >>> decay = Decay(half_life=60.0)
    >>> decay.moment(90.0), decay.epoch(90.0), decay.weight(90.0) / 2**WEIGHT_BITS
    (1.5, 1, 1.414213657379150...)
    >>> decay.counts(90.0, now=90.0 + 20 * 60.0)
    False
    """

    half_life: float
    horizon: int = DEFAULT_HORIZON

    def __post_init__(self) -> None:
        half_life = finite_number(self.half_life, "half_life")
        if half_life <= 0:
            raise ValueError(f"half_life {half_life} is not positive; give seconds")
        horizon = positive_count(self.horizon, "horizon")
        if horizon > LONGEST_HORIZON:
            raise ValueError(
                f"horizon {horizon} is beyond {LONGEST_HORIZON} half-lives, when a document counts "
                "a billionth; give fewer"
            )
        object.__setattr__(self, "half_life", half_life)
        object.__setattr__(self, "horizon", horizon)

    def moment(self, time: float) -> float:
        """A time in half-lives."""
        return time / self.half_life

    def epoch(self, time: float) -> int:
        """The whole half-lives of a time."""
        return floor(self.moment(time))

    def weight(self, time: float) -> int:
        """What a document of this time has, in units of 2 ** (its epoch - 22)."""
        return int(weights(np.array([self.moment(time)]))[0])

    def counts(self, time: float, now: float) -> bool:
        """Does a document of this time still count?"""
        return self.moment(time) > self.moment(now) - self.horizon

    def base(self, now: float) -> int:
        """The epoch of the oldest document that can count, where sums have room for it."""
        return self.epoch(now) - self.horizon

    def check_moment(self, time: float, owner: str) -> None:
        """Refuse a time that is too many half-lives from 0."""
        if abs(self.moment(time)) > LATEST_MOMENT:
            raise ValueError(
                f"{owner}: time {time} is more than 2**45 half-lives of {self.half_life} s from 0; "
                "give times from a later beginning, or a longer half-life"
            )


def weights(moments: NDArray[np.float64]) -> NDArray[np.int64]:
    """What documents of these moments have, in units of 2 ** (their epoch - 22).  O(moments)."""
    return np.rint(np.exp2(moments - np.floor(moments) + WEIGHT_BITS)).astype(np.int64)
