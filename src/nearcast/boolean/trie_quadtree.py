"""Trie-Qd: an ordered keyword trie whose ends are quadtrees."""

from __future__ import annotations

from nearcast.batches import MessageBatch
from nearcast.boolean.ap_tree import APTree, KeywordFirst, Quarters, SingleKeywords
from nearcast.model import Space


class TrieQuadtree(APTree):
    """Subscriptions along their ordered keywords, those with the same ones in a quadtree.

    The straightforward combination the AP-Tree is compared with (ICDE 2015, section V-B): a trie
    node has one child for each keyword, and only entries with no keyword left are divided by place,
    into equal quarters. It shares the AP-Tree's arrays and kernels, so that the comparison is of
    the ideas.

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = TrieQuadtree()
    >>> index.insert(Subscription(7, "tea AND cake", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="Cake with tea", at=Point(1, 1)))
    [7]
    """

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        leaf_capacity: int = 40,
        history: MessageBatch | None = None,
    ) -> None:
        super().__init__(
            space=space,
            leaf_capacity=leaf_capacity,
            history=history,
            keyword_partition=SingleKeywords(),
            spatial_partition=Quarters(),
            priority=KeywordFirst(),
            drift_threshold=None,
        )
