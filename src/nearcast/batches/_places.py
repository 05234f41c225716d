"""Places of many messages as an array: points and boxes, checked by the rules of the model."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from nearcast.batches.rejects import Rejects, why_refused
from nearcast.model.shapes import LARGEST_COORDINATE, SMALLEST_COORDINATE, Box, Place, Point, Space

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def checked_places(at: Floats, is_box: Flags, space: Space, rejects: Rejects) -> Floats:
    """The places as the model stores them: those it refuses are rejected, tiny numbers become 0.

    `at` holds west, south, east, north; a point has its longitude and latitude twice.
    """
    points = at[~is_box]
    if not np.array_equal(points[:, :2], points[:, 2:], equal_nan=True):
        raise ValueError("a point in `at` must have its longitude and latitude twice")
    at = np.array(at, np.float64, order="C")
    at[np.abs(at) < SMALLEST_COORDINATE] = 0.0
    for row in np.flatnonzero(~are_places(at, space)).tolist():
        if row not in rejects:
            rejects.add(row, why_refused(partial(place_of, at, is_box, row, space)))
    return at


def are_places(at: Floats, space: Space) -> Flags:
    """Which rows of west, south, east, north the model takes as a box; NaN is never right."""
    largest = [180.0, 90.0] if space is Space.EARTH else [LARGEST_COORDINATE] * 2
    good = np.asarray((np.abs(at) <= largest * 2).all(axis=1)) & (at[:, 1] <= at[:, 3])
    if space is Space.PLANE:
        good &= at[:, 0] <= at[:, 2]
    return good


def place_of(at: Floats, is_box: Flags, row: int, space: Space) -> Place:
    """The place of one row."""
    west, south, east, north = at[row].tolist()
    if is_box[row]:
        return Box(west, south, east, north, space=space)
    return Point(west, south, space=space)
