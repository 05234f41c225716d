"""The PT-Quadtree of Yu, Li and Feng (CIKM 2015), in flat arrays; `_layout` draws them."""

from nearcast.boolean.pt_quadtree.policies import CopyToLeaves, Placement, SmallestCell
from nearcast.boolean.pt_quadtree.quadtree import PTQuadtree

__all__ = ["CopyToLeaves", "PTQuadtree", "Placement", "SmallestCell"]
