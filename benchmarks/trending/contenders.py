"""Who takes part: the default for regions, the index of the paper, and its rivals."""

from dataclasses import dataclass, field
from typing import Any

import nearcast.trending as room
from benchmarks.trending.workload import Workload
from nearcast.trending import TrendingIndex

# By the name of the class: as the paper calls it.
_NAMES = {"CellRows": "CellRows", "RST": "RST (TPG)", "TP": "TP", "DS": "DS"}


@dataclass(frozen=True)
class Contender:
    """A class with its parameters."""

    index: str
    series: str
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)

    def make(self, workload: Workload) -> TrendingIndex:
        """An empty index for a workload."""
        made: TrendingIndex = getattr(room, self.index)(
            half_life=workload.half_life,
            space=workload.source.space,
            lateness=workload.lateness,
            **self.parameters,
        )
        return made


ROOM = {index: Contender(index, series) for index, series in _NAMES.items()}


def named(*indexes: str) -> tuple[Contender, ...]:
    """Contenders without parameters."""
    return tuple(ROOM[index] for index in indexes)
