"""In which shards is a subscription, and how many of them does it need?"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

NOTHING = -inf  # beyond the shards there is no message that counts
UNKNOWN = inf


@dataclass(frozen=True, slots=True)
class Placement:
    """The shards that a subscription may have to be in, the most important first.

    - `shards`: each once
    - `beyond`: as many numbers, falling; a message that goes to none of shards[:n + 1] has no
      score above beyond[n]. The last is `NOTHING`: no message beyond all of them counts

    A list that is merged from the first n shards is right when it is full and its lowest score is
    higher than beyond[n - 1].

    >>> placement = Placement((3, 0), (0.6, NOTHING))
    >>> placement.needed(0.7), placement.needed(0.6)
    (1, 2)
    """

    shards: tuple[int, ...]
    beyond: tuple[float, ...]

    @classmethod
    def at(cls, *shards: int) -> Placement:
        """All of these shards, always."""
        return cls(shards, (UNKNOWN,) * (len(shards) - 1) + (NOTHING,))

    @property
    def fewest(self) -> int:
        """How many shards are needed whatever the list."""
        return 1 + self.beyond.count(UNKNOWN)

    def needed(self, lowest: float) -> int:
        """How many shards suffice for a list with this lowest score, -1 for one that is not full.

        A score that equals what may be beyond is not enough: a newer message goes before it.
        """
        count = 1
        while self.beyond[count - 1] >= lowest:
            count += 1
        return count
