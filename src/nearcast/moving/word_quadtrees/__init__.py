"""The default index of the room."""

from nearcast.moving.word_quadtrees.index import WordQuadtrees

__all__ = ["WordQuadtrees"]
