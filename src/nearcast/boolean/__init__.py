"""Which subscriptions want this message?"""

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
from nearcast.boolean.scan import ScanIndex
from nearcast.boolean.trie_quadtree import TrieQuadtree

__all__ = [
    "APTree",
    "Adaptive",
    "BooleanIndex",
    "HeuristicPartition",
    "ImprovedGrid",
    "IndexStats",
    "KeywordFirst",
    "OptimalPartition",
    "Quarters",
    "ScanIndex",
    "SingleKeywords",
    "SpatialFirst",
    "TrieQuadtree",
]
