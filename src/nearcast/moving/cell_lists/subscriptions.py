"""The indexes of subscriptions of the AP+-Tree's rivals, for subscriptions that move."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._quad import QuadIndex
from nearcast.boolean._quad._cells import DEPTH, coordinates
from nearcast.boolean.ap_tree.tree import APTree
from nearcast.boolean.iq_tree.tree import IQTree
from nearcast.boolean.rq_tree.tree import RQTree
from nearcast.moving._flat.movable import Movable
from nearcast.space import RegionColumn

GRID_LEVEL = 5
"""Of the grids of SS-Index and KK-Index: 32 columns and rows, where the paper tuned 40."""
MOST_TOUCHED = 64  # cells of a region; one that touches more is at the root, which all messages see


class MovableAPTree(Movable, APTree):
    """An AP-Tree of which subscriptions move; its messages are elsewhere."""


class MovableQuad(Movable, QuadIndex):
    """A quadtree of which subscriptions move: each time their cells are chosen again."""

    def relocate(self, slots: NDArray[np.int32], regions: RegionColumn) -> None:
        changes = self._changes
        super().relocate(slots, regions)
        self._changes = min(changes, self._changes)  # a move is no reason to build all again


class MovableIQTree(MovableQuad, IQTree):
    """An IQ-Tree of which subscriptions move."""


class MovableRQTree(MovableQuad, RQTree):
    """An RQ-Tree of which subscriptions move."""


class _OneGrid(MovableQuad):
    """All cells of one size: a grid."""

    def _cover(
        self, bounds: NDArray[np.float32], lists: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        frame, shift = self._grid.frame, DEPTH - GRID_LEVEL
        west, east = (coordinates(bounds[:, i], frame[0], frame[2]) >> shift for i in (0, 2))
        south, north = (coordinates(bounds[:, i], frame[1], frame[3]) >> shift for i in (1, 3))
        is_large = (east - west + 1) * (north - south + 1) > MOST_TOUCHED
        level = GRID_LEVEL * (self._is_gridded(lists) & ~is_large).astype(np.int64)
        for border in (west, south, east, north):
            border[level == 0] = 0
        width = east - west + 1
        count = width * (north - south + 1)
        owner = np.repeat(np.arange(len(bounds), dtype=np.int32), count)
        number = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        column = west[owner] + number % width[owner]
        row = south[owner] + number // width[owner]
        return owner, level[owner] << 2 * DEPTH | column << DEPTH | row

    def _is_gridded(self, lists: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which lists have a grid, and which are short enough to do without?"""
        return np.ones(len(lists), bool)


class GridOfLists(_OneGrid, IQTree):
    """A grid, and in each of its cells lists by the rarest word."""


class ListsOfGrids(_OneGrid, RQTree):
    """Lists by the rarest word, and a grid for each long one."""

    def _is_gridded(self, lists: NDArray[np.int32]) -> NDArray[np.bool_]:
        gridded: NDArray[Any] = self._divided.used[lists]
        return gridded
