"""People who travel on roads: the moving subscribers of the AP+-Tree paper's experiments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.datasets._road_kernels import road_use, routes, travel
from nearcast.datasets.roads import RoadMap

STEP_SECONDS = 30.0
"""A timestamp of the paper."""
CROSSING_STEPS = 100.0
"""At medium velocity the fastest cross the map, on a main road, in so many timestamps."""
ROAD_SPEEDS = (1.0, 0.6, 0.35)
"""On main roads, on others, in side streets: shares of the fastest."""
ROAD_SHARES = (0.1, 0.4)
"""The roads that most routes use are main roads; the next are the others."""
TRAVELLER_SPEEDS = (1.0, 0.7, 0.4)
"""The classes of travellers, equally many of each."""
_DESTINATIONS = 128
_SAMPLES = 20_000


class Travellers:
    """So many people, each on the quickest route to a place, and from there to another.

    In the manner of Brinkhoff's generator of network-based moving objects (GeoInformatica 2002):
    roads and travellers have classes of speed, a route is the quickest one, and a new one begins
    where the last has ended. Everything depends on the seed alone.

    Parameters
    ----------
    roads: the map
    count: how many people
    velocity: how fast, as a multiple of the medium velocity
    seed: another seed is other people

    >>> from nearcast.datasets import synthetic_roads
    >>> people = Travellers(synthetic_roads(side=8), 10)
    >>> before = people.places()
    >>> people.travel(np.arange(5))
    >>> bool((people.places()[5:] == before[5:]).all())
    True
    """

    def __init__(self, roads: RoadMap, count: int, *, velocity: float = 1.0, seed: int = 0) -> None:
        if count < 0:
            raise ValueError(f"count {count} is negative; give 0 or more people")
        if not 0 < velocity < float("inf"):
            raise ValueError(f"velocity {velocity} is not positive; 1 is medium")
        self.roads = roads
        self._seed = seed
        draw = np.random.Generator(np.random.PCG64(seed))
        self._lay_roads(roads, velocity, draw)
        self._factor = np.array(TRAVELLER_SPEEDS)[draw.integers(0, 3, count)]
        self._at = draw.integers(0, len(roads.nodes), count).astype(np.int32)
        self._road = np.full(count, -1, np.int32)
        self._gone = np.zeros(count)
        self._bound = draw.integers(0, len(self._next_road), count).astype(np.int32)
        self._trips = np.zeros(count, np.int32)
        # So that at the beginning people are on their way already.
        for _ in range(3):
            self.travel(np.arange(count))

    def __len__(self) -> int:
        return len(self._at)

    def travel(self, rows: NDArray[np.int64], seconds: float = STEP_SECONDS) -> None:
        """Some of them go on for a while, along their routes."""
        travel(
            self._to, self._length, self._speed, self._next_road, np.asarray(rows, np.int64),
            self._factor, float(seconds), self._seed,
            self._at, self._road, self._gone, self._bound, self._trips,
        )  # fmt: skip

    def places(self) -> NDArray[np.float64]:
        """Where everybody is: float64[n, 2]."""
        nodes = self.roads.nodes
        places = nodes[self._at].copy()
        under_way = np.flatnonzero(self._road >= 0)
        road = self._road[under_way]
        share = (self._gone[under_way] / self._length[road])[:, None]
        places[under_way] += share * (nodes[self._to[road]] - places[under_way])
        return places

    def _lay_roads(self, roads: RoadMap, velocity: float, draw: np.random.Generator) -> None:
        """Both directions of each road, classes of speed, and quickest routes."""
        number = len(roads.roads)
        begin = np.concatenate([roads.roads[:, 0], roads.roads[:, 1]])
        end = np.concatenate([roads.roads[:, 1], roads.roads[:, 0]])
        order = np.argsort(begin, kind="stable")
        place = np.empty(2 * number, np.int64)
        place[order] = np.arange(2 * number)
        back = place[(order + number) % (2 * number)]
        start = np.searchsorted(begin[order], np.arange(len(roads.nodes) + 1))
        self._to = end[order].astype(np.int32)
        self._length = np.concatenate([roads.length, roads.length])[order]
        most = min(_DESTINATIONS, len(roads.nodes))
        destinations = draw.choice(len(roads.nodes), most, replace=False)
        shortest = routes(start, self._to, back, self._length, destinations)
        use = road_use(shortest, self._to, _SAMPLES, self._seed)
        use = use + use[back]
        ranking = np.empty(2 * number, np.int64)
        ranking[np.argsort(-use, kind="stable")] = np.arange(2 * number)
        ranking = np.minimum(ranking, ranking[back])
        kind = np.searchsorted(np.cumsum(ROAD_SHARES), ranking / (2 * number), side="right")
        fastest = velocity * roads.width / (CROSSING_STEPS * STEP_SECONDS)
        self._speed = fastest * np.array(ROAD_SPEEDS)[kind]
        self._next_road = routes(start, self._to, back, self._length / self._speed, destinations)
