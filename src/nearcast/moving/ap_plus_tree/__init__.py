"""The AP+-Tree of VLDB Journal 2017."""

from nearcast.moving.ap_plus_tree.index import APPlusTree

__all__ = ["APPlusTree"]
