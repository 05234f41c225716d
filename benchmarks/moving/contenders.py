"""Who takes part: the default, the AP+-Tree, and its rivals."""

from dataclasses import dataclass

import nearcast.moving as room
from nearcast.model import Space
from nearcast.moving import MovingIndex

# By the name of the class: as the paper calls it.
_NAMES = {
    "WordQuadtrees": "WordQuadtrees",
    "APPlusTree": "AP+-Tree",
    "APPlusTreeSafe": "AP+-Tree-Safe",
    "APPlusK": "AP+k-Tree",
    "APPlusS": "AP+s-Tree",
    "IQPlus": "IQ+-Tree",
    "RQPlus": "RQ+-Tree",
    "SSIndex": "SS-Index",
    "KKIndex": "KK-Index",
}


@dataclass(frozen=True)
class Contender:
    """A class."""

    index: str
    series: str

    def make(self) -> MovingIndex:
        """An empty index."""
        made: MovingIndex = getattr(room, self.index)(space=Space.PLANE)
        return made


ROOM = {index: Contender(index, series) for index, series in _NAMES.items()}


def named(*indexes: str) -> tuple[Contender, ...]:
    return tuple(ROOM[index] for index in indexes)
