"""The default index."""

from nearcast.boolean.rarest_word_tree.tree import RarestWordTree

__all__ = ["RarestWordTree"]
