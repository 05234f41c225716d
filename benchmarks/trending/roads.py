"""Messages of the Earth, moved onto a road map.

The paper maps its tweets to a road network of the whole country; the maps that there are here are
of a city and a county, so the messages go there.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.topk.source import Source
from nearcast.batches import MessageBatch
from nearcast.datasets import DataAbsentError
from nearcast.datasets.roads import san_joaquin, synthetic_roads
from nearcast.model import Box, Space
from nearcast.space.road_network import RoadNetwork


@cache
def network() -> RoadNetwork:
    """San Joaquin County, or a synthetic city where that is not on this machine."""
    try:
        roads = san_joaquin()
    except DataAbsentError:
        roads = synthetic_roads()
    return RoadNetwork(roads.nodes, roads.roads, roads.length, space=Space.PLANE)


@dataclass(frozen=True)
class OnRoads(Source):
    """A source whose places, `bounds` on the `earth`, are stretched over the map."""

    earth: Box

    def rows(self, rows: NDArray[np.int64]) -> MessageBatch:
        batch = self.messages.take(rows)
        low, high = network().nodes.min(axis=0), network().nodes.max(axis=0)
        corner = np.array([self.earth.west, self.earth.south])
        opposite = np.array([self.earth.east, self.earth.north])
        share = np.clip((batch.middles() - corner) / (opposite - corner), 0.0, 1.0)
        at = np.tile(low + share * (high - low), 2)
        return replace(batch, at=at, is_box=np.zeros(len(batch), bool), space=Space.PLANE)


def on_roads(source: Source) -> OnRoads:
    """The same messages, on the map."""
    low, high = network().nodes.min(axis=0), network().nodes.max(axis=0)
    bounds = Box(*low.tolist(), *high.tolist(), space=Space.PLANE)
    name = f"{source.name} on roads"
    return OnRoads(name, source.messages, source.length, bounds, source.bounds)
