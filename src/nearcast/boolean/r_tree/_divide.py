"""Boxes in two groups, so that few places meet both.

boxes     float32[n, 4]    west, south, east, north, perhaps infinite
order     int64[n]         row numbers of boxes, to be put in order

Boxes may be divided by where they are, along either axis, or by how wide or high they are: a few
large ones among many small ones would make every group large.
"""

import numpy as np
from numba import njit

from nearcast.inner import inner

WAYS = 4
# So many boxes show well enough which way to divide all of them.
SAMPLE = 256
# Beyond it coordinates count as equal: sums, areas and their sums stay finite.
FARTHEST = 1e38


@njit(cache=True, nogil=True, inline="always")
def finite(coordinate):
    """A coordinate that can be reckoned with, as float64."""
    return min(max(np.float64(coordinate), -FARTHEST), FARTHEST)


@inner
def sort_key(box, way):
    """What boxes are divided by: centre along x or y, width or height."""
    low, high = finite(box[way & 1]), finite(box[2 + (way & 1)])
    return high - low if way & 2 else low + high


@inner
def size_of(box):
    """The area of a box; where boxes are flat, half its border still tells them apart: (a, b)."""
    width, height = finite(box[2]) - finite(box[0]), finite(box[3]) - finite(box[1])
    return width * height, width + height


@inner
def enlarge(box, other):
    """Make `box` contain the other."""
    box[0], box[1] = min(box[0], other[0]), min(box[1], other[1])
    box[2], box[3] = max(box[2], other[2]), max(box[3], other[3])


@njit(cache=True, nogil=True)
def box_around(boxes, order):
    """The smallest box around those in `order`.  O(n)."""
    box = boxes[order[0]].copy()
    for i in order:
        enlarge(box, boxes[i])
    return box


@inner
def best_way(boxes, order, cut):
    """The way to divide that leaves the smallest boxes around order[:cut] and the others.

    Boxes weigh as much as there is in them: both are visited as often as they are large.
    """
    stride = max(1, len(order) // SAMPLE)
    sample = order[::stride].copy()
    count = len(sample)
    middle = min(max(1, count * cut // len(order)), count - 1)
    keys = np.empty(count)
    best, least_area, least_border = 0, np.inf, np.inf
    for way in range(WAYS):
        for i in range(count):
            keys[i] = sort_key(boxes[sample[i]], way)
        select(keys, sample, middle)
        area, border = size_of(box_around(boxes, sample[:middle]))
        other_area, other_border = size_of(box_around(boxes, sample[middle:]))
        area = middle * area + (count - middle) * other_area
        border = middle * border + (count - middle) * other_border
        if area < least_area or (area == least_area and border < least_border):
            best, least_area, least_border = way, area, border
    return best


@njit(cache=True, nogil=True)
def divide(boxes, order, cut):
    """Put the first group's boxes in order[:cut], the best way, and the others after it.

    O(n) expected.
    """
    way = best_way(boxes, order, cut)
    keys = np.empty(len(order))
    for i in range(len(order)):
        keys[i] = sort_key(boxes[order[i]], way)
    select(keys, order, cut)


@inner
def select(keys, order, cut):
    """Order both by key as far as needed for keys[:cut] to hold the smallest.  O(n) expected."""
    low, high = 0, len(keys) - 1
    anywhere = 1
    while low < high:
        # From anywhere, because what is sorted in some way should not take longer than the rest.
        anywhere = (anywhere * 1103515245 + 12345) & 0x7FFFFFFF
        pivot = keys[low + anywhere % (high - low + 1)]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if cut <= j:
            high = j
        elif cut >= i:
            low = i
        else:
            return
