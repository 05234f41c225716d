"""The RQ-tree of Wang et al. (ICDE 2015): inverted lists first, a quadtree in each long one."""

from nearcast.boolean.rq_tree.tree import RQTree

__all__ = ["RQTree"]
