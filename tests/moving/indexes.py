"""Every index of the room, with settings under which a few subscriptions and messages are many."""

from functools import partial

from nearcast.moving import (
    APPlusK,
    APPlusS,
    APPlusTree,
    APPlusTreeSafe,
    IQPlus,
    KKIndex,
    RQPlus,
    ScanMoving,
    SSIndex,
    WordQuadtrees,
)

SMALL_TREE = {"leaf_capacity": 2, "fanout": 4}

INDEXES = {
    "ScanMoving": ScanMoving,
    "WordQuadtrees": WordQuadtrees,
    "APPlusTree": partial(APPlusTree, most_copies=3, tree=SMALL_TREE),
    "APPlusTreeSafe": partial(APPlusTreeSafe, tree=SMALL_TREE),
}
RIVALS = {kind.__name__: kind for kind in (APPlusK, APPlusS, IQPlus, RQPlus, SSIndex, KKIndex)}
