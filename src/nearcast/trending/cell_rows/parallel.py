"""`ParallelCellRows`: two cores, each with half of the regions."""

from typing import ClassVar
from zlib import crc32

from nearcast.model import TrendingSubscription
from nearcast.trending.cell_rows.index import CellRows
from nearcast.trending.halves import HALVES, Halves


class ParallelCellRows(Halves):
    """`CellRows` on two cores, with the same answers.

    Regions are divided by their ids: both halves have as many of those that a document concerns.

    >>> from nearcast.model import Box, Message, Point
    >>> index = ParallelCellRows(half_life=3600.0)
    >>> city = Box(2.2, 48.8, 2.5, 48.9)
    >>> index.subscribe_many([TrendingSubscription(id, city, k=1) for id in range(4)])
    >>> here = Point(2.35, 48.86)
    >>> len(index.publish(Message("m", text="Rain and more rain", at=here, time=0.0)))
    4
    """

    kinds: ClassVar[tuple[type, ...]] = CellRows.kinds
    half: ClassVar = CellRows

    @staticmethod
    def half_of(subscription: TrendingSubscription) -> int:
        return crc32(str(subscription.id).encode()) % HALVES
