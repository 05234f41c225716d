"""`ByLocation`: each shard has the subscriptions of a part of the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import TopKSubscription
from nearcast.topk.distributions.distribution import Distribution, check_shards, hash_of_id
from nearcast.topk.distributions.placement import Placement
from nearcast.topk.index import Scoring
from nearcast.topk.word_statistics import WordStatistics

Node = tuple[int, float, int, int]
"""(axis, split, node of those up to the split, node of the others); of a leaf: (LEAF, 0.0, its
first shard, the shard after its last)."""
LEAF = 2
_Places = NDArray[np.float64]


@dataclass(frozen=True)
class ByLocation(Distribution):
    """A subscription is in the shard of its place, a leaf of a kd-tree; a message goes to all.

    Those who are near to each other are in one shard, whose lists then have tighter bounds for
    place (DSkype, section 7.3.2). Where all are at one spot a leaf has several shards, among which
    subscriptions are dealt out by their ids. Use `plan`.

    >>> from nearcast.model import Point
    >>> location = ByLocation(2, ((0, 10.0, 1, 2), (LEAF, 0.0, 0, 1), (LEAF, 0.0, 1, 2)))
    >>> east = TopKSubscription("s", "tea", Point(11, 0))
    >>> location.placement(east, WordStatistics()).shards
    (1,)
    """

    name: ClassVar[str] = "location"
    shards: int
    nodes: tuple[Node, ...]

    @classmethod
    def plan(
        cls,
        subscriptions: Sequence[TopKSubscription],
        messages: MessageBatch,
        shards: int,
        scoring: Scoring,
        total_subscriptions: int,
    ) -> Self:
        """Algorithm 3 of DSkype for any number of shards, given samples.  O(rows log rows)."""
        check_shards(shards)
        at = np.array([(each.at.lon, each.at.lat) for each in subscriptions], np.float64)
        nodes: list[Node] = []
        _divide(at.reshape(-1, 2), messages.middles(), 0, shards, 0, nodes)
        return cls(shards, tuple(nodes))

    def placement(self, subscription: TopKSubscription, statistics: WordStatistics) -> Placement:
        at = (subscription.at.lon, subscription.at.lat)
        axis, split, low, high = self.nodes[0]
        while axis != LEAF:
            axis, split, low, high = self.nodes[low if at[axis] <= split else high]
        return Placement.at(low + hash_of_id(subscription.id) % (high - low))

    def row(self) -> dict[str, Any]:
        return {"shards": self.shards, "nodes": self.nodes}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        return cls(row["shards"], tuple(tuple(node) for node in row["nodes"]))


def _divide(
    at: _Places, messages: _Places, first: int, shards: int, depth: int, nodes: list[Node]
) -> int:
    """Append the tree of a part of the map, the parent first; returns the number of its root."""
    number = len(nodes)
    nodes.append((LEAF, 0.0, first, first + shards))
    axes = [axis for axis in (depth % 2, 1 - depth % 2) if len(np.unique(at[:, axis])) > 1]
    if shards == 1 or not axes:
        return number
    axis, low_shards = axes[0], shards // 2
    split = _best_split(at[:, axis], messages[:, axis], low_shards, shards - low_shards)
    low, low_messages = at[:, axis] <= split, messages[:, axis] <= split
    left = _divide(at[low], messages[low_messages], first, low_shards, depth + 1, nodes)
    right = _divide(
        at[~low], messages[~low_messages], first + low_shards, shards - low_shards, depth + 1, nodes
    )
    nodes[number] = (axis, split, left, right)
    return number


def _best_split(at: _Places, messages: _Places, low_shards: int, high_shards: int) -> float:
    """Where the costs of the two sides, subscriptions times messages for a shard, are closest."""
    splits = np.unique(at)[:-1]
    low = np.searchsorted(np.sort(at), splits, side="right")
    low_messages = np.searchsorted(np.sort(messages), splits, side="right")
    # One message more than were seen: where none was, subscriptions alone decide.
    low_cost = low * (low_messages + 1.0) / low_shards**2
    high_cost = (len(at) - low) * (len(messages) - low_messages + 1.0) / high_shards**2
    return float(splits[np.argmin(np.abs(low_cost - high_cost))])
