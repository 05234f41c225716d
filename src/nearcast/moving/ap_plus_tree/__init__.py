"""The AP+-Tree of the VLDB Journal, without and with safe regions."""

from nearcast.moving.ap_plus_tree.index import APPlusTree
from nearcast.moving.ap_plus_tree.safe import APPlusTreeSafe, Communication

__all__ = ["APPlusTree", "APPlusTreeSafe", "Communication"]
