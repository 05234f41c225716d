"""Shortest routes over a road graph, and travellers on them.

start     int64[N+1]    node n has the directed roads start[n]:start[n+1]
to        int32[R]      where a road leads
length    float64[R]    how long it is, in the unit of the map
speed     float64[R]    how fast the fastest travellers go on it, in that unit a second
next_road int32[D, N]   the first road of the quickest route from each node to a destination, -1
                        at the destination itself and where no route leads to it

A traveller is on `road` (-1: at the node `at`), has gone `gone` of its length, and is bound for
destination number `bound`.
"""

import numpy as np
from numba import njit

from nearcast.datasets._random_kernels import below, start_of_row
from nearcast.space._road_kernels import pop, push


@njit(cache=True, nogil=True)
def routes(start, to, back, weight, destinations):
    """`next_road` by Dijkstra's algorithm from each destination, against the roads.

    back[r] is the road that leads the other way.  O(D x R log R).
    """
    nodes = len(start) - 1
    next_road = np.full((len(destinations), nodes), -1, np.int32)
    best = np.empty(nodes)
    cost, place = np.empty(len(to) + 1), np.empty(len(to) + 1, np.int64)  # a heap
    for d in range(len(destinations)):
        best[:] = np.inf
        best[destinations[d]] = 0.0
        size = push(cost, place, 0, 0.0, destinations[d])
        while size:
            here, so_far = place[0], cost[0]
            size -= 1
            pop(cost, place, size)
            if so_far > best[here]:
                continue
            for road in range(start[here], start[here + 1]):
                there, total = to[road], so_far + weight[back[road]]
                if total < best[there]:
                    best[there] = total
                    next_road[d, there] = back[road]
                    size = push(cost, place, size, total, there)
    return next_road


@njit(cache=True, nogil=True)
def road_use(next_road, to, samples, seed):
    """How many of some routes between random ends go over each road."""
    use = np.zeros(len(to), np.int64)
    destinations, nodes = next_road.shape
    for sample in range(samples):
        bound = below(start_of_row(seed, 2 * sample), destinations)
        at = below(start_of_row(seed, 2 * sample + 1), nodes)
        while next_road[bound, at] >= 0:
            road = next_road[bound, at]
            use[road] += 1
            at = to[road]
    return use


@njit(cache=True, nogil=True)
def travel(
    to, length, speed, next_road, rows, factor, seconds, seed, at, road, gone, bound, trips
):  # fmt: skip
    """Let some travellers go on for a while.  O(roads passed) each.

    speed[r] is that of a road, factor[i] how fast a traveller is, as a share of it. Who arrives, or
    is where no route leads on, is bound for somewhere else from then on.
    """
    destinations = len(next_road)
    for i in rows:
        left = seconds
        for _ in range(1000):
            if road[i] < 0:
                following = next_road[bound[i], at[i]]
                if following < 0:
                    trips[i] += 1
                    bound[i] = below(
                        start_of_row(seed, (np.int64(trips[i]) << 32) + i), destinations
                    )
                    following = next_road[bound[i], at[i]]
                    if following < 0:
                        break
                road[i], gone[i] = following, 0.0
            pace = speed[road[i]] * factor[i]
            needed = (length[road[i]] - gone[i]) / pace
            if needed > left:
                gone[i] += left * pace
                break
            left -= needed
            at[i], road[i] = to[road[i]], -1
