"""The R^t++-Tree: an R-tree whose nodes say which words a message needs to visit them."""

from __future__ import annotations

from nearcast.boolean.r_tree.index import RTreeIndex
from nearcast.boolean.rt_tree.tokens import SeveralTokens, TokenFilter
from nearcast.model import Space


class RtTree(RTreeIndex):
    """R-tree over the regions of entries, with token filters (R^t++-Tree).

    A message visits a child when its place meets the box around what is below, and its words the
    child's *token filter*. An entry is represented in the filters above it by its rarest word and,
    on each level, by another of its words: the second rarest in the node above its leaf, the third
    rarest in the node above that, and so on in turn while it has words. A message must have a word
    of either kind to visit the child; in a leaf it looks at the entries of which it has the two
    rarest words.

    The papers that compare with it say that nodes hold representative tokens: all tokens (R^t), one
    (R^t+) or several (R^t++) of each subscription. Which ones, and on which level, is decided here
    by measurement: with the rarest word on every level, rather than on one, fewer nodes are
    visited, because large filters prune by rare words alone.

    The filters of a node's children are kept together, as inverted lists: word by word, the
    children that have it. A message then asks the node once for each of its words, not each child.

    Matching costs O(words) for each node visited and O(1) for each entry of a leaf; inserting
    O(fanout) for each level, amortised; removing O(1).

    Parameters
    ----------
    space: what coordinates mean
    fanout: most children of a node, at most 31
    leaf_capacity: most entries of a leaf
    tokens: how entries are represented; `SeveralTokens`, or what it is compared with, `OneToken`
        (R^t+) and `AllTokens` (R^t)

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = RtTree()
    >>> index.insert(Subscription(7, "tea AND cake", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="Cake with tea", at=Point(1, 1)))
    [7]

    References
    ----------
    G. Li, Y. Wang, T. Wang, J. Feng: Location-Aware Publish/Subscribe. KDD 2013; as described by
    X. Wang et al.: AP-Tree, ICDE 2015, section II-C, and M. Yu et al.: A Cost-based Method for
    Location-Aware Publish/Subscribe Services, CIKM 2015, section 2.2.
    """

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        fanout: int = 31,
        leaf_capacity: int = 64,
        tokens: TokenFilter | None = None,
    ) -> None:
        super().__init__(space, fanout, leaf_capacity, (tokens or SeveralTokens()).code)
