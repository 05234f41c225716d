"""Who takes part: every index, and the variants of it that the figures compare."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nearcast.boolean as room
from nearcast.batches import MessageBatch
from nearcast.boolean import (
    BooleanIndex,
    HeuristicPartition,
    KeywordFirst,
    OptimalPartition,
    SpatialFirst,
)
from nearcast.text.order import Idf, Random, Tf

Make = Callable[[MessageBatch], BooleanIndex]


@dataclass(frozen=True)
class Contender:
    """An index with its parameters.

    `most_pairs`: an index that looks at every subscription gets at most so many pairs of a message
    and a subscription to look at.
    """

    index: str  # the class name
    series: str  # the name in a figure
    make: Make  # from the history of messages
    most_pairs: int | None = None


def _with_history(name: str, series: str, **parameters: Any) -> Contender:
    def make(history: MessageBatch) -> BooleanIndex:
        index: BooleanIndex = getattr(room, name)(
            space=history.space, history=history, **parameters
        )
        return index

    return Contender(name, series, make)


def _plain(name: str, series: str, most_pairs: int | None = None, **parameters: Any) -> Contender:
    def make(history: MessageBatch) -> BooleanIndex:
        index: BooleanIndex = getattr(room, name)(space=history.space, **parameters)
        return index

    return Contender(name, series, make, most_pairs)


def ap_tree(series: str = "AP-Tree", **parameters: Any) -> Contender:
    """An AP-Tree with other parameters than the defaults."""
    return _with_history("APTree", series, **parameters)


AP_TREE_NR = ap_tree("AP-Tree-NR", drift_threshold=None)
TRIE_QUADTREE = _with_history("TrieQuadtree", "Trie-Qd")

_KNOWN = (_plain("ScanIndex", "Scan", most_pairs=4_000_000), ap_tree(), TRIE_QUADTREE)

# The classes of the room, by name. One that is not written yet is left out until it is.
ROOM = {known.index: known for known in _KNOWN if hasattr(room, known.index)}

# The papers' competitors that exist here; the names are those of the classes.
RIVALS = tuple(ROOM[name] for name in ("APTree", "IQTree", "RQTree", "RtTree") if name in ROOM)

ORDERS = (
    ap_tree("Tf", order=Tf()),
    ap_tree("Idf", order=Idf()),
    ap_tree("Random", order=Random(seed=0)),
)

VARIANTS = (
    ap_tree("DP", keyword_partition=OptimalPartition()),
    ap_tree("HR", keyword_partition=HeuristicPartition()),
    ap_tree("KFirst", priority=KeywordFirst()),
    ap_tree("SFirst", priority=SpatialFirst()),
    *(ROOM[name] for name in ("TrieQuadtree",) if name in ROOM),
)
