"""What messages and moves cost a shard that keeps results: what `plan_results` compares.

Measured by `python -m benchmarks run scale`, whose page, docs/scale.md, has such numbers: the
tables 'One shard, measured', 'Hearing of everything, measured' and 'Routing and packing, measured';
but how many lists a message changes, and what it takes to merge one, by `run pipeline`, and what it
takes to tell a top-k list is a guess. After either has been measured anew, put its numbers here;
what `told` and `bare` take is Python around the index, and changes more than laws do. They price
plans against each other; a machine twice as fast changes all of them alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import (
    MovingSubscription,
    NearbyTrendingSubscription,
    Region,
    Space,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.pipeline.log.hosted_rows import Hosted
from nearcast.space import RegionColumn
from nearcast.topk.distributions.cost import LISTS, CostLaw, Number

_REGIONS, _PLACES = 1_000, 5_000
"""Of samples, so many tell how much of the messages a region has."""


@dataclass(frozen=True, slots=True)
class KindCost:
    """Seconds of a core of one kind of subscription.

    - `message`: a message, but for what is told of it
    - `told`: a result that is told; `changed`: how many a message of its region changes, of those
      that have a region, and of all others how many any message changes
    - `bare`: a message that concerns nobody in the shard
    - `move`: a move, of which one comes with each message; where results are spread `elsewhere` one
      of somebody who is in another shard, and `again` what one of somebody here takes longer
    """

    message: CostLaw
    told: float
    changed: float
    bare: float = 0.0
    move: float = 0.0
    elsewhere: float = 0.0
    again: float = 0.0


MOVING = KindCost(
    CostLaw(25e-6, 0.0, 1.0, largest=160_000),
    told=18e-6, changed=0.017, bare=9e-6, move=390e-6, elsewhere=205e-6, again=300e-6,
)  # fmt: skip
REGIONS = KindCost(
    CostLaw(27e-6, 6.4e-6, 0.2, largest=80_000), told=1.3e-6, changed=0.24, bare=13e-6
)
NEARBY = KindCost(CostLaw(3.2e-3, 1.36e-9, 1.2, largest=128_000), told=2.6e-6, changed=6.8e-3)
TOP = KindCost(LISTS, told=2e-6, changed=8.6e-5)
KIND_COSTS: dict[type, KindCost] = {
    MovingSubscription: MOVING,
    TrendingSubscription: REGIONS,
    NearbyTrendingSubscription: NEARBY,
    TopKSubscription: TOP,
}

HEAR_SECONDS, HEAR_SECONDS_A_SHARD = 0.06e-6, 0.4e-9
"""To find out who hears a message whole; more for each shard."""

MERGE_SECONDS = 43e-6
"""For the driver, to merge one list that has changed and is in several shards."""


@dataclass(frozen=True, slots=True)
class Present:
    """The subscriptions of a kind, of which there is a sample.

    - `total`: how many there will be
    - `rate`: how many results of one subscription a message changes
    """

    cost: KindCost
    total: int
    rate: float

    def seconds(
        self, kept: NDArray[np.float64], share: NDArray[np.float64], *, is_spread: bool
    ) -> NDArray[np.float64]:
        """Of each shard, for a message of the stream and the move that comes with it.

        - `kept`: the share of these subscriptions that it has
        - `share`: the share of the messages that it hears whole
        """
        cost, here = self.cost, kept * self.total
        taken = cost.message.of_share(share, here) + cost.told * self.rate * here
        moved = kept * cost.move
        if is_spread:
            taken = taken + (1.0 - share) * cost.bare
            moved = moved + kept * cost.again + (1.0 - kept) * cost.elsewhere
        return taken + moved

    def in_cell(self, subscriptions: Number, share: Number) -> Number:
        """As `seconds`, as far as it depends on what a cell has."""
        cost = self.cost
        taken: Number = cost.message.of_share(share, subscriptions)
        each = cost.told * self.rate + (cost.move + cost.again) / self.total
        return taken + each * subscriptions - share * cost.bare


def present(kind: type, sample: Sequence[Hosted], messages: MessageBatch, total: int) -> Present:
    """What there is of a kind, given a sample of it and of the messages."""
    cost = KIND_COSTS[kind]
    rate = cost.changed
    if kind in (MovingSubscription, TrendingSubscription):
        rate *= coverage([each.region for each in sample], messages)  # type: ignore[union-attr]
    return Present(cost, total, rate)


def coverage(regions: Sequence[Region | None], messages: MessageBatch) -> float:
    """The share of the messages that a region has, on average, by their rectangles.

    >>> from nearcast.model import Box, Message, Point
    >>> said = MessageBatch.from_messages(
    ...     Message(n, text="tea", at=Point(n, 0)) for n in range(10))
    >>> coverage([Box(0, 0, 4, 1), Box(0, 0, 0, 0), None], said)
    0.533...
    """
    if not len(messages) or not regions:
        return 0.0
    row, covers = RegionColumn.of_regions(regions[:_REGIONS], Space.EARTH).covers()
    places = messages.middles()[:_PLACES]
    low, high = covers[:, None, :2], covers[:, None, 2:]
    inside = ((low <= places) & (places <= high)).all(axis=2).mean(axis=1)
    return float(inside.sum() / (row.max() + 1))
