"""Who takes part: the default of each kind, the index of the paper, and its rivals."""

from dataclasses import dataclass, field
from typing import Any

import nearcast.trending as room
from benchmarks.trending.roads import network
from benchmarks.trending.workload import Workload
from nearcast.trending import TrendingIndex

# By the name of the class: as the paper calls it.
_REGIONS = {
    "CellRows": "CellRows",
    "ParallelCellRows": "ParallelCellRows",
    "RST": "RST (TPG)",
    "TP": "TP",
    "DS": "DS",
}
_NEARBY = {
    "TermFields": "TermFields",
    "ParallelTermFields": "ParallelTermFields",
    "SST": "SST (HSFTS)",
    "FTS": "FTS",
    "TS": "TS",
    "NearbyBaseline": "Baseline",
}
_SLOW = {"RST", "TP", "DS", "SST", "FTS", "TS", "NearbyBaseline"}


@dataclass(frozen=True)
class Contender:
    """A class with its parameters."""

    index: str
    series: str
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_nearby(self) -> bool:
        """Does it have lists for places, not for regions?"""
        return self.index in _NEARBY

    @property
    def is_slow(self) -> bool:
        """Must it be measured with fewer subscriptions than the quick ones can have?"""
        return self.index in _SLOW

    def make(self, workload: Workload) -> TrendingIndex:
        """An empty index for a workload."""
        nearness: dict[str, Any] = {"a": workload.settings.a} if self.is_nearby else {}
        if workload.settings.follows_roads:
            nearness["roads"] = network()
        made: TrendingIndex = getattr(room, self.index)(
            half_life=workload.half_life,
            space=workload.source.space,
            lateness=workload.lateness,
            **nearness,
            **self.parameters,
        )
        return made


ROOM = {index: Contender(index, series) for index, series in {**_REGIONS, **_NEARBY}.items()}


def named(*indexes: str) -> tuple[Contender, ...]:
    """Contenders without parameters."""
    return tuple(ROOM[index] for index in indexes)
