"""LFilter of Yu, Li and Feng (CIKM 2015): an MBRTrie and a PT-Quadtree over the same entries."""

from nearcast.boolean.lfilter.index import LFilter

__all__ = ["LFilter"]
