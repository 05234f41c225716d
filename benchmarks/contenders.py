"""Who takes part: every index, and the variants of it that the figures compare."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
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
    """An index with its parameters."""

    index: str  # the class name
    series: str  # the name in a figure
    make: Make  # from the history of messages
    learns: bool = False  # from the history: another one makes another index


def _contender(name: str, series: str, **parameters: Any) -> Contender:
    """The class of this name; a history it can learn from, it gets."""
    learns = hasattr(room, name) and "history" in signature(getattr(room, name)).parameters

    def make(history: MessageBatch) -> BooleanIndex:
        learnt = {"history": history} if learns else {}
        index: BooleanIndex = getattr(room, name)(space=history.space, **learnt, **parameters)
        return index

    return Contender(name, series, make, learns)


def ap_tree(series: str = "AP-Tree", **parameters: Any) -> Contender:
    """An AP-Tree with other parameters than the defaults."""
    return _contender("APTree", series, **parameters)


def _named(*names: str) -> tuple[Contender, ...]:
    """Classes of the room that exist."""
    return tuple(ROOM[name] for name in names if name in ROOM)


AP_TREE_NR = ap_tree("AP-Tree-NR", drift_threshold=None)

_KNOWN = (
    _contender("RarestWordTree", "RarestWordTree"),
    ap_tree(),
    _contender("TrieQuadtree", "Trie-Qd"),
    _contender("IQTree", "IQ-Tree"),
    _contender("RQTree", "RQ-Tree"),
    _contender("RtTree", "Rt-Tree"),
    _contender("IRTree", "IR-Tree"),
    _contender("MBRTrie", "MBRTrie"),
    _contender("PTQuadtree", "PT-Quadtree"),
    _contender("LFilter", "LFilter"),
    _contender("ScanIndex", "Scan"),
)

# The classes of the room, by name. One that is not written yet is left out until it is.
ROOM = {known.index: known for known in _KNOWN if hasattr(room, known.index)}

# The index somebody gets who does not choose: every figure that compares indexes shows it too.
DEFAULT = next(name for name in ("RarestWordTree", "APTree") if name in ROOM)

# The names are those of the classes.
RIVALS = _named("RarestWordTree", "APTree", "IQTree", "RQTree", "RtTree")
LFILTER_PARTS = _named("RarestWordTree", "MBRTrie", "PTQuadtree", "LFilter")
LFILTER_RIVALS = _named("RarestWordTree", "LFilter", "RtTree", "IRTree")
LFILTER = _named("LFilter")

PROBINGS = tuple(
    _contender("MBRTrie", name, probing=getattr(room, name)())
    for name in ("ProbeTokenSet", "ProbeTrie", "CostBasedProbe")
    if hasattr(room, name)
)

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
    *_named("TrieQuadtree"),
)
