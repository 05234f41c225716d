"""The IR-tree: an R-tree whose nodes have inverted files."""

from nearcast.boolean.ir_tree.tree import IRTree

__all__ = ["IRTree"]
