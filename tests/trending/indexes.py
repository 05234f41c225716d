"""Every index of the room but the oracle, with settings that make few subscriptions many."""

from functools import partial

from nearcast.model import NearbyTrendingSubscription
from nearcast.trending import (
    DS,
    FTS,
    RST,
    SST,
    TP,
    TS,
    CellRows,
    NearbyBaseline,
    ParallelTermFields,
    ScanTrending,
    TermFields,
)


class NearbyScan(ScanTrending):
    """The oracle as an index for nearness alone, so that the comparison itself is tested."""

    kinds = (NearbyTrendingSubscription,)


INDEXES = {
    "NearbyScan": partial(NearbyScan, a=1.0, max_error=0.0),
    "CellRows": CellRows,
    "TP": TP,
    "DS": DS,
    "RST": partial(RST, compactness=0.1),
    "NearbyBaseline": partial(NearbyBaseline, a=1.0, max_error=0.0),
    "TS": partial(TS, a=1.0, max_error=0.0),
    "FTS": partial(FTS, a=1.0, max_error=0.0),
    "SST": partial(SST, a=1.0, max_error=0.0),
    "SSTWithin": partial(SST, a=1.0, max_error=0.05),
    "TermFields": partial(TermFields, a=1.0, max_error=0.0),
    "ParallelTermFields": partial(ParallelTermFields, a=1.0, max_error=0.0),
    "TermFieldsWithin": partial(TermFields, a=1.0, max_error=0.05),
}
