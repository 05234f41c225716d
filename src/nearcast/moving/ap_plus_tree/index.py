"""The AP+-Tree: subscriptions and messages in one tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from nearcast.model import Space
from nearcast.moving._flat.index import FlatMoving, MessageLists
from nearcast.moving._flat.movable import Movable
from nearcast.moving.ap_plus_tree.tree import ListsInTree, TreeWithMessages
from nearcast.moving.late_positions import LatePositions


class APPlusTree(FlatMoving):
    """An AP-Tree over moving subscriptions, with lists of messages at its nodes.

    A message goes down the tree as in matching, and stays in the lists of the leaves that it
    reaches; when there would be more than `most_copies` of it, it stays at inner nodes instead. A
    subscription that moves looks through the lists at the nodes on its ways, old and new, where
    the two regions have not the same part of the node.

    Parameters
    ----------
    space, lifetime, late_positions: see `MovingIndex`
    most_copies: how many postings a message may have, as far as the root's children allow
    tree: settings of the `APTree`

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = APPlusTree()
    >>> index.subscribe(Subscription("walker", "tea OR cake", Box(0, 0, 1, 1)))
    []
    >>> index.publish(Message(7, text="Hot tea", at=Point(2, 0), expires=60))
    []
    >>> index.move("walker", Box(1, 0, 2, 1))
    [Change(subscription_id='walker', sign=1, message_id=7)]

    References
    ----------
    X. Wang, Y. Zhang, W. Zhang, X. Lin, W. Wang: AP-Tree: efficiently support location-aware
    Publish/Subscribe. VLDB Journal, section 4.
    """

    _subscriptions: TreeWithMessages

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        lifetime: float | None = None,
        late_positions: LatePositions = LatePositions.IGNORED,
        most_copies: int = 16,
        tree: Mapping[str, Any] | None = None,
    ) -> None:
        if most_copies < 1:
            raise ValueError(f"most_copies {most_copies} is too small; it must be at least 1")
        self._most_copies = most_copies
        self._tree_settings = dict(tree or {})
        super().__init__(space=space, lifetime=lifetime, late_positions=late_positions)

    def _new_subscriptions(self) -> Movable:
        return TreeWithMessages(space=self.space, **self._tree_settings)

    def _new_lists(self) -> MessageLists:
        return ListsInTree(self._subscriptions, self._messages, self._words, self._most_copies)

    def _lists_of(self, arrays: Mapping[str, NDArray[Any]]) -> MessageLists:
        return self._new_lists()

    def _more_settings(self) -> dict[str, Any]:
        return {"most_copies": self._most_copies, "tree": self._tree_settings}
