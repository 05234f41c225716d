"""The IR-tree, turned around: nodes list for each word the children that have it below."""

from __future__ import annotations

from nearcast.boolean.r_tree._lists import COUNTED_WORDS
from nearcast.boolean.r_tree.index import RTreeIndex
from nearcast.model import Space


class IRTree(RTreeIndex):
    """R-tree over the regions of entries, with an inverted file of all their words at each node.

    An IR-tree finds the documents for a query: a node's inverted file lists for each word the
    children that have it below, with a weight. Turned around, to find the subscriptions for a
    message, the weight of a word in a child is how many words the entries have in which it occurs:
    one, two, or more. A message visits a child whose box its place meets when it has one word of
    the child's that some entry there has alone, or two words of which some entry has one beside
    one other, or three. A leaf lists its entries under their two rarest words, and a message looks
    at those of which it has both.

    All words are listed on every level, so upper nodes prune little: what the R^t-trees improve.

    Matching costs O(words) for each node visited and O(1) for each entry of a leaf; inserting
    O(fanout + words) for each level, amortised; removing O(1).

    Parameters
    ----------
    space: what coordinates mean
    fanout: most children of a node, at most 31
    leaf_capacity: most entries of a leaf

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = IRTree()
    >>> index.insert(Subscription(7, "tea AND cake", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="Cake with tea", at=Point(1, 1)))
    [7]

    References
    ----------
    G. Cong, C. S. Jensen, D. Wu: Efficient Retrieval of the Top-k Most Relevant Spatial Web
    Objects. VLDB 2009; turned around as a rival of LFilter by M. Yu et al.: A Cost-based Method for
    Location-Aware Publish/Subscribe Services, CIKM 2015, section 6.
    """

    def __init__(
        self, *, space: Space = Space.EARTH, fanout: int = 31, leaf_capacity: int = 64
    ) -> None:
        super().__init__(space, fanout, leaf_capacity, COUNTED_WORDS)
