"""What is asked of an index of messages: from where to where do which subscriptions move?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._clauses import Clauses
from nearcast.boolean.subscription_store import Chains
from nearcast.moving._flat.movable import one_covers
from nearcast.moving._flat.verify import NOTHING
from nearcast.space.region_column import BOX, CIRCLE, POLYGON, RegionColumn


class Movers(NamedTuple):
    """Subscriptions, as kernels ask about them.

    - `slots`: int32[n], whose entries are in `chains`, whose words are in `clauses`
    - `number_of`: int32[ranks], the number of each word
    """

    slots: NDArray[np.int32]
    clauses: Clauses
    chains: Chains
    number_of: NDArray[np.int32]
    is_earth: bool


class Sides(NamedTuple):
    """Where subscriptions are before a move, or after it.

    - `regions`: the arrays of a `RegionColumn`
    - `rows`: int64[n], the region of each there, NOTHING where the subscription is not
    - `covers`: float32[n, 4], a rectangle around each; anything for boxes that are one themselves
    - `column`: the column
    """

    regions: Any
    rows: NDArray[np.int64]
    covers: NDArray[np.float32]
    column: RegionColumn

    def all_covers(self) -> NDArray[np.float32]:
        """A rectangle around each region, anything where there is none."""
        return one_covers(self.column.take(np.maximum(self.rows, 0)))

    @classmethod
    def at(cls, regions: RegionColumn, rows: NDArray[np.int64]) -> Sides:
        """At these rows of a column."""
        kind, shape = regions.kernel_arrays()[:2]
        needs = (kind[rows] == CIRCLE) | (kind[rows] == POLYGON)
        needs |= (kind[rows] == BOX) & (shape[rows, 0] > shape[rows, 2])
        covers = np.zeros((len(rows), 4), np.float32)
        if needs.any():
            covers[needs] = one_covers(regions.take(rows[needs]))
        return cls(regions.kernel_arrays(), rows, covers, regions)

    @classmethod
    def nowhere(cls, regions: RegionColumn, count: int) -> Sides:
        """So many subscriptions that are not there."""
        rows = np.full(count, NOTHING, np.int64)
        return cls(regions.kernel_arrays(), rows, np.zeros((count, 4), np.float32), regions)


class Found(NamedTuple):
    """Changes: number of the move, sign, slot of the message; and how many were looked at."""

    rows: NDArray[np.int64]
    signs: NDArray[np.int8]
    slots: NDArray[np.int32]
    candidates: int
