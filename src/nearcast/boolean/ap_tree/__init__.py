"""The AP-Tree of Wang et al. (ICDE 2015), in flat arrays; `_layout` draws them."""

from nearcast.boolean.ap_tree.policies import (
    Adaptive,
    HeuristicPartition,
    ImprovedGrid,
    KeywordFirst,
    OptimalPartition,
    Quarters,
    SingleKeywords,
    SpatialFirst,
)
from nearcast.boolean.ap_tree.tree import APTree

__all__ = [
    "APTree",
    "Adaptive",
    "HeuristicPartition",
    "ImprovedGrid",
    "KeywordFirst",
    "OptimalPartition",
    "Quarters",
    "SingleKeywords",
    "SpatialFirst",
]
