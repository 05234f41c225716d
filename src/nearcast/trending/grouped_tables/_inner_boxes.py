"""A box that is inside a region, so that whoever is in the box is in the region."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.model import Space
from nearcast.space import EARTH_RADIUS, RegionColumn
from nearcast.space.region_column import BOX, CIRCLE

WITHIN = 0.7
"""Half the side of a square in a circle of radius 1, with more to spare than the Earth bends."""

FARTHEST = 1_000_000.0
"""Metres; of larger circles on the Earth no box is made."""

NOTHING = (np.inf, np.inf, -np.inf, -np.inf)


def inner_boxes(regions: RegionColumn) -> NDArray[np.float64]:
    """West, south, east, north for each region; `NOTHING` for polygons and what has no simple one.

    >>> inner_boxes(RegionColumn.of_boxes([[0, 0, 2, 1], [170, 0, -170, 1]], Space.EARTH)).tolist()
    [[0.0, 0.0, 2.0, 1.0], [inf, inf, -inf, -inf]]
    """
    kind, shape, *_ = regions.kernel_arrays()
    boxes = np.full((len(kind), 4), NOTHING)
    plain = (kind == BOX) & (shape[:, 0] <= shape[:, 2])
    boxes[plain] = shape[plain]
    circles = np.flatnonzero(kind == CIRCLE)
    lon, lat, radius = shape[circles, :3].T
    up = across = WITHIN * radius
    good = np.ones(len(circles), bool)
    if regions.space is Space.EARTH:
        up = np.degrees(up / EARTH_RADIUS)
        good = (radius <= FARTHEST) & (np.abs(lat) + up < 89.0)
        # A degree of longitude is longest on the side towards the equator.
        nearest = np.maximum(np.abs(lat) - up, 0.0)
        across = up / np.cos(np.radians(np.where(good, nearest, 0.0)))
        good &= (lon - across > -180.0) & (lon + across < 180.0)
    squares = np.column_stack([lon - across, lat - up, lon + across, lat + up])
    boxes[circles[good]] = squares[good]
    return boxes
