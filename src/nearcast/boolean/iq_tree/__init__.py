"""The IQ-tree of Chen, Cong and Cao (SIGMOD 2013): a quadtree with an inverted list per cell."""

from nearcast.boolean.iq_tree.tree import IQTree

__all__ = ["IQTree"]
