"""What messages cost a shard and the router: the model that plans balance and `choose` compares.

The law was fitted by `python -m benchmarks run scale` to `WordLists` with 4,000 to 64,000 lists of
synthetic tweets; docs/scale.md has the newest. It prices one plan against another; a machine twice
as fast changes all of them alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", float, NDArray[np.float64])

_NOBODY = 1e-12
"""In place of the share of a shard that hears nothing."""


@dataclass(frozen=True, slots=True)
class CostLaw:
    """Seconds of a core for a message in an index of n subscriptions.

    `fixed + factor * n ** power` up to the `largest` n that was measured, and a line of the same
    slope beyond: what is found grows with the subscriptions, however few of them a search looks at.

    >>> float(CostLaw(1.0, 2.0, 0.5, largest=100.0).at(400.0))
    51.0
    """

    fixed: float
    factor: float
    power: float
    largest: float

    def at(self, subscriptions: Number) -> Number:
        """What a message costs with so many."""
        within = np.minimum(subscriptions, self.largest)
        slope = self.factor * self.power * self.largest ** (self.power - 1.0)
        cost: Number = self.fixed + self.factor * within**self.power
        return cost + slope * (subscriptions - within)

    def of_share(self, share: Number, subscriptions: Number) -> Number:
        """What a message of the stream costs a shard that gets a share of them, on average.

        What counts for a subscription comes to its shard. So a shard of n that hears the share p
        finds as much in one message as one of n / p that hears all, and does so p times as often.

        >>> law = CostLaw(1.0, 0.1, 1.0, largest=100.0)
        >>> [float(law.of_share(share, 20.0)) for share in (0.5, 1.0)]
        [2.5, 3.0]
        """
        alike = subscriptions / np.maximum(share, _NOBODY)
        cost: Number = share * self.at(alike)
        return cost


LISTS = CostLaw(0.7e-6, 2.99e-6, 0.24, largest=64_000)
"""Of the k best messages. N(W) x p(W) of DSkype (Equations 15 and 16), as it is measured."""

SEND_SECONDS = 0.6e-6
"""For a copy of a message, which the router packs and its shard unpacks."""

# What plans of words balance: a line through that law, over the sizes that were measured. With the
# law itself rare words would be in more shards, and subscriptions with them, for less than a
# prediction is worth.
COPY_SECONDS, PAIR_SECONDS = 30e-6, 1.6e-10


def shard_seconds(share: Number, subscriptions: Number) -> Number:
    """About what a message costs a shard that gets a share of them, for plans.

    >>> round(shard_seconds(0.5, 1e6) * 1e6)
    95
    """
    return share * (COPY_SECONDS + PAIR_SECONDS * subscriptions)
