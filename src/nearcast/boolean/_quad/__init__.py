"""What IQ-Tree and RQ-Tree share: cells of a quadtree, lists by the rarest word, a cost model."""

from nearcast.boolean._quad.index import QuadIndex

__all__ = ["QuadIndex"]
