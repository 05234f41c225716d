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
from nearcast.boolean.iq_tree import IQTree
from nearcast.boolean.ir_tree import IRTree
from nearcast.boolean.lfilter import LFilter
from nearcast.boolean.mbr_trie import CostBasedProbe, MBRTrie, ProbeTokenSet, ProbeTrie
from nearcast.boolean.pt_quadtree import CopyToLeaves, PTQuadtree, SmallestCell
from nearcast.boolean.rarest_word_tree import RarestWordTree
from nearcast.boolean.recommend import Recommendation, recommend
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
