"""How an AP-Tree is built: which keyword partition, which spatial one, and which comes first."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from nearcast.boolean.ap_tree import _plan


class KeywordPartition(ABC):
    """How the keywords of a node are divided into cuts."""

    code: ClassVar[int]


@dataclass(frozen=True, slots=True)
class HeuristicPartition(KeywordPartition):
    """Cuts of even weight, each border then moved to its best place (HR, Algorithm 3)."""

    code = _plan.HEURISTIC


@dataclass(frozen=True, slots=True)
class OptimalPartition(KeywordPartition):
    """The cheapest cuts by Eq. 1, by dynamic programming (DP, Algorithm 2).

    Needs 4 bytes for each keyword of the node and cut: for studies rather than for millions.
    """

    code = _plan.OPTIMAL


@dataclass(frozen=True, slots=True)
class SingleKeywords(KeywordPartition):
    """Every keyword its own cut, however many: an ordered keyword trie."""

    code = _plan.SINGLE_KEYWORDS


class SpatialPartition(ABC):
    """How the region of a node is divided into cells."""

    code: ClassVar[int]


@dataclass(frozen=True, slots=True)
class ImprovedGrid(SpatialPartition):
    """Lines even by entries, each then moved to its best place (ICDE 2015, section IV-C)."""

    code = _plan.GRID


@dataclass(frozen=True, slots=True)
class Quarters(SpatialPartition):
    """Four equal cells: a quadtree."""

    code = _plan.QUADTREE


class Priority(ABC):
    """Which partition a node takes when both would help."""

    code: ClassVar[int]


@dataclass(frozen=True, slots=True)
class Adaptive(Priority):
    """The one that costs less (the AP-Tree proper)."""

    code = _plan.ADAPTIVE


@dataclass(frozen=True, slots=True)
class KeywordFirst(Priority):
    """Keywords as long as they divide, space after them (KFirst)."""

    code = _plan.KEYWORD_FIRST


@dataclass(frozen=True, slots=True)
class SpatialFirst(Priority):
    """Space as long as it divides, keywords after it (SFirst)."""

    code = _plan.SPATIAL_FIRST
