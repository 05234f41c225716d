"""Who takes part: the default, Skype, and every other way to put its pieces together."""

from dataclasses import dataclass, field
from typing import Any

import nearcast.topk as room
from benchmarks.topk.workload import Workload
from nearcast.topk import TopKIndex

# By the name of the class: as the paper calls it, the piece for dissemination first.
_NAMES = {
    "WordLists": "WordLists",
    "ParallelLists": "WordLists, two threads",
    "Skype": "Skype (IGPT-cSkyband)",
    "IGPTSkyband": "IGPT-Skyband",
    "IGPTKmax": "IGPT-Kmax",
    "IPTSkype": "IPT-cSkyband",
    "IPTSkyband": "IPT-Skyband",
    "IPTKmax": "IPT-Kmax",
    "CIQSkype": "CIQ-cSkyband",
    "CIQSkyband": "CIQ-Skyband",
    "CIQKmax": "CIQ-Kmax",
}


@dataclass(frozen=True)
class Contender:
    """A class with its parameters."""

    index: str
    series: str
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)

    def make(self, workload: Workload) -> TopKIndex:
        """An empty index for a workload."""
        made: TopKIndex = getattr(room, self.index)(
            workload.window,
            space=workload.source.space,
            max_dist=workload.max_dist,
            statistics=workload.statistics,
            **self.parameters,
        )
        return made


ROOM = {index: Contender(index, series) for index, series in _NAMES.items()}


def named(*indexes: str) -> tuple[Contender, ...]:
    """Contenders without parameters."""
    return tuple(ROOM[index] for index in indexes)
