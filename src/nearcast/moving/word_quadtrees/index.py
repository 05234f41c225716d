"""The default index of the room: messages in a quadtree for each word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from nearcast.moving._flat.index import FlatMoving
from nearcast.moving._flat.movable import Movable, MovableWordTree
from nearcast.moving.word_quadtrees.lists import QuadtreesOfWords


class WordQuadtrees(FlatMoving):
    """Subscriptions by their rarest word, messages in a quadtree for each of their words.

    Nothing is kept of results. A message that arrives or expires finds its subscriptions by a
    `RarestWordTree`. A subscription that moves walks the quadtree of its rarest word over the old
    region and over the new one, but for what lies in both, and finds what it loses and gains.

    Costs: a move, the walk, and another box where the tree of subscriptions has it; a message,
    matching twice, when it comes and when it goes, and a posting of 8 bytes for each word.

    Parameters
    ----------
    space: what coordinates mean
    lifetime: seconds that a message without `expires` lives; None for ever
    late_positions: what a position is worth that is older than the last one

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = WordQuadtrees()
    >>> index.subscribe(Subscription("walker", "tea OR cake", Box(0, 0, 1, 1)))
    []
    >>> index.publish(Message(7, text="Hot tea", at=Point(2, 0), expires=60))
    []
    >>> index.move("walker", Box(1, 0, 2, 1))
    [Change(subscription_id='walker', sign=1, message_id=7)]
    >>> index.advance(60)
    [Change(subscription_id='walker', sign=-1, message_id=7)]
    """

    def _new_subscriptions(self) -> Movable:
        return MovableWordTree(space=self.space)

    def _new_lists(self) -> QuadtreesOfWords:
        return QuadtreesOfWords()

    def _lists_of(self, arrays: Mapping[str, NDArray[Any]]) -> QuadtreesOfWords:
        return QuadtreesOfWords.from_arrays(arrays)
