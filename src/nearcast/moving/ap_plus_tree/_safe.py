"""How far may a region move before a message enters or leaves, and how far has it moved?

Both are told in the units of the region's own borders, so that they may be compared:

box      how far a border moved, the one that moved most
circle   how far the centre moved, and the radius changed
polygon  how far a vertex moved, the one that moved most; no point of an edge moved farther

Regions are the arrays of a `RegionColumn`.
"""

import math

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.moving._flat.messages import RECTS, RECTS_AT
from nearcast.moving._flat.verify import meets
from nearcast.space._kernels import (
    BOX,
    CIRCLE,
    EARTH_RADIUS,
    EVERYWHERE,
    distance_to_rect,
    line_meets,
)

ROUNDING = 1e-12  # what distances may be off by, relative to what they are made of


@njit(cache=True, nogil=True)
def slacks(messages, regions, is_earth, rows, slots, slack):
    """Draw in the slack of each region to the nearest message, in or out.

    rows[i] is the region near which message slots[i] is. A message that is beyond a border by d, or
    within all of them by d, stays so while no border moves as far as d.
    """
    kind, shape, ring_start, polygon_start, vertices = regions
    for i in range(len(rows)):
        row = rows[i]
        at = messages.head[slots[i], RECTS_AT]
        for rect in range(at, at + messages.head[slots[i], RECTS]):
            place, region = messages.rects[rect], shape[row]
            if kind[row] == BOX:
                beyond_x = max(region[0] - place[2], place[0] - region[2])
                beyond_y = max(region[1] - place[3], place[1] - region[3])
                far = abs(max(beyond_x, beyond_y))
            elif kind[row] == CIRCLE:
                far = abs(
                    region[2]
                    - distance_to_rect(
                        region[0], region[1], is_earth, place[0], place[1], place[2], place[3]
                    )
                )
            else:
                number = int(region[0])
                far = _to_edges(
                    ring_start, polygon_start[number], polygon_start[number + 1], vertices, place
                )
            slack[row] = min(slack[row], far)


@inner
def _to_edges(ring_start, first_ring, last_ring, vertices, rect):
    """From a rectangle to the nearest edge of a polygon."""
    nearest = np.inf
    for ring in range(first_ring, last_ring):
        end = ring_start[ring + 1]
        a = vertices[end - 1]
        for vertex in range(ring_start[ring], end):
            b = vertices[vertex]
            nearest = min(nearest, _to_edge(a[0], a[1], b[0], b[1], rect))
            a = b
    return nearest


@inner
def _to_edge(ax, ay, bx, by, rect):
    west, south, east, north = rect[0], rect[1], rect[2], rect[3]
    overlap = max(ax, bx) >= west and min(ax, bx) <= east
    overlap &= max(ay, by) >= south and min(ay, by) <= north
    if overlap and line_meets(ax, ay, bx, by, west, south, east, north):
        return 0.0
    nearest = min(
        distance_to_rect(ax, ay, False, west, south, east, north),
        distance_to_rect(bx, by, False, west, south, east, north),
    )
    for corner in range(4):
        x, y = rect[2 * (corner % 2)], rect[1 + 2 * (corner // 2)]
        nearest = min(nearest, _to_inside(ax - x, ay - y, bx - x, by - y, bx - ax, by - ay))
    return nearest


@inner
def _to_inside(ax, ay, bx, by, x, y):
    """From the origin to the line through a and b, if the nearest point is between them.

    (x, y) leads from a to b; that of the edge itself, which is more precise than b - a here.
    """
    if ax * x + ay * y >= 0.0 or bx * x + by * y <= 0.0:
        return np.inf
    return abs(ax * y - ay * x) / math.sqrt(x * x + y * y)


@njit(cache=True, nogil=True)
def gone(old, old_rows, new, is_earth):
    """How far has each region gone from what it was, rounded up?  Infinitely, if it is another.

    Row i of `new` was row old_rows[i] of `old`.
    """
    far = np.empty(len(old_rows))
    for i in range(len(old_rows)):
        far[i] = _gone(old, np.int64(old_rows[i]), new, i, is_earth)
    return far


@inner
def _gone(old, old_row, new, row, is_earth):
    was, now = old[1][old_row], new[1][row]
    kind = new[0][row]
    if kind != old[0][old_row] or kind == EVERYWHERE:
        return np.inf
    if kind == BOX:
        if now[0] > now[2] or was[0] > was[2]:  # across the antimeridian
            return np.inf
        across = max(abs(now[0] - was[0]), abs(now[2] - was[2]))
        up = max(abs(now[1] - was[1]), abs(now[3] - was[3]))
        return max(across, up) * (1.0 + ROUNDING)
    if kind == CIRCLE:
        far = distance_to_rect(now[0], now[1], is_earth, was[0], was[1], was[0], was[1])
        far += abs(now[2] - was[2])
        return far + ROUNDING * (far + now[2] + (EARTH_RADIUS if is_earth else 0.0))
    return _vertices_gone(old, int(was[0]), new, int(now[0]))


@inner
def _vertices_gone(old, old_number, new, number):
    old_first, old_last = old[3][old_number], old[3][old_number + 1]
    first, last = new[3][number], new[3][number + 1]
    if last - first != old_last - old_first:
        return np.inf
    for ring in range(last - first + 1):
        length = new[2][first + ring] - new[2][first]
        if length != old[2][old_first + ring] - old[2][old_first]:
            return np.inf
    far, size = 0.0, 0.0
    for k in range(new[2][last] - new[2][first]):
        was, now = old[4][old[2][old_first] + k], new[4][new[2][first] + k]
        x, y = now[0] - was[0], now[1] - was[1]
        far = max(far, math.sqrt(x * x + y * y))
        size = max(size, abs(now[0]), abs(now[1]))
    return far + ROUNDING * (far + size)


@njit(cache=True, nogil=True)
def signs_among(messages, old, old_row, new, rows, slots, is_earth):
    """What becomes of messages when regions change: 1 for one that enters, -1 for one that leaves.

    Message slots[i] is asked of row rows[i] of `new`, and of the row of `old` that belongs to it.
    """
    signs = np.empty(len(rows), np.int8)
    for i in range(len(rows)):
        was = meets(old, np.int64(old_row[rows[i]]), is_earth, messages, slots[i])
        is_now = meets(new, rows[i], is_earth, messages, slots[i])
        signs[i] = np.int8(is_now) - np.int8(was)
    return signs


@njit(cache=True, nogil=True)
def kept_if_in(found, found_end, regions, is_earth, places):
    """Of the subscriptions found for each message, those whose region it is in: (found, end).

    `places` is a `Messages` whose slots are the messages in their order.
    """
    kept, end = np.empty(len(found), np.int32), np.empty(len(found_end), np.int64)
    total, at = 0, 0
    for message in range(len(found_end)):
        while at < found_end[message]:
            kept[total] = found[at]
            total += meets(regions, found[at], is_earth, places, message)
            at += 1
        end[message] = total
    return kept[:total], end
