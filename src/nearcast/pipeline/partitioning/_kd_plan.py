"""Where to divide the map: Algorithm 3 of DSkype for any number of shards, and for hot spots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nearcast.pipeline.partitioning._location_kernels import LEAF
from nearcast.pipeline.partitioning.cost import shard_seconds

Rects: TypeAlias = NDArray[np.float64]
Tree: TypeAlias = tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]

Cost: TypeAlias = Callable[[Any, Any], Any]
"""What a shard takes for so many subscriptions and messages, numbers or arrays of them."""

# A division that saves less is not worth the memory of its copies.
MOST_OF_UNDIVIDED = 0.9
MOST_LINES_TRIED = 2048  # an axis; quantiles need no more


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the map: the rectangles that touch it, and how many rows each stands for."""

    regions: Rects
    places: Rects
    region_weight: float
    place_weight: float
    cost: Cost
    most_of_undivided: float

    def undivided(self, shards: int) -> _Node:
        """A leaf: its subscriptions are dealt out, its messages go to all of its shards."""
        subscriptions = self.region_weight * len(self.regions) / shards
        messages = self.place_weight * len(self.places)
        return _Node(float(self.cost(subscriptions, messages)), shards)


@dataclass(frozen=True, slots=True)
class _Node:
    """A plan for a part: how long its slowest shard takes; a leaf has no children."""

    seconds: float
    shards: int
    axis: int = LEAF
    split: float = 0.0
    children: tuple[_Node, ...] = ()


def plan_tree(
    regions: Rects,
    places: Rects,
    region_weight: float,
    place_weight: float,
    shards: int,
    cost: Cost = shard_seconds,
    most_of_undivided: float = MOST_OF_UNDIVIDED,
) -> Tree:
    """The arrays axis, split, low, high of a kd-tree, drawn in `_location_kernels.py`."""
    whole = _Part(regions, places, region_weight, place_weight, cost, most_of_undivided)
    root = _plan(whole, shards)
    nodes: list[tuple[int, float, int, int]] = []
    _flatten(root, 0, nodes)
    axis, split, low, high = zip(*nodes, strict=True)
    return (
        np.array(axis, np.int8),
        np.array(split, np.float64),
        np.array(low, np.int32),
        np.array(high, np.int32),
    )


def _plan(part: _Part, shards: int) -> _Node:
    """Divide a part if its slowest shard gains by it, all further divisions considered."""
    undivided = part.undivided(shards)
    line = _best_line(part, shards) if shards > 1 else None
    if line is None:
        return undivided
    axis, split, low_shards = line
    low, high = _divided(part, axis, split)
    children = (_plan(low, low_shards), _plan(high, shards - low_shards))
    seconds = max(child.seconds for child in children)
    if seconds >= part.most_of_undivided * undivided.seconds:
        return undivided
    return _Node(seconds, shards, axis, split, children)


def _best_line(part: _Part, shards: int) -> tuple[int, float, int] | None:
    """(axis, split, shards of the lower side), or None where there is nobody to divide.

    The best line makes the costlier side as cheap as possible, which is where the costs of the two
    sides cross: the smallest |C(low) - C(high)|. A side with k shards is taken for k equal parts.
    """
    best, best_seconds = None, np.inf
    for axis in (0, 1):
        lines = _lines(part, axis)
        if not len(lines):
            continue
        low_subscriptions, high_subscriptions = _on_each_side(part.regions, axis, lines)
        low_messages, high_messages = _on_each_side(part.places, axis, lines)
        for low_shards in sorted({shards // 2, shards - shards // 2}):
            high_shards = shards - low_shards
            seconds = np.maximum(
                part.cost(
                    low_subscriptions * (part.region_weight / low_shards),
                    low_messages * (part.place_weight / low_shards),
                ),
                part.cost(
                    high_subscriptions * (part.region_weight / high_shards),
                    high_messages * (part.place_weight / high_shards),
                ),
            )
            at = int(np.argmin(seconds))
            if seconds[at] < best_seconds:
                best, best_seconds = (axis, float(lines[at]), low_shards), float(seconds[at])
    return best


def _lines(part: _Part, axis: int) -> NDArray[np.float64]:
    """Coordinates at which somebody begins or ends, thinned out, ascending."""
    edges = np.concatenate(
        [rects[:, column] for rects in (part.regions, part.places) for column in (axis, axis + 2)]
    )
    edges = np.sort(edges[np.isfinite(edges)])
    return np.unique(edges[:: 1 + len(edges) // MOST_LINES_TRIED])


def _on_each_side(
    rects: Rects, axis: int, lines: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many rectangles touch the lower and the upper side of each line."""
    low = np.searchsorted(np.sort(rects[:, axis]), lines, side="right")
    high = len(rects) - np.searchsorted(np.sort(rects[:, axis + 2]), lines, side="right")
    return low.astype(np.float64), high.astype(np.float64)


def _divided(part: _Part, axis: int, split: float) -> tuple[_Part, _Part]:
    regions, places = part.regions, part.places
    low = replace(
        part,
        regions=regions[regions[:, axis] <= split],
        places=places[places[:, axis] <= split],
    )
    high = replace(
        part,
        regions=regions[regions[:, axis + 2] > split],
        places=places[places[:, axis + 2] > split],
    )
    return low, high


def _flatten(node: _Node, first_shard: int, nodes: list[tuple[int, float, int, int]]) -> int:
    """Append the subtree, the parent before its children; returns the number of its root."""
    number = len(nodes)
    if not node.children:
        nodes.append((LEAF, 0.0, first_shard, first_shard + node.shards))
        return number
    nodes.append((node.axis, node.split, 0, 0))
    low, high = node.children
    low_number = _flatten(low, first_shard, nodes)
    high_number = _flatten(high, first_shard + low.shards, nodes)
    nodes[number] = (node.axis, node.split, low_number, high_number)
    return number
