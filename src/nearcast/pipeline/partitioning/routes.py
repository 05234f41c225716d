"""`Routes`: which shards each row of a batch goes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nearcast.pipeline.partitioning._route_kernels import (
    Masks,
    Shards,
    Starts,
    lowest_common,
    masks_of,
    routes_of,
    rows_by_shard,
)


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """The target shards of the rows of a batch, in flat arrays.

    ```
    start   int64[n+1]   row i goes to shards[start[i]:start[i+1]]
    shards  int32[]      ascending, distinct within a row
    ```

    >>> routes = Routes(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32))
    >>> len(routes), routes.rows_of(2)
    (2, array([0, 1]))
    >>> [(shard, rows.tolist()) for shard, rows in routes.by_shard()]
    [(0, [0]), (2, [0, 1])]
    >>> routes.masks(3).tolist()
    [[5], [4]]
    """

    start: Starts
    shards: Shards

    def __len__(self) -> int:
        return len(self.start) - 1

    @classmethod
    def to_one(cls, shards: Shards) -> Self:
        """Row i goes to shards[i] alone."""
        return cls(np.arange(len(shards) + 1, dtype=np.int64), shards)

    @classmethod
    def to_all(cls, rows: int, shards: int) -> Self:
        """Each of so many rows goes to each of so many shards.  O(rows * shards)."""
        start = np.arange(rows + 1, dtype=np.int64) * shards
        return cls(start, np.tile(np.arange(shards, dtype=np.int32), rows))

    @classmethod
    def of_masks(cls, masks: Masks) -> Self:
        """The routes whose `masks` these are.  O(rows + copies)."""
        return cls(*routes_of(masks))

    def rows_of(self, shard: int) -> NDArray[np.int64]:
        """int64[]: the rows that go to one shard, ascending.  O(copies); for all, `by_shard`."""
        copies = np.flatnonzero(self.shards == shard)
        return np.searchsorted(self.start, copies, side="right") - 1

    def by_shard(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Each shard that gets anything, ascending, with its rows, ascending.  O(copies) in all."""
        count = int(self.shards.max()) + 1 if len(self.shards) else 0
        first, rows = rows_by_shard(self.start, self.shards, count)
        for shard in range(count):
            if first[shard] < first[shard + 1]:
                yield shard, rows[first[shard] : first[shard + 1]]

    def masks(self, shards: int) -> Masks:
        """uint64[n, ceil(shards/64)]: bit s of a row is set where it goes to shard s.  O(copies).

        Bit s is bit s % 64 of number s // 64.
        """
        return masks_of(self.start, self.shards, mask_words(shards))


def mask_words(shards: int) -> int:
    """How many numbers of 64 bits hold a bit for each shard.

    >>> mask_words(1), mask_words(64), mask_words(65)
    (1, 1, 2)
    """
    return -(-shards // 64)


def first_common(a: Masks, b: Masks) -> Shards:
    """int32[n]: the lowest shard that both a[i] and b[i] go to, -1 where there is none.  O(n).

    A pair that several shards find is reported by this one alone.

    >>> first_common(np.array([[0b110], [0b001]], np.uint64), np.array([[0b100]] * 2, np.uint64))
    array([ 2, -1], dtype=int32)
    """
    return lowest_common(a, b)
