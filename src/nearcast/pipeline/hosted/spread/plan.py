"""`plan_results`: how should the results of a stream be spread over its shards, and why?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import MovingSubscription, Space, TopKSubscription, TrendingSubscription
from nearcast.pipeline.hosted.spread.cells import Cells
from nearcast.pipeline.hosted.spread.cost import (
    HEAR_SECONDS,
    HEAR_SECONDS_A_SHARD,
    KIND_COSTS,
    MERGE_SECONDS,
    Present,
    present,
)
from nearcast.pipeline.hosted.spread.distribution import NO_STATISTICS, ResultDistribution
from nearcast.pipeline.log.hosted_rows import Hosted
from nearcast.pipeline.partitioning.partitioning import check_shards
from nearcast.topk.distributions.choose import AUTO, Prediction, loads, reason_for
from nearcast.topk.distributions.cost import SEND_SECONDS, Number
from nearcast.topk.distributions.kinds import KINDS
from nearcast.topk.distributions.lowest_scores import lowest_scores
from nearcast.topk.index import Scoring
from nearcast.topk.word_statistics import WordStatistics

HASH, LOCATION = "hash", "location"
NAMES = tuple(KINDS)
_IN_CELLS = (MovingSubscription, TrendingSubscription)
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

    What is predicted is priced as measured (`cost.py`): a law for each kind, what telling takes,
    messages that a shard hears bare, moves that come to all shards, one with each message, and the
    driver, which merges lists. It is what the busiest shard takes, with a core for each.

    >>> from nearcast.model import Circle, Message, Point
    >>> places = [Point(n, n) for n in range(12)]
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
    kinds = _kinds(subscriptions, messages, total_subscriptions)
    considered: dict[str, ResultDistribution | None] = {}
    for each in NAMES if name == AUTO else [name]:
        try:
            considered[each] = _planned(each, subscriptions, messages, shards, kinds, statistics)
        except ValueError:
            if name != AUTO:
                raise
    predicted = {
        each: _predict(way, subscriptions, messages, shards, kinds)
        for each, way in considered.items()
    }
    best = min(predicted, key=lambda each: predicted[each].seconds)
    return ResultPlan(considered[best], predicted, reason_for(best, predicted, shards))


_Kinds = dict[type, Present]


def _kinds(subscriptions: Sequence[Hosted], messages: MessageBatch, total: int) -> _Kinds:
    """What there is of each kind."""
    found: _Kinds = {}
    for kind in KIND_COSTS:
        sample = [each for each in subscriptions if type(each) is kind]
        if sample:
            share = max(1, total * len(sample) // len(subscriptions))
            found[kind] = present(kind, sample, messages, share)
    return found


def _planned(
    name: str,
    subscriptions: Sequence[Hosted],
    messages: MessageBatch,
    shards: int,
    kinds: _Kinds,
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
        in_cells = [kinds[kind] for kind in _IN_CELLS if kind in kinds]
        total = sum(each.total for each in in_cells)

        def cost(subscriptions: Number, share: Number) -> Number:
            parts = [each.in_cell(subscriptions * (each.total / total), share) for each in in_cells]
            seconds: Number = sum(parts[1:], parts[0])
            return seconds

        cells = Cells.plan(regions, messages, divided, shards, total, cost)
    if lists:
        total = kinds[TopKSubscription].total
        top = KINDS[name].plan(lists, messages, shards, _scoring(statistics), total)
    return ResultDistribution(shards, cells, top, statistics)


def _scoring(statistics: WordStatistics) -> Scoring:
    return Scoring.of(Space.EARTH, None, statistics)


def _predict(
    way: ResultDistribution | None,
    subscriptions: Sequence[Hosted],
    messages: MessageBatch,
    shards: int,
    kinds: _Kinds,
) -> Prediction:
    kept = {kind: _kept(way, kind, subscriptions, messages, shards) for kind in kinds}
    share, seconds = np.ones(shards), np.zeros(shards)
    if way is not None:
        share = way.hear(messages).sum(axis=0) / max(1, len(messages))
    for kind, found in kinds.items():
        seconds += found.seconds(kept[kind], share, is_spread=way is not None)
    others = SEND_SECONDS * shards
    if way is not None:
        hearing = HEAR_SECONDS + HEAR_SECONDS_A_SHARD * shards
        seconds += hearing
        others += hearing
        if way.merges_lists:
            lists = kinds[TopKSubscription]
            others = max(others, MERGE_SECONDS * lists.rate * lists.total)
    total = sum(found.total for found in kinds.values())
    weighted = [kept[kind] * (found.total / total) for kind, found in kinds.items()]
    everybody = np.sum(weighted, axis=0) if kinds else np.full(shards, 1 / shards)
    return Prediction.of(everybody, share, seconds, others)


def _kept(
    way: ResultDistribution | None,
    kind: type,
    subscriptions: Sequence[Hosted],
    messages: MessageBatch,
    shards: int,
) -> NDArray[np.float64]:
    """The share of the subscriptions of a kind that each shard has."""
    if way is None:
        return np.full(shards, 1 / shards)
    sample = [each for each in subscriptions if type(each) is kind]
    if way.top and kind is TopKSubscription:
        scoring = _scoring(way.statistics)
        lists = [each for each in sample if isinstance(each, TopKSubscription)]
        return loads(way.top, lists, lowest_scores(lists, messages, scoring), messages, scoring)[0]
    kept = np.zeros(shards)
    for each in sample:
        kept[list(way.homes(each, safe=False))] += 1 / len(sample)
    return kept
