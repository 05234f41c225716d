"""`Location`: each shard has a part of the map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.pipeline.partitioning._kd_plan import plan_tree
from nearcast.pipeline.partitioning._location_kernels import mark_leaves
from nearcast.pipeline.partitioning.cost import MANY
from nearcast.pipeline.partitioning.hashing import Hashes
from nearcast.pipeline.partitioning.partitioning import Partitioning, check_shards
from nearcast.pipeline.partitioning.routes import Routes, mask_words


@dataclass(frozen=True, slots=True, eq=False)
class Location(Partitioning):
    """The leaves of a kd-tree divide the map; each leaf belongs to one shard, or to several.

    A subscription is kept in every leaf that its region touches, a message visits the leaf it is in
    (a box: the leaves it touches). Where dividing the map further does not pay, because everybody
    is at one spot or large regions would have to be copied too often, a leaf has several shards:
    its subscriptions are dealt out by `id_hash`, its messages go to all of them. One leaf with all
    shards is `Hash`; a leaf for each shard while regions are everywhere is a broadcast of the
    subscriptions, which is right where messages are far more.

    The arrays are drawn in `_location_kernels.py`; use `plan` to make them.

    >>> from nearcast.datasets import Tweets, subscriptions_from
    >>> from nearcast.pipeline.partitioning import hash_ids, measure
    >>> tweets = Tweets(vocabulary=100).batch(2000)
    >>> subscriptions = subscriptions_from(tweets, 1000, area=(0.0001, 0.001))
    >>> id_hash = hash_ids(subscriptions.ids)
    >>> location = Location.plan(subscriptions, id_hash, tweets, 4)
    >>> metrics = measure(location, subscriptions, id_hash, tweets)
    >>> metrics.replication < 1.1, metrics.shards_per_message
    (True, 1.0)
    """

    name: ClassVar[str] = "location"
    shards: int
    axis: NDArray[np.int8]
    split: NDArray[np.float64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]

    @classmethod
    def plan(
        cls,
        subscriptions: SubscriptionBatch,
        id_hash: Hashes,
        messages: MessageBatch,
        shards: int,
        *,
        total_subscriptions: int = MANY,
        total_messages: int = MANY,
    ) -> Self:
        """Divide the map by the cost of its parts, given samples of what is to come.

        Algorithm 3 of DSkype, for any number of shards.  O(rows * log(rows) * log(shards)).

        Parameters
        ----------
        total_subscriptions, total_messages: how many there will be, of which these are samples
        """
        check_shards(shards)
        _, covers = subscriptions.regions.covers()
        # Each rectangle stands for the rows that the sample leaves out, too.
        tree = plan_tree(
            covers.astype(np.float64),
            messages.rects,
            total_subscriptions / max(len(subscriptions), 1),
            total_messages / max(len(messages), 1),
            shards,
        )
        return cls(shards, *tree)

    def of_subscriptions(self, batch: SubscriptionBatch, id_hash: Hashes) -> Routes:
        row, covers = batch.regions.covers()
        return self.of_rects(len(batch), row, covers, id_hash)

    def of_messages(self, batch: MessageBatch) -> Routes:
        row = np.repeat(np.arange(len(batch), dtype=np.int32), np.diff(batch.rect_start))
        return self.of_rects(len(batch), row, batch.rects, np.empty(0, np.uint64))

    def of_rects(
        self, rows: int, row: NDArray[np.int32], rects: NDArray[Any], spread: Hashes
    ) -> Routes:
        """The shards of the leaves that the rectangles of each row touch.

        `spread` picks one shard of a leaf for each row; where it is empty, it is all of them.
        """
        masks = np.zeros((rows, mask_words(self.shards)), np.uint64)
        mark_leaves(self.axis, self.split, self.low, self.high, row, rects, spread, masks)
        return Routes.of_masks(masks)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        names = [field.name for field in fields(self) if field.name != "shards"]
        return {name: getattr(self, name) for name in names}

    @classmethod
    def _of_arrays(cls, shards: int, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return cls(shards, **arrays)
