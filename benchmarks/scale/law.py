"""How a cost grows with the subscriptions of a shard."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", float, NDArray[np.float64])

ANY_POWER = tuple(np.arange(0.2, 1.205, 0.01).tolist())
LINE = (1.0,)


@dataclass(frozen=True)
class GrowthLaw:
    """`fixed + factor * n ** power` up to the `largest` n measured, a straight line beyond.

    The line has the slope of the curve where it begins: what is found, and has to be told, grows
    with the subscriptions, however few of them a search looks at. `worst` is by how much the law is
    off where it was fitted, at worst, as a share.

    >>> law = GrowthLaw.fit([100, 200, 400], [3.0, 5.0, 9.0])
    >>> law.fixed, law.power, round(float(law.at(800.0)), 6)
    (1.0, 1.0, 17.0)
    """

    fixed: float
    factor: float
    power: float
    largest: float
    worst: float

    @classmethod
    def fit(
        cls,
        sizes: Sequence[float],
        costs: Sequence[float],
        powers: Sequence[float] = ANY_POWER,
    ) -> "GrowthLaw":
        """The law with the least squares of relative errors; no part of it is negative."""
        n, cost = np.asarray(sizes, np.float64), np.asarray(costs, np.float64)
        best, least = cls(float(cost.mean()), 0.0, 1.0, float(n.max()), np.inf), np.inf
        for power in powers:
            fixed, factor = _parts(n**power, cost)
            errors = (fixed + factor * n**power) / cost - 1.0
            if float(errors @ errors) < least * (1.0 - 1e-9):
                least = float(errors @ errors)
                best = cls(
                    round(fixed, 9), factor, round(power, 2), best.largest,
                    float(np.abs(errors).max()),
                )  # fmt: skip
        return best

    def at(self, subscriptions: Number) -> Number:
        """What so many cost; an array of them is possible."""
        within = np.minimum(subscriptions, self.largest)
        beyond = subscriptions - within
        slope = self.factor * self.power * self.largest ** (self.power - 1.0)
        cost: Number = self.fixed + self.factor * within**self.power + slope * beyond
        return cost


def _parts(grown: NDArray[np.float64], cost: NDArray[np.float64]) -> tuple[float, float]:
    """The fixed part and the factor, neither of them negative."""
    columns = np.stack([1.0 / cost, grown / cost], axis=1)
    fixed, factor = np.linalg.lstsq(columns, np.ones(len(cost)), rcond=None)[0].tolist()
    if fixed < 0.0:
        return 0.0, float(columns[:, 1].sum() / (columns[:, 1] @ columns[:, 1]))
    if factor < 0.0:
        return float(columns[:, 0].sum() / (columns[:, 0] @ columns[:, 0])), 0.0
    return fixed, factor
