"""How far is it along roads?"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearcast.model.shapes import Point, Space
from nearcast.space._road_kernels import hub_labels, nearest_nodes, times_between
from nearcast.space.distances import EARTH_RADIUS, distance

_SOURCES = 32  # of shortest ways that say who is a good hub
_SHORTER = 1.0 - 1e-9  # than the straight way by no more than rounding


class Labels(NamedTuple):
    """Hub labels; the arrays are drawn in `_road_kernels`."""

    first: NDArray[np.int64]
    hub: NDArray[np.int32]
    far: NDArray[np.float64]


class RoadNetwork:
    """Junctions, and roads between them that lead both ways.

    - `nodes`: float64[n, 2], lon and lat, or x and y, of junctions
    - `roads`: int[m, 2], the two ends of each road
    - `length`: float64[m], straight ones unless given; none may be shorter than straight
    - `labels`: those of the same network, if there are some

    A place that is no junction is joined to the nearest one, as the crow flies: the distance of two
    places is what both are off their junctions, and the shortest way between these. It is never
    shorter than the straight one. Every junction must be reached from every other.

    No table of all pairs is kept, but for each junction how far some *hubs* are, so chosen that a
    shortest way between any two passes a hub that both have (pruned landmark labelling: Akiba,
    Iwata, Yoshida, SIGMOD 2013). Hubs are best where many shortest ways pass.

    >>> square = RoadNetwork([(0, 0), (0, 3), (4, 3)], [(0, 1), (1, 2)], space=Space.PLANE)
    >>> square.distance(Point(0, 0, space=Space.PLANE), Point(5, 3, space=Space.PLANE))
    8.0
    """

    def __init__(
        self,
        nodes: ArrayLike,
        roads: ArrayLike,
        length: ArrayLike | None = None,
        *,
        space: Space = Space.EARTH,
        labels: Labels | None = None,
    ) -> None:
        self.space = space
        self.nodes = np.asarray(nodes, np.float64).reshape(-1, 2)
        self.roads = np.asarray(roads, np.int32).reshape(-1, 2)
        self._check_ends()
        straight = self._straight()
        self.length = straight if length is None else np.asarray(length, np.float64)
        self._check_length(straight)
        ends = np.concatenate([self.roads, self.roads[:, ::-1]])
        order = np.argsort(ends[:, 0], kind="stable")
        self._start = np.searchsorted(ends[order, 0], np.arange(len(self.nodes) + 1))
        self._to = np.ascontiguousarray(ends[order, 1])
        self._length = np.tile(self.length, 2)[order]
        self.labels = self._label() if labels is None else labels
        spots = self.spots(self.nodes)
        by_first = np.argsort(spots[:, 0], kind="stable")
        self._spots, self._number = spots[by_first], by_first.astype(np.int32)

    def distance(self, a: Point, b: Point) -> float:
        """The reference; see `ways_from`."""
        (one, off), (other, off_other) = self._joined(a), self._joined(b)
        return off + float(self.ways_from(one)[other]) + off_other

    def ways_from(self, node: int) -> NDArray[np.float64]:
        """How far all junctions are from one: float64[n].

        By Dijkstra's algorithm in plain Python, the reference for the labels.  O(roads log roads).
        """
        best, heap = np.full(len(self.nodes), inf), [(0.0, node)]
        best[node] = 0.0
        while heap:
            so_far, here = heappop(heap)
            if so_far > best[here]:
                continue
            for road in range(self._start[here], self._start[here + 1]):
                there, total = int(self._to[road]), so_far + float(self._length[road])
                if total < best[there]:
                    best[there] = total
                    heappush(heap, (total, there))
        return best

    def nearest(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each place (lon, lat) its junction and how far that is: float64[n, 2]."""
        at = np.asarray(at, np.float64).reshape(-1, 2)
        node = nearest_nodes(self._spots, self._number, self.spots(at))
        off = [
            distance(self._point(*here), self._point(*there))
            for here, there in zip(at.tolist(), self.nodes[node].tolist(), strict=True)
        ]
        return np.stack([node.astype(np.float64), np.array(off, np.float64)], axis=1)

    def spots(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Places in space, in the unit of distance: float64[n, 3]."""
        lon, lat = at.T
        if self.space is Space.PLANE:
            return np.stack([lon, lat, np.zeros(len(at))], axis=1)
        lon, lat = np.radians(lon), np.radians(lat)
        level = EARTH_RADIUS * np.cos(lat)
        return np.stack(
            [level * np.cos(lon), level * np.sin(lon), EARTH_RADIUS * np.sin(lat)], axis=1
        )

    @property
    def longest(self) -> float:
        """No way between two junctions is longer: all can be by way of the first hub."""
        return 2.0 * float(self.labels.far[self.labels.hub == 0].max())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `from_arrays` takes."""
        return {"nodes": self.nodes, "roads": self.roads, "length": self.length}

    @classmethod
    def from_arrays(
        cls, arrays: dict[str, NDArray[Any]], space: Space, labels: Labels | None = None
    ) -> RoadNetwork:
        """The network with these arrays, and its labels, which are made again unless given."""
        return cls(arrays["nodes"], arrays["roads"], arrays["length"], space=space, labels=labels)

    def _joined(self, place: Point) -> tuple[int, float]:
        """The nearest junction, of several the first, and how far it is."""
        apart = self.spots(self.nodes) - self.spots(np.array([[place.lon, place.lat]]))
        node = int(np.argmin((apart * apart).sum(axis=1)))
        return node, distance(place, self._point(*self.nodes[node].tolist()))

    def _point(self, lon: float, lat: float) -> Point:
        return Point(lon, lat, space=self.space)

    def _check_ends(self) -> None:
        if len(self.nodes) == 0:
            raise ValueError("a road network without junctions has no distances; give one at least")
        wrong = np.flatnonzero((self.roads < 0) | (self.roads >= len(self.nodes)))
        if len(wrong):
            row = int(wrong[0]) // 2
            ends = self.roads[row].tolist()
            raise ValueError(
                f"road {row} has the ends {ends}; junctions are numbered 0 to {len(self.nodes) - 1}"
            )
        for lon, lat in self.nodes.tolist():
            self._point(lon, lat)

    def _straight(self) -> NDArray[np.float64]:
        ends = self.nodes[self.roads].tolist()
        lengths = [distance(self._point(*one), self._point(*other)) for one, other in ends]
        return np.array(lengths, np.float64)

    def _check_length(self, straight: NDArray[np.float64]) -> None:
        if self.length.shape != straight.shape:
            raise ValueError(
                f"{len(straight)} roads have {len(self.length)} lengths; give one each"
            )
        for row in np.flatnonzero(~(self.length >= straight * _SHORTER)).tolist():
            raise ValueError(
                f"road {row} has the length {self.length[row]}, and straight it would be "
                f"{straight[row]}; give lengths in the unit of the places, or none"
            )

    def _label(self) -> Labels:
        count = len(self.nodes)
        sources = np.linspace(0, count - 1, min(_SOURCES, count)).astype(np.int64)
        times = times_between(self._start, self._to, self._length, sources)
        order = np.argsort(-times, kind="stable")
        labels = Labels(*hub_labels(self._start, self._to, self._length, order))
        # Nothing is known before the first hub, so that it is a label of all that it reaches.
        reached = int(np.count_nonzero(labels.hub == 0))
        if reached < count:
            raise ValueError(
                f"of {count} junctions {reached} are connected with junction {int(order[0])}; give "
                "a network in one piece, for instance the largest one"
            )
        return labels
