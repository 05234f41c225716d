"""`plan_results`: how should the results of a stream be spread over its shards, and why?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearcast.batches import MessageBatch
from nearcast.model import MovingSubscription, Space, TopKSubscription, TrendingSubscription
from nearcast.pipeline.hosted.spread.cells import Cells
from nearcast.pipeline.hosted.spread.distribution import NO_STATISTICS, ResultDistribution
from nearcast.pipeline.log.hosted_rows import Hosted
from nearcast.pipeline.partitioning.partitioning import check_shards
from nearcast.topk.distributions.choose import AUTO, Prediction, loads, reason_for
from nearcast.topk.distributions.kinds import KINDS
from nearcast.topk.distributions.lowest_scores import lowest_scores
from nearcast.topk.index import Scoring
from nearcast.topk.word_statistics import WordStatistics

HASH, LOCATION = "hash", "location"
NAMES = tuple(KINDS)
FEWEST_TO_SPARE = 3
"""With so many shards, or more, the one that hears everything has no cell besides."""


@dataclass(frozen=True, slots=True)
class ResultPlan:
    """A distribution, what was predicted for each that was considered, and the reason.

    `distribution` is for `ResultSettings`; None is `hash`.
    """

    distribution: ResultDistribution | None
    predicted: dict[str, Prediction]
    why: str


def plan_results(
    name: str,
    subscriptions: Sequence[Hosted],
    messages: MessageBatch,
    shards: int,
    *,
    total_subscriptions: int,
    statistics: WordStatistics = NO_STATISTICS,
) -> ResultPlan:
    """How to spread subscriptions that have a result, of which these are samples, over shards.

    `statistics` are those of the `ResultSettings`.

    | name | moving, terms in a region | the best messages |
    |---|---|---|
    | `hash` | one shard, by id, as all others; every shard hears all messages | the same |
    | `location` | the cell of the map that the region fits into | the cell of their place; \
every shard hears all messages |
    | `keyword` | as `location` | the shards of all their words, merged |
    | `prefix` | as `location` | as few of these as each list allows, merged |
    | `auto` | the one that is predicted to be the quickest | |

    All others, and kinds without a sample, are in one shard that hears all messages.

    >>> from nearcast.model import Circle, Message, Point
    >>> places = [Point(n, n) for n in range(10)]
    >>> said = MessageBatch.from_messages(
    ...     Message(n, text="tea", at=at) for n, at in enumerate(places))
    >>> who = [MovingSubscription(n, "tea", Circle(at, 9e4)) for n, at in enumerate(places)]
    >>> plan = plan_results("location", who, said, 4, total_subscriptions=10**6)
    >>> plan.predicted["location"].copies < 3, plan.distribution.name
    (True, 'location')
    """
    if name not in (*NAMES, AUTO):
        raise ValueError(
            f"distribution {name!r} is unknown for the results of a stream; give one of "
            f"{', '.join((*NAMES, AUTO))}"
        )
    check_shards(shards)
    considered: dict[str, ResultDistribution | None] = {}
    for each in NAMES if name == AUTO else [name]:
        try:
            considered[each] = _planned(
                each, subscriptions, messages, shards, total_subscriptions, statistics
            )
        except ValueError:
            if name != AUTO:
                raise
    predicted = {
        each: _predict(way, subscriptions, messages, shards, total_subscriptions)
        for each, way in considered.items()
    }
    best = min(predicted, key=lambda each: predicted[each].seconds)
    return ResultPlan(considered[best], predicted, reason_for(best, predicted, shards))


def _planned(
    name: str,
    subscriptions: Sequence[Hosted],
    messages: MessageBatch,
    shards: int,
    total: int,
    statistics: WordStatistics,
) -> ResultDistribution | None:
    if name == HASH:
        return None
    lists = [each for each in subscriptions if isinstance(each, TopKSubscription)]
    regions = [
        each.region
        for each in subscriptions
        if isinstance(each, MovingSubscription | TrendingSubscription)
    ]
    if not lists and (name != LOCATION or not regions):
        wanted = "top-k subscription" + " and none with a region" * (name == LOCATION)
        raise ValueError(
            f"distribution {name!r} cannot be planned: there is no {wanted} among the samples; "
            f"give some, or use another distribution"
        )
    cells = top = None
    if regions:
        divided = shards - (shards >= FEWEST_TO_SPARE)
        share = max(1, total * len(regions) // len(subscriptions))
        cells = Cells.plan(regions, messages, divided, shards, share)
    if lists:
        share = max(1, total * len(lists) // len(subscriptions))
        top = KINDS[name].plan(lists, messages, shards, _scoring(statistics), share)
    return ResultDistribution(shards, cells, top, statistics)


def _scoring(statistics: WordStatistics) -> Scoring:
    return Scoring.of(Space.EARTH, None, statistics)


def _predict(
    way: ResultDistribution | None,
    subscriptions: Sequence[Hosted],
    messages: MessageBatch,
    shards: int,
    total: int,
) -> Prediction:
    if way is None:
        kept, share = np.full(shards, 1 / shards), np.ones(shards)
    else:
        kept = np.zeros(shards)
        lists = [each for each in subscriptions if isinstance(each, TopKSubscription)]
        if way.top:
            scoring = _scoring(way.statistics)
            lowest = lowest_scores(lists, messages, scoring)
            share_of_lists, _ = loads(way.top, lists, lowest, messages, scoring)
            kept += share_of_lists * len(lists) / len(subscriptions)
        for each in subscriptions:
            if way.top is None or not isinstance(each, TopKSubscription):
                kept[list(way.homes(each, safe=False))] += 1 / len(subscriptions)
        share = way.hear(messages).sum(axis=0) / max(1, len(messages))
    return Prediction.of(kept, share, total)
