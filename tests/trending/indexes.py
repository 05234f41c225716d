"""Every index of the room but the oracle, with settings that make few subscriptions many."""

from functools import partial

from nearcast.model import NearbyTrendingSubscription
from nearcast.trending import ScanTrending, TermFields


class NearbyScan(ScanTrending):
    """The oracle as an index for nearness alone, so that the comparison itself is tested."""

    kinds = (NearbyTrendingSubscription,)


INDEXES = {
    "NearbyScan": partial(NearbyScan, a=1.0, max_error=0.0),
    "TermFields": partial(TermFields, a=1.0, max_error=0.0),
    "TermFieldsWithin": partial(TermFields, a=1.0, max_error=0.05),
}
