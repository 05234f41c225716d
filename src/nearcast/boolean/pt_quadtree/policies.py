"""Where in a quadtree an entry is kept (section 4.1)."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar


class Placement(ABC):
    """Which cells hold an entry."""

    is_smallest_cell: ClassVar[bool]


@dataclass(frozen=True, slots=True)
class CopyToLeaves(Placement):
    """Every leaf that the region touches: a point message then looks at one list."""

    is_smallest_cell = False


@dataclass(frozen=True, slots=True)
class SmallestCell(Placement):
    """The smallest cell that contains the region, once (MX-CIF): inner cells have lists as well."""

    is_smallest_cell = True
