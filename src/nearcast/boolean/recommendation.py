"""Which index is the best for these subscriptions and messages?"""

from __future__ import annotations

from dataclasses import dataclass

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean.index_costs import COSTS, TERMS, predict
from nearcast.boolean.workload_statistics import WorkloadStatistics, measure_workload

DEFAULT = "RarestWordTree"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The class to take, why, and what was expected of each.

    - `index`: the name of the class in `nearcast.boolean`
    - `reason`: the statistic that decided, in words
    - `costs`: expected microseconds a message, by class name, the cheapest first
    - `statistics`: what was measured
    """

    index: str
    reason: str
    costs: dict[str, float]
    statistics: WorkloadStatistics


def recommend(subscriptions: SubscriptionBatch, messages: MessageBatch) -> Recommendation:
    """The index that is expected to match messages like these the fastest.

    No index is built: statistics of a sample tell how much of everything a message meets, and a
    formula what that takes in each index (`index_costs`). The microseconds are those of the
    machine the formulas were fitted on; which index is ahead is what they are for. Without
    subscriptions or messages nothing tells the indexes apart, and the default is named.

    Takes well under a second for a million subscriptions; the same answer for the same batches.

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> wanted = [Subscription(i, "ipad sale", Box(i, 0, i + 1, 1)) for i in range(100)]
    >>> seen = [Message(i, text="iPad on sale!", at=Point(i, 0.5)) for i in range(100)]
    >>> advice = recommend(
    ...     SubscriptionBatch.from_subscriptions(wanted), MessageBatch.from_messages(seen)
    ... )
    >>> advice.index == next(iter(advice.costs))
    True
    >>> round(advice.statistics.matches, 1)
    2.0
    """
    statistics = measure_workload(subscriptions, messages)
    expected = {index: predict(index, statistics) for index in COSTS}
    costs = dict(sorted(expected.items(), key=lambda item: (item[1], item[0] != DEFAULT)))
    missing = "subscriptions" if not len(subscriptions) else "messages"
    if not len(subscriptions) or not len(messages):
        reason = f"there are no {missing} to tell indexes apart, so it is the default, {DEFAULT}"
        return Recommendation(DEFAULT, reason, costs, statistics)
    best, rival, *_ = costs
    return Recommendation(best, _reason(best, rival, costs, statistics), costs, statistics)


def _reason(best: str, rival: str, costs: dict[str, float], at: WorkloadStatistics) -> str:
    """Names the term that the next best index loses most by."""

    def lost(name: str) -> float:
        difference = COSTS[rival].get(name, 0.0) - COSTS[best].get(name, 0.0)
        return difference * TERMS[name].amount(at)

    because = TERMS[max(TERMS, key=lost)].because(at)
    return (
        f"{because}, so {best} is expected to be the fastest with {costs[best]:.2g} µs a message; "
        f"the next is {rival} with {costs[rival]:.2g} µs"
    )
