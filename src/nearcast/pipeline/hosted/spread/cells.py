"""`Cells`: parts of the map, each with the subscriptions whose regions lie in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import Id, Region, Space
from nearcast.pipeline.partitioning import Location
from nearcast.pipeline.partitioning._kd_plan import Cost, plan_tree
from nearcast.pipeline.partitioning._location_kernels import LEAF
from nearcast.space import RegionColumn
from nearcast.topk.distributions.distribution import hash_of_id

FITTING = 0.95
"""So many of the sampled regions lie within the cell of their middle, made wider by the margin."""

_ARRAYS = {"axis": np.int8, "split": np.float64, "low": np.int32, "high": np.int32}


@dataclass(frozen=True)
class Cells:
    """The leaves of a kd-tree, and a margin around each, within which its shards hear messages.

    A region belongs to one shard: of the cell that it fits into, margin included. All messages that
    can concern it come there, because a place and a region meet only where their rectangles do.
    Comparing adds and subtracts the same numbers on both sides, so that rounding loses nobody.

    - `margin`: in degrees of longitude and of latitude

    >>> from nearcast.model import Box
    >>> tree = Location(2, np.array([0, LEAF, LEAF], np.int8), np.array([10.0, 0, 0]),
    ...                 np.array([1, 0, 1], np.int32), np.array([2, 1, 2], np.int32))
    >>> cells = Cells(tree, (1.0, 1.0))
    >>> [cells.home("s", Box(west, 0, west + 1.5, 1)) for west in (3, 9, 9.4)]
    [0, 0, 1]
    >>> cells.home("s", Box(9.4, 0, 10.9, 1), now=0), cells.home("s", Box(8, 0, 12, 1))
    (0, None)
    """

    tree: Location
    margin: tuple[float, float]

    @classmethod
    def plan(
        cls,
        regions: Sequence[Region | None],
        messages: MessageBatch,
        divided: int,
        shards: int,
        total_subscriptions: int,
        cost: Cost,
    ) -> Self:
        """Divide the map among the first so many shards by cost, given samples of what is to come.

        Algorithm 3 of DSkype, for subscriptions that are where their middle is. `cost` says what a
        shard takes for so many of them and a share of the messages.
        """
        row, covers = RegionColumn.of_regions(regions, Space.EARTH).covers()
        single = np.bincount(row, minlength=len(regions)) == 1  # no other fits into a cell
        covers = covers.astype(np.float64)[single[row]]
        if not len(covers):
            raise ValueError(
                "no sampled region lies on one side of the date line, so that the map cannot be "
                "divided by them; give more samples, or use distribution 'hash'"
            )
        half = (covers[:, 2:] - covers[:, :2]) / 2
        across, along = np.quantile(half, FITTING, axis=0).tolist()
        middles = (covers[:, :2] + covers[:, 2:]) / 2
        tree = plan_tree(
            np.hstack([middles, middles]),
            _widened(messages.rects, across, along),
            total_subscriptions / len(middles),
            1.0 / max(1, len(messages)),
            divided,
            cost,
            most_of_undivided=1.0,  # nobody is copied, so that whatever is saved is worth it
        )
        return cls(Location(shards, *tree), (across, along))

    def home(self, id: Id, region: Region | None, now: int | None = None) -> int | None:
        """The shard of a region: `now`, where it is, if it still fits there; None if it nowhere is.

        Who moves to and fro across a border stays.
        """
        _, covers = RegionColumn.of_regions([region], Space.EARTH).covers()
        rects = covers.astype(np.float64)
        low, high = rects[:, :2].min(axis=0), rects[:, 2:].max(axis=0)
        bounds, shards = self._leaves
        fits = (low + self.margin > bounds[:, :2]).all(axis=1)
        fits &= (high - self.margin <= bounds[:, 2:]).all(axis=1)
        if not fits.any():
            return None
        if now is not None:
            stays = fits & (shards[:, 0] <= now) & (now < shards[:, 1])
            if stays.any():
                return now
        middle = (low + high) / 2
        has_middle = (middle > bounds[:, :2]).all(axis=1) & (middle <= bounds[:, 2:]).all(axis=1)
        best = fits & has_middle
        first, last = shards[np.argmax(best if best.any() else fits)].tolist()
        return int(first + hash_of_id(id) % (last - first))

    def hear(self, messages: MessageBatch) -> NDArray[np.bool_]:
        """Which messages each shard has to hear; bool[messages, shards]."""
        row = np.repeat(np.arange(len(messages), dtype=np.int32), np.diff(messages.rect_start))
        rects = _widened(messages.rects, *self.margin)
        routes = self.tree.of_rects(len(messages), row, rects, np.empty(0, np.uint64))
        heard = np.zeros((len(messages), self.tree.shards), bool)
        heard[np.repeat(np.arange(len(messages)), np.diff(routes.start)), routes.shards] = True
        return heard

    @cached_property
    def _leaves(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Of each leaf west, south, which are not in it, east, north, which are; and its shards."""
        tree, bounds, shards = self.tree, [], []
        waiting = [(0, (-np.inf, -np.inf, np.inf, np.inf))]
        while waiting:
            node, within = waiting.pop()
            axis, split = int(tree.axis[node]), float(tree.split[node])
            low, high = int(tree.low[node]), int(tree.high[node])
            if axis == LEAF:
                bounds.append(within)
                shards.append((low, high))
                continue
            lower, upper = list(within), list(within)
            lower[axis + 2] = upper[axis] = split
            waiting += [(low, tuple(lower)), (high, tuple(upper))]  # type: ignore[list-item]
        return np.array(bounds), np.array(shards)

    def row(self) -> dict[str, Any]:
        """All of it, as JSON."""
        arrays = {name: getattr(self.tree, name).tolist() for name in _ARRAYS}
        return {"shards": self.tree.shards, "margin": list(self.margin), **arrays}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        """The cells whose `row` this is."""
        arrays = {name: np.array(row[name], kind) for name, kind in _ARRAYS.items()}
        across, along = row["margin"]
        return cls(Location(row["shards"], **arrays), (across, along))


def _widened(rects: NDArray[np.float64], across: float, along: float) -> NDArray[np.float64]:
    return rects + np.array([-across, -along, across, along])
