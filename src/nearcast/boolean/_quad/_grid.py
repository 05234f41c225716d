"""Where the cells of a quadtree lie, and how likely a message is in each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._quad._cells import DEPTH, MASS_DEPTH, SIDE, Grid, coordinates

# The frame is drawn around the regions but for this share at each end, unless those are near too.
FAR_SHARE = 0.01
# Regions so many times as wide as those of a small share are no places.
FAR_WIDER = 10
SMALL_SHARE = 0.1
# What lies outside of all regions has cells of its own, in a margin of this share.
MARGIN = 1 / 14
# So many places of messages are assumed to lie anywhere, beside those that are known.
UNKNOWN_PLACES = 64
# Enough to find a frame.
SAMPLE = 1 << 16


def grid_over(bounds: NDArray[np.float32], points: NDArray[np.float64] | None) -> Grid:
    """A grid for regions with these bounds and messages at these points.  O(n).

    Without points, messages are taken to be where the regions are.
    """
    boxes = _local(bounds)
    frame = _frame(boxes)
    if points is None:
        points = (boxes[:, :2] + boxes[:, 2:]) / 2
    return Grid(frame, _mass(frame, points))


def _local(bounds: NDArray[np.float32]) -> NDArray[np.float64]:
    """Those that lie somewhere rather than everywhere, as long as there are any."""
    boxes = bounds.astype(np.float64)
    boxes = boxes[np.isfinite(boxes).all(axis=1)]
    if len(boxes) == 0:
        return boxes
    width = boxes[:, 2] - boxes[:, 0]
    return boxes[width <= FAR_WIDER * np.quantile(width[:: 1 + len(width) // SAMPLE], SMALL_SHARE)]


def _frame(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    frame = np.zeros(4)
    sample = boxes[:: 1 + len(boxes) // SAMPLE]
    if len(sample) == 0:
        return frame
    for axis in (0, 1):
        low = np.quantile(sample[:, axis], FAR_SHARE)
        high = np.quantile(sample[:, axis + 2], 1 - FAR_SHARE)
        # Whoever is no farther out than that is not far out at all.
        reach = (high - low) / 2
        low = max(low - reach, sample[:, axis].min())
        high = min(high + reach, sample[:, axis + 2].max())
        width = (1 + 2 * MARGIN) * (high - low)
        frame[axis] = low - MARGIN * (high - low)
        if np.isfinite(width) and width > np.finfo(np.float32).tiny:
            frame[axis + 2] = SIDE / width
    return frame


def _mass(frame: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    side = 1 << MASS_DEPTH
    x = coordinates(points[:, 0], frame[0], frame[2]) >> (DEPTH - MASS_DEPTH)
    y = coordinates(points[:, 1], frame[1], frame[3]) >> (DEPTH - MASS_DEPTH)
    count = np.bincount(y * side + x, minlength=side * side).astype(np.float64)
    level = (count + UNKNOWN_PLACES / side**2) / (len(points) + UNKNOWN_PLACES)
    level = level.reshape(side, side)
    levels = [level]
    for _ in range(MASS_DEPTH):
        half = len(level) // 2
        level = level.reshape(half, 2, half, 2).sum(axis=(1, 3))
        levels.append(level)
    return np.concatenate([level.ravel() for level in reversed(levels)])
