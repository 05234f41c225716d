"""Distances along roads, where the index was given some.

first, hub, far  the labels of `nearcast.space._road_kernels`; `first` is empty without roads
document    float64[D, 2]  by document: its junction NODE, and how far OFF it is
subscriber  float64[S, 2]  by slot: the same
reach       float64[N]     by hub: how far it is from whom one looks at; else infinite
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.space.road_network import RoadNetwork
from nearcast.trending._nearby.documents import HELD, START, WEIGHT, larger

NODE, OFF = range(2)


class Roads(NamedTuple):
    """The arrays; see the module docstring."""

    first: NDArray[np.int64]
    hub: NDArray[np.int32]
    far: NDArray[np.float64]
    document: NDArray[np.float64]
    subscriber: NDArray[np.float64]
    reach: NDArray[np.float64]


def roads_of(network: RoadNetwork | None) -> Roads:
    """Nobody is on the roads yet."""
    nobody = np.empty((0, 2))
    if network is None:
        return Roads(
            np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), nobody, nobody, np.empty(0)
        )
    reach = np.full(len(network.nodes), np.inf)
    return Roads(*network.labels, nobody, nobody.copy(), reach)


@inner
def has_roads(roads):
    """Was the index given any?"""
    return len(roads.first) > 0


@inner
def put_document(roads, documents, term, at):
    """The document that came last, and says the term, is at a junction."""
    d = documents.doc[documents.lists[term, START] + documents.lists[term, HELD] - 1]
    if d >= len(roads.document):
        roads = Roads(
            roads.first, roads.hub, roads.far, larger(roads.document, len(documents.uses)),
            roads.subscriber, roads.reach,
        )  # fmt: skip
    roads.document[d, NODE], roads.document[d, OFF] = at[NODE], at[OFF]
    return roads


@inner
def score_by_road(roads, slot, term, documents, a):
    """What the documents of a term give to a subscription.  O(labels of these documents)."""
    here = np.int64(roads.subscriber[slot, NODE])
    for n in range(roads.first[here], roads.first[here + 1]):
        roads.reach[roads.hub[n]] = roads.far[n]
    total, start = 0.0, documents.lists[term, START]
    for p in range(start, start + documents.lists[term, HELD]):
        d = documents.doc[p]
        there, way = np.int64(roads.document[d, NODE]), np.inf
        for n in range(roads.first[there], roads.first[there + 1]):
            way = min(way, roads.reach[roads.hub[n]] + roads.far[n])
        way += roads.subscriber[slot, OFF] + roads.document[d, OFF]
        total += documents.times[p] * documents.place[d, WEIGHT] / (a + way)
    for n in range(roads.first[here], roads.first[here + 1]):
        roads.reach[roads.hub[n]] = np.inf
    return total
