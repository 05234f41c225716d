"""`WordLists` and its kernels."""

from nearcast.topk.word_lists.index import WordLists

__all__ = ["WordLists"]
