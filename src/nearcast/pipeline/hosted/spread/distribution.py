"""`ResultDistribution`: which shard keeps a result, and which messages has it to hear?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import (
    Circle,
    MovingSubscription,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.pipeline.hosted.spread.cells import Cells
from nearcast.pipeline.log.hosted_rows import Hosted
from nearcast.pipeline.safe_distance import LOOK_AHEAD
from nearcast.topk.distributions import ByKeyword, ByPrefix, Distribution, Placement
from nearcast.topk.distributions.kinds import KINDS
from nearcast.topk.word_statistics import WordStatistics

AROUND_THE_EARTH = 5e7
"""Metres; a circle so large is everywhere."""

NO_STATISTICS = WordStatistics()
"""All words weigh the same."""

Homes = tuple[int, ...]
"""The shards that a subscription is in: one, but for top-k lists that are merged."""


@dataclass(frozen=True)
class ResultDistribution:
    """How the results of a stream are spread over its shards; `plan_results` makes one.

    One shard, the last, hears everything. All subscriptions are there that nothing else is planned
    for: those for terms around a point, which every document concerns, regions that fit into no
    cell, and kinds of which the plan had no sample.

    - `cells`: for moving subscriptions and for terms in a region; None: nothing is planned
    - `top`: for the best messages; None: nothing is planned
    - `statistics`: how much words weigh for them

    A distribution never changes.
    """

    shards: int
    cells: Cells | None = None
    top: Distribution | None = None
    statistics: WordStatistics = NO_STATISTICS

    @property
    def everything(self) -> int:
        """The shard that hears everything."""
        return self.shards - 1

    @property
    def merges_lists(self) -> bool:
        """May several shards have parts of a list of the best messages?"""
        return isinstance(self.top, ByKeyword)

    @property
    def moves_lists(self) -> bool:
        """May a list get other homes, because it is better or poorer than it was?"""
        return isinstance(self.top, ByPrefix)

    @property
    def name(self) -> str:
        """For people."""
        ways = ["location"] if self.cells else []
        return " and ".join(dict.fromkeys([self.top.name, *ways] if self.top else ways)) or "hash"

    def homes(self, subscription: Hosted | Subscription, now: Homes = (), *, safe: bool) -> Homes:
        """The shards of a subscription that is `now` in these, or nowhere yet.

        `safe`: it asks how far it may go, which is looked up in a wider circle.
        """
        if isinstance(subscription, TopKSubscription) and self.top:
            placement = self.placement(subscription)
            stays = placement.shards[: len(now)] == now
            return placement.shards[: max(placement.fewest, len(now) if stays else 0)]
        if self.cells and isinstance(subscription, MovingSubscription | TrendingSubscription):
            region = subscription.region
            if safe and isinstance(region, Circle):
                wider = min(region.radius * (1 + LOOK_AHEAD), AROUND_THE_EARTH)
                region = Circle(region.centre, wider)
            home = self.cells.home(subscription.id, region, now[0] if now else None)
            if home is not None:
                return (home,)
        return (self.everything,)

    def placement(self, subscription: TopKSubscription) -> Placement:
        """The shards that a list of the best messages may need."""
        assert self.top is not None
        return self.top.placement(subscription, self.statistics)

    def hear(self, messages: MessageBatch) -> NDArray[np.bool_]:
        """Which messages each shard has to hear whole; bool[messages, shards]."""
        heard = np.zeros((len(messages), self.shards), bool)
        heard[:, self.everything] = True
        if self.cells:
            heard |= self.cells.hear(messages)
        if self.top:
            heard |= self.top.targets(messages, self.statistics)
        return heard

    def row(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {
            "shards": self.shards,
            "cells": self.cells and self.cells.row(),
            "top": self.top and [self.top.name, self.top.row()],
            "statistics": self.statistics.row(),
        }

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        """The distribution whose `row` this is."""
        top = row["top"] and KINDS[row["top"][0]].of_row(row["top"][1])
        cells = row["cells"] and Cells.of_row(row["cells"])
        return cls(row["shards"], cells, top, WordStatistics.of_row(row["statistics"]))

    def fingerprint(self) -> str:
        """The same for two distributions exactly when they are alike."""
        return xxhash.xxh3_128_hexdigest(json.dumps(self.row(), sort_keys=True).encode())
