"""Regions that are drawn out: larger on every side by a distance."""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import NDArray

from nearcast.model import Space
from nearcast.space import EARTH_RADIUS, RegionColumn
from nearcast.space.region_column import BOX, CIRCLE, POLYGON

# Beyond a quarter of the way around the Earth, distances are no longer precise.
_FARTHEST = EARTH_RADIUS * pi / 2
_LARGEST = 1e30  # in the plane


def drawn_out(regions: RegionColumn, by: NDArray[np.float64]) -> RegionColumn:
    """Boxes and circles drawn out; of polygons, their bounds drawn out.  O(size), vectorised.

    >>> boxes = RegionColumn.of_boxes([[0, 0, 2, 1]], Space.EARTH)
    >>> drawn_out(boxes, np.array([0.5])).region(0)
    Box(west=-0.5, south=-0.5, east=2.5, north=1.5, space=Space.EARTH)
    """
    kind, shape = regions.kernel_arrays()[:2]
    circles = np.flatnonzero(kind == CIRCLE)
    others = np.flatnonzero(kind != CIRCLE)
    larger = regions.take(np.arange(len(regions)))
    boxes = _bounds(regions)[others] + by[others, None] * (-1.0, -1.0, 1.0, 1.0)
    larger.put(others, RegionColumn.of_boxes(boxes, regions.space))
    larger.kernel_arrays()[1][circles, 2] = shape[circles, 2] + by[circles]
    return larger


def most_slack(regions: RegionColumn, look_ahead: float) -> NDArray[np.float64]:
    """How far regions may be drawn out: `look_ahead` times how long they are, or not at all.

    Not at all: what is everywhere, what is or would be across the antimeridian or beyond a pole
    and is no circle, and what would be too large to measure.

    >>> boxes = [[0, 0, 2, 1], [0, 88, 2, 89], [179, 0, -179, 1]]
    >>> most_slack(RegionColumn.of_boxes(boxes, Space.EARTH), 2.0).tolist()
    [4.0, 0.0, 0.0]
    """
    kind, shape = regions.kernel_arrays()[:2]
    is_circle = kind == CIRCLE
    bounds = _bounds(regions)
    longer = np.maximum(bounds[:, 2] - bounds[:, 0], bounds[:, 3] - bounds[:, 1])
    with np.errstate(over="ignore"):
        slack: NDArray[np.float64] = look_ahead * np.where(is_circle, 2.0 * shape[:, 2], longer)
        reached = bounds + slack[:, None] * (-1.0, -1.0, 1.0, 1.0)
    if regions.space is Space.EARTH:
        fits = (np.abs(reached) < (180.0, 90.0, 180.0, 90.0)).all(axis=1)
        fits &= bounds[:, 0] <= bounds[:, 2]
        fits = np.where(is_circle, shape[:, 2] + slack < _FARTHEST, fits)
    else:
        fits = (np.abs(reached) < _LARGEST).all(axis=1)
    return np.where(fits & (slack > 0.0), slack, 0.0)


def _bounds(regions: RegionColumn) -> NDArray[np.float64]:
    """Boxes, bounds of polygons, centres of circles; and zeros for everywhere."""
    kind, shape = regions.kernel_arrays()[:2]
    bounds = np.zeros((len(regions), 4))
    bounds[kind == BOX] = shape[kind == BOX]
    bounds[kind == CIRCLE] = shape[kind == CIRCLE][:, [0, 1, 0, 1]]
    polygons = np.flatnonzero(kind == POLYGON)
    bounds[polygons] = regions.take(polygons).covers()[1]
    return bounds
