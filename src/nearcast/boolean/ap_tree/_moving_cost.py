"""What dividing space costs when subscriptions move (VLDB Journal, section 4.3.1, Eq. 8 to 13).

A timestamp is the time in which each subscription reports its place once. All costs are shares of
a message, as those of a partition are: in entries looked at.
"""

import numpy as np
from numba import njit

from nearcast.boolean.ap_tree._partition import finite_extent

LONGEST = 32  # timestamps that are looked ahead for a rebuild
SAMPLE = 512  # entries that stand for all
GOLDEN_ANGLE = 2.399963229728653


@njit(cache=True, nogil=True)
def moving_cost(settings, arena, begin, end, region, total):
    """Location updates and rebuilds that a grid at this node would bring, a message.  O(sample).

    `total`: the entries of the whole tree, which tell how deep this node lies.
    """
    size = end - begin
    bounds = arena.view(np.float32)[begin : end : max(1, size // SAMPLE), 4:8].copy()
    west, south, east, north = finite_extent(bounds, region)
    # How many such regions a subscription passes in a timestamp, of which one counts (Eq. 9).
    extent = min(east - west, north - south)
    passed = 1.0 if settings.stride >= extent else settings.stride / extent
    search = np.log2(settings.fanout)
    path = 1.0 + np.log(max(1.0, total / size)) / np.log(settings.fanout)
    updates = size * 2.0 * passed * path * search
    levels = 1.0 + max(0.0, np.log(size / settings.leaf_capacity) / np.log(settings.fanout))
    building = size * (np.sqrt(settings.fanout) + search) * levels
    until = timestamps_until_drift(settings, bounds, west, south, east, north)
    rebuilds = building / until if until <= LONGEST else 0.0
    return (updates + rebuilds) / settings.messages_per_move


@njit(cache=True, nogil=True)
def timestamps_until_drift(settings, bounds, west, south, east, north):
    """After how many timestamps a uniform grid would be built again (Algorithm 8).

    Entries go straight on, each in a direction of its own, and leave at the borders.  Returns
    LONGEST + 1 where nothing is due so soon.
    """
    side = min(16, int(np.sqrt(settings.fanout)))
    if np.isinf(settings.drift_threshold) or side < 2 or not east > west or not north > south:
        return LONGEST + 1
    before = np.ones(side * side + 1)
    after = np.empty(side * side + 1)
    for i in range(len(bounds)):
        before[_cell(bounds[i], 0.0, i, west, south, east, north, side)] += 1.0
    for time in range(1, LONGEST + 1):
        after[:] = 1.0
        for i in range(len(bounds)):
            way = time * settings.stride
            after[_cell(bounds[i], way, i, west, south, east, north, side)] += 1.0
        # Both sum up to the same.
        if (before * np.log(before / after)).sum() / before.sum() > settings.drift_threshold:
            return time
    return LONGEST + 1


@njit(cache=True, nogil=True)
def _cell(box, way, number, west, south, east, north, side):
    """The cell of a rectangle's middle that has gone some way; the last one is outside."""
    x = 0.5 * np.float64(box[0]) + 0.5 * box[2] + way * np.cos(number * GOLDEN_ANGLE)
    y = 0.5 * np.float64(box[1]) + 0.5 * box[3] + way * np.sin(number * GOLDEN_ANGLE)
    if not (west <= x <= east and south <= y <= north):
        return side * side
    column = min(side - 1, int(side * (x - west) / (east - west)))
    row = min(side - 1, int(side * (y - south) / (north - south)))
    return row * side + column
