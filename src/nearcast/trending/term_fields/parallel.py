"""`ParallelTermFields`: two cores, each with the people of its places."""

from struct import pack
from typing import ClassVar
from zlib import crc32

from nearcast.model import NearbyTrendingSubscription
from nearcast.trending.halves import HALVES, Halves
from nearcast.trending.nearby import NearbyIndex
from nearcast.trending.term_fields.index import TermFields


class ParallelTermFields(Halves, NearbyIndex):
    """`TermFields` on two cores. Its promises are those of `TermFields`.

    To which half a subscription belongs depends on its place alone: those at the same place share a
    list.

    >>> from nearcast.model import Message, Point
    >>> index = ParallelTermFields(half_life=3600.0)
    >>> here = Point(2.35, 48.86)
    >>> index.subscribe_many([NearbyTrendingSubscription(id, here, k=1) for id in range(4)])
    >>> len(index.publish(Message("m", text="Rain and more rain", at=here, time=0.0)))
    4
    """

    half: ClassVar = TermFields

    @staticmethod
    def half_of(subscription: NearbyTrendingSubscription) -> int:
        at = subscription.at
        return crc32(pack("<2d", at.lon + 0.0, at.lat + 0.0)) % HALVES  # where -0.0 is 0.0
