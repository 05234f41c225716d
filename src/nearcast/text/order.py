"""In which order do an index's keywords come? Frequent first, rare first, or at random."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


class TermOrder(ABC):
    """A total order of terms, decided by how often each occurs."""

    @abstractmethod
    def order(self, frequency: NDArray[np.int64]) -> NDArray[np.int64]:
        """The term numbers, first term first, given the frequency of term 0, 1, 2, …"""


@dataclass(frozen=True, slots=True)
class Tf(TermOrder):
    """The most frequent term first; of equally frequent ones, the lower number.

    >>> Tf().order(np.array([3, 7, 3])).tolist()
    [1, 0, 2]
    """

    def order(self, frequency: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.argsort(-frequency, kind="stable")


@dataclass(frozen=True, slots=True)
class Idf(TermOrder):
    """The rarest term first; of equally rare ones, the lower number.

    >>> Idf().order(np.array([3, 7, 3])).tolist()
    [0, 2, 1]
    """

    def order(self, frequency: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.argsort(frequency, kind="stable")


@dataclass(frozen=True, slots=True)
class Random(TermOrder):
    """Any order, the same for the same seed and number of terms.

    >>> Random(seed=1).order(np.array([3, 7, 3])).tolist() == [
    ...     *Random(seed=1).order(np.array([0, 0, 0]))]
    True
    """

    seed: int

    def order(self, frequency: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.random.default_rng(self.seed).permutation(len(frequency))
