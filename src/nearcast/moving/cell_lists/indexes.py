"""The rivals of the AP+-Tree in its paper's experiments (VLDB Journal, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray

from nearcast.moving._flat.index import FlatMoving
from nearcast.moving._flat.movable import Movable
from nearcast.moving.cell_lists.lists import CellLists
from nearcast.moving.cell_lists.subscriptions import (
    GRID_LEVEL,
    GridOfLists,
    ListsOfGrids,
    MovableAPTree,
    MovableIQTree,
    MovableRQTree,
)

GRID = (1 << GRID_LEVEL,)
QUADTREE = tuple(1 << level for level in range(8))


class _Apart(FlatMoving):
    """An index of subscriptions, and lists of messages by word and cell.

    `sides` are the grids of the latter; `word_first` tells whether they are searched by the word
    that the fewest messages have, or by the word that is rarest in each cell.
    """

    _kind: ClassVar[type[Movable]]
    _sides: ClassVar[tuple[int, ...]]
    _word_first: ClassVar[bool]

    def _new_subscriptions(self) -> Movable:
        kind: Any = self._kind
        index: Movable = kind(space=self.space)
        return index

    def _new_lists(self) -> CellLists:
        return CellLists(self._sides, self._word_first)

    def _lists_of(self, arrays: Mapping[str, NDArray[Any]]) -> CellLists:
        return self._new_lists().take_over(arrays)


class IQPlus(_Apart):
    """IQ+-Tree: subscriptions in an IQ-Tree, messages in all cells of a quadtree around them."""

    _kind, _sides, _word_first = MovableIQTree, QUADTREE, False


class RQPlus(_Apart):
    """RQ+-Tree: subscriptions in an RQ-Tree, messages by word, in quadtrees."""

    _kind, _sides, _word_first = MovableRQTree, QUADTREE, True


class SSIndex(_Apart):
    """SS-Index: subscriptions and messages each in a grid, in its cells by word."""

    _kind, _sides, _word_first = GridOfLists, GRID, False


class KKIndex(_Apart):
    """KK-Index: subscriptions and messages each by word, in a grid."""

    _kind, _sides, _word_first = ListsOfGrids, GRID, True


class APPlusK(_Apart):
    """AP+k-Tree: subscriptions in an AP-Tree, messages by word, in a grid."""

    _kind, _sides, _word_first = MovableAPTree, GRID, True


class APPlusS(_Apart):
    """AP+s-Tree: subscriptions in an AP-Tree, messages in a grid, in its cells by word."""

    _kind, _sides, _word_first = MovableAPTree, GRID, False
