"""How the children of a trie node that a message has words for are found (section 3.3)."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from nearcast.boolean.mbr_trie import _walk


class Probing(ABC):
    """Who is looked up in whom: children among the message's words, or words among the children."""

    code: ClassVar[int]


@dataclass(frozen=True, slots=True)
class ProbeTokenSet(Probing):
    """Each child is looked up among the message's words."""

    code = _walk.PROBE_TOKEN_SET


@dataclass(frozen=True, slots=True)
class ProbeTrie(Probing):
    """Each of the message's words is looked up among the children."""

    code = _walk.PROBE_TRIE


@dataclass(frozen=True, slots=True)
class CostBasedProbe(Probing):
    """Whichever needs fewer steps, node by node (SELECTPAIR)."""

    code = _walk.COST_BASED


PROBINGS: dict[int, Probing] = {
    probing.code: probing for probing in (ProbeTokenSet(), ProbeTrie(), CostBasedProbe())
}
