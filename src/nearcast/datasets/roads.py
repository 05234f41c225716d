"""Road maps: real ones where they are on this machine, a synthetic one everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow.csv as csv
from numpy.typing import NDArray

from nearcast.datasets.files import data_file


@dataclass(frozen=True, eq=False)
class RoadMap:
    """A road graph in the plane; roads lead both ways.

    - `nodes`: float64[n, 2], where junctions are
    - `roads`: int32[m, 2], the two ends of each road
    - `length`: float64[m]

    >>> square = RoadMap(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0, 1]], np.int32))
    >>> square.length.tolist(), square.width
    ([5.0], 4.0)
    """

    nodes: NDArray[np.float64]
    roads: NDArray[np.int32]
    length: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        ends = self.nodes[self.roads]
        length = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
        object.__setattr__(self, "length", np.maximum(length, 1e-9 * max(self.width, 1.0)))

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The box around the junctions: west, south, east, north."""
        west, south = self.nodes.min(axis=0).tolist()
        east, north = self.nodes.max(axis=0).tolist()
        return west, south, east, north

    @property
    def width(self) -> float:
        """The longer side of the box around the junctions."""
        west, south, east, north = self.bounds
        return max(east - west, north - south)


def oldenburg() -> RoadMap:
    """The streets of a German city, 6,105 junctions: the ODB map of the AP+-Tree paper."""
    return _read("OL")


def san_joaquin() -> RoadMap:
    """The roads of a Californian county, 18,263 junctions: the paper's SAN map."""
    return _read("TG")


def synthetic_roads(*, side: int = 60, seed: int = 0) -> RoadMap:
    """A city of about side x side junctions: crooked blocks, some streets missing, one network.

    Blocks in the middle are smaller than those at the edge, as in cities that have grown.

    >>> len(synthetic_roads(side=5).nodes)
    25
    """
    draw = np.random.Generator(np.random.PCG64(seed))
    line = np.linspace(-1.0, 1.0, side)
    line = 5000.0 * np.sign(line) * np.abs(line) ** 1.4 + 5000.0
    x, y = np.meshgrid(line, line)
    nodes = np.stack([x.ravel(), y.ravel()], axis=1)
    nodes += draw.normal(scale=0.15 * 10000.0 / side, size=nodes.shape)
    number = np.arange(side * side).reshape(side, side)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    up = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    # All streets along one axis and every fourth along the other stay: so everything is connected.
    kept = (up[:, 0] % side % 4 == 0) | (draw.random(len(up)) < 0.8)
    return RoadMap(nodes, np.concatenate([across, up[kept]]).astype(np.int32))


def _read(name: str) -> RoadMap:
    nodes = csv.read_csv(data_file(f"road_{name}_nodes.csv.gz"))
    edges = csv.read_csv(data_file(f"road_{name}_edges.csv.gz"))
    places = np.stack([nodes["x"].to_numpy(), nodes["y"].to_numpy()], axis=1)
    order = np.argsort(nodes["node"].to_numpy())
    ends = np.stack([edges["a"].to_numpy(), edges["b"].to_numpy()], axis=1)
    return RoadMap(places[order], ends[ends[:, 0] != ends[:, 1]].astype(np.int32))
