"""How an AP-Tree is built: which keyword partition, which spatial one, and which comes first."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from nearcast.boolean.ap_tree import _build


class KeywordPartition(ABC):
    """How the keywords of a node are divided into cuts."""

    code: ClassVar[int]


@dataclass(frozen=True, slots=True)
class HeuristicPartition(KeywordPartition):
    """Cuts of even weight, each border then moved to its best place (HR, Algorithm 3)."""

    code = _build.HEURISTIC


@dataclass(frozen=True, slots=True)
class OptimalPartition(KeywordPartition):
    """The cheapest cuts there are, by dynamic programming (DP, Algorithm 2)."""

    code = _build.OPTIMAL


@dataclass(frozen=True, slots=True)
class SingleKeywords(KeywordPartition):
    """Every keyword its own cut, however many: an ordered keyword trie."""

    code = _build.SINGLE_KEYWORDS


class SpatialPartition(ABC):
    """How the region of a node is divided into cells."""

    code: ClassVar[int]


@dataclass(frozen=True, slots=True)
class ImprovedGrid(SpatialPartition):
    """Lines even by entries, each then moved to its best place (002, section IV-C)."""

    code = _build.GRID


@dataclass(frozen=True, slots=True)
class Quarters(SpatialPartition):
    """Four equal cells: a quadtree."""

    code = _build.QUADTREE


class Priority(ABC):
    """Which partition a node takes when both would help."""

    code: ClassVar[int]


@dataclass(frozen=True, slots=True)
class Adaptive(Priority):
    """The one that costs less (the AP-Tree proper)."""

    code = _build.ADAPTIVE


@dataclass(frozen=True, slots=True)
class KeywordFirst(Priority):
    """Keywords as long as they divide, space after them (KFirst)."""

    code = _build.KEYWORD_FIRST


@dataclass(frozen=True, slots=True)
class SpatialFirst(Priority):
    """Space as long as it divides, keywords after it (SFirst)."""

    code = _build.SPATIAL_FIRST
