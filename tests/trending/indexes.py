"""Every index of the room but the oracle, with settings that make few subscriptions many."""

from functools import cache, partial
from random import Random

from nearcast.model import NearbyTrendingSubscription, Space
from nearcast.space.road_network import RoadNetwork
from nearcast.trending import (
    DS,
    FTS,
    RST,
    SST,
    TP,
    TS,
    CellRows,
    NearbyBaseline,
    ParallelCellRows,
    ParallelTermFields,
    ScanTrending,
    TermFields,
)


class NearbyScan(ScanTrending):
    """The oracle as an index for nearness alone, so that the comparison itself is tested."""

    kinds = (NearbyTrendingSubscription,)


@cache
def _a_few_roads(space):
    """A crooked ring with a spoke, so that ways are longer than straight."""
    random = Random(4)
    corners = [(-40, -30), (0, -35), (40, -30), (45, 5), (40, 30), (0, 35), (-40, 30), (0.3, 0.4)]
    nodes = [(x + random.random(), y + random.random()) for x, y in corners]
    return RoadNetwork(nodes, [*((n, (n + 1) % 7) for n in range(7)), (1, 7)], space=space)


def on_roads(index, space=Space.EARTH, **settings):
    """An index of distances along roads."""
    return index(space=space, roads=_a_few_roads(space), **settings)


INDEXES = {
    "NearbyScan": partial(NearbyScan, a=1.0, max_error=0.0),
    "CellRows": CellRows,
    "ParallelCellRows": ParallelCellRows,
    "TP": TP,
    "DS": partial(DS, cells_larger=3),
    "RST": partial(RST, compactness=0.1),
    "NearbyBaseline": partial(NearbyBaseline, a=1.0, max_error=0.0),
    "TS": partial(TS, a=1.0, max_error=0.0),
    "FTS": partial(FTS, a=1.0, max_error=0.0),
    "SST": partial(SST, a=1.0, max_error=0.0),
    "SSTWithin": partial(SST, a=1.0, max_error=0.05, cell_capacity=2),
    "SSTOnRoads": partial(on_roads, SST, a=1.0, max_error=0.01, cell_capacity=2),
    "TermFields": partial(TermFields, a=1.0, max_error=0.0),
    "ParallelTermFields": partial(ParallelTermFields, a=1.0, max_error=0.0),
    "TermFieldsWithin": partial(TermFields, a=1.0, max_error=0.05),
}
