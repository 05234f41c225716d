"""Which subscriptions want this message?

A class is loaded when it is first used: most programs need one of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearcast.boolean.ap_tree import (
        Adaptive,
        APTree,
        HeuristicPartition,
        ImprovedGrid,
        KeywordFirst,
        OptimalPartition,
        Quarters,
        SingleKeywords,
        SpatialFirst,
    )
    from nearcast.boolean.index import BooleanIndex, IndexStats
    from nearcast.boolean.iq_tree import IQTree
    from nearcast.boolean.ir_tree import IRTree
    from nearcast.boolean.lfilter import LFilter
    from nearcast.boolean.mbr_trie import CostBasedProbe, MBRTrie, ProbeTokenSet, ProbeTrie
    from nearcast.boolean.pt_quadtree import CopyToLeaves, PTQuadtree, SmallestCell
    from nearcast.boolean.rarest_word_tree import RarestWordTree
    from nearcast.boolean.recommendation import Recommendation, recommend
    from nearcast.boolean.rq_tree import RQTree
    from nearcast.boolean.rt_tree import AllTokens, OneToken, RtTree, SeveralTokens
    from nearcast.boolean.scan import ScanIndex
    from nearcast.boolean.trie_quadtree import TrieQuadtree

__all__ = [
    "APTree",
    "Adaptive",
    "AllTokens",
    "BooleanIndex",
    "CopyToLeaves",
    "CostBasedProbe",
    "HeuristicPartition",
    "IQTree",
    "IRTree",
    "ImprovedGrid",
    "IndexStats",
    "KeywordFirst",
    "LFilter",
    "MBRTrie",
    "OneToken",
    "OptimalPartition",
    "PTQuadtree",
    "ProbeTokenSet",
    "ProbeTrie",
    "Quarters",
    "RQTree",
    "RarestWordTree",
    "Recommendation",
    "RtTree",
    "ScanIndex",
    "SeveralTokens",
    "SingleKeywords",
    "SmallestCell",
    "SpatialFirst",
    "TrieQuadtree",
    "recommend",
]

_MODULES = {
    "ap_tree": (
        "APTree",
        "Adaptive",
        "HeuristicPartition",
        "ImprovedGrid",
        "KeywordFirst",
        "OptimalPartition",
        "Quarters",
        "SingleKeywords",
        "SpatialFirst",
    ),
    "index": (
        "BooleanIndex",
        "IndexStats",
    ),
    "iq_tree": ("IQTree",),
    "ir_tree": ("IRTree",),
    "lfilter": ("LFilter",),
    "mbr_trie": (
        "CostBasedProbe",
        "MBRTrie",
        "ProbeTokenSet",
        "ProbeTrie",
    ),
    "pt_quadtree": (
        "CopyToLeaves",
        "PTQuadtree",
        "SmallestCell",
    ),
    "rarest_word_tree": ("RarestWordTree",),
    "recommendation": (
        "Recommendation",
        "recommend",
    ),
    "rq_tree": ("RQTree",),
    "rt_tree": (
        "AllTokens",
        "OneToken",
        "RtTree",
        "SeveralTokens",
    ),
    "scan": ("ScanIndex",),
    "trie_quadtree": ("TrieQuadtree",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'nearcast.boolean' has no attribute {name!r}")
    value = getattr(import_module(f"nearcast.boolean.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
