"""The R^t-trees: R-trees whose nodes have token filters."""

from nearcast.boolean.rt_tree.tokens import AllTokens, OneToken, SeveralTokens, TokenFilter
from nearcast.boolean.rt_tree.tree import RtTree

__all__ = ["AllTokens", "OneToken", "RtTree", "SeveralTokens", "TokenFilter"]
