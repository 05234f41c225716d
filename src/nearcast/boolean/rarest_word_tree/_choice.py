"""Which keywords are better found by place than by themselves?

Where regions are small, or messages have most of the words that anybody asks for, a keyword says
less than the place does: its entries then go to the one list by place, beside those of other such
keywords. What either way costs a message is estimated in looks at an entry beside others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean.rarest_word_tree._build import WORD_COST
from nearcast.boolean.rarest_word_tree._layout import MOST_LANES

LIST_COST = 12.0  # to go to a list: it is elsewhere
LEVEL_COST = 24.0  # to go down one level of an R-tree
CLEARLY = 3.0  # the place must be so many times better: what is not foreseen is better by word


def better_by_place(
    first: NDArray[np.int64],
    area: NDArray[np.float64],
    chance: NDArray[np.float32],
) -> NDArray[np.bool_]:
    """For each keyword, by rank: is the list by place better for its entries?  O(entries).

    - `first`: of each entry, the rarest keyword, -1 for none
    - `area`: and the share of messages whose place it meets
    - `chance`: of each keyword, the share of messages that have it
    """
    count = np.bincount(first + 1, minlength=len(chance) + 1)[1:]
    areas = np.bincount(first + 1, weights=area, minlength=len(chance) + 1)[1:]
    met = areas / np.maximum(count, 1)
    everything = max(1, len(first))
    by_word = chance * (
        LIST_COST
        + LEVEL_COST * _levels(count)
        + np.where(count > MOST_LANES, count * _looked_at(met, count), count)
        + WORD_COST * areas
    )
    by_place = count * _looked_at(met, everything) + WORD_COST * areas
    gain = np.where(count > 0, np.maximum(0.0, by_word - CLEARLY * by_place), 0.0)
    descent = LEVEL_COST * _levels(np.array(everything))
    is_worth_it = gain.sum() > descent
    answer: NDArray[np.bool_] = (gain > 0) & is_worth_it
    return answer


def _looked_at(met: NDArray[np.float64], count: int | NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of so many entries, arranged by place, that a message looks at: a leaf is wider."""
    side = np.sqrt(met) + np.sqrt(MOST_LANES / np.maximum(1, count))
    return np.minimum(1.0, side * side)


def _levels(count: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of an R-tree of so many entries, above its leaves."""
    leaves = np.maximum(1.0, count / MOST_LANES)
    levels: NDArray[np.float64] = np.ceil(np.log(leaves) / np.log(MOST_LANES))
    return levels
