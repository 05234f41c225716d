"""`choose`: which distribution suits this work, and why?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import TopKSubscription
from nearcast.topk.distributions.cost import LISTS, SEND_SECONDS
from nearcast.topk.distributions.distribution import Distribution
from nearcast.topk.distributions.kinds import KINDS
from nearcast.topk.distributions.lowest_scores import lowest_scores
from nearcast.topk.index import Scoring

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a distribution is expected to do.

    - `replicas`: shards a subscription is in
    - `copies`: shards a message goes to
    - `balance`: the work of the busiest shard over the mean of all
    - `seconds`: a message, for the busiest shard or the router, whichever takes longer; or for
      whoever merges what shards tell, where that takes longer still
    """

    replicas: float
    copies: float
    balance: float
    seconds: float

    @classmethod
    def of(
        cls,
        kept: NDArray[np.float64],
        share: NDArray[np.float64],
        work: NDArray[np.float64],
        others: float,
    ) -> Prediction:
        """Given the shares of subscriptions and of messages that each shard gets, and its seconds.

        `others`: seconds of the router, or of who merges
        """
        return cls(
            round(float(kept.sum()), 3),
            round(float(share.sum()), 3),
            round(float(work.max() / work.mean()), 3) if work.any() else 1.0,
            round(max(float(work.max()), others), 7),
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """A distribution, what was predicted for each that was considered, and the reason."""

    distribution: Distribution
    predicted: dict[str, Prediction]
    why: str


def choose(
    name: str,
    subscriptions: Sequence[TopKSubscription],
    messages: MessageBatch,
    shards: int,
    scoring: Scoring,
    *,
    total_subscriptions: int,
) -> Choice:
    """The distribution of a name; of all, with the name "auto", the one predicted to be quickest.

    `subscriptions` and `messages` are random samples: some thousands of subscriptions, and rather
    more messages. Subscriptions are placed as if the messages were the window.

    >>> from nearcast.model import Message, Point, Space
    >>> from nearcast.topk import WordStatistics
    >>> messages = MessageBatch.from_messages([Message(1, text="tea", at=Point(0, 0))])
    >>> tea = [TopKSubscription("s", "tea", Point(0, 0))]
    >>> scoring = Scoring.of(Space.EARTH, None, WordStatistics())
    >>> choose("hash", tea, messages, 4, scoring, total_subscriptions=10**6).predicted["hash"]
    Prediction(replicas=1.0, copies=4.0, balance=3.957, seconds=0.0001927)
    """
    check_name(name)
    lowest = lowest_scores(subscriptions, messages, scoring)
    considered = {
        each: kind.plan(subscriptions, messages, shards, scoring, total_subscriptions)
        for each, kind in KINDS.items()
        if name in (each, AUTO)
    }
    predicted = {
        each: _predict(distribution, subscriptions, lowest, messages, scoring, total_subscriptions)
        for each, distribution in considered.items()
    }
    best = min(predicted, key=lambda each: predicted[each].seconds)
    return Choice(considered[best], predicted, reason_for(best, predicted, shards))


def check_name(name: str) -> None:
    """Refuse a name that is no distribution.

    >>> check_name("colour")
    Traceback (most recent call last):
    ValueError: distribution 'colour' is unknown; give one of hash, location, keyword, prefix, auto
    """
    if name not in (*KINDS, AUTO):
        names = ", ".join((*KINDS, AUTO))
        raise ValueError(f"distribution {name!r} is unknown; give one of {names}")


def loads(
    distribution: Distribution,
    subscriptions: Sequence[TopKSubscription],
    lowest: Sequence[float],
    messages: MessageBatch,
    scoring: Scoring,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The share of the subscriptions that each shard has, and of the messages that it gets.

    `lowest` are the lowest scores of the subscriptions' lists, see `lowest_scores`.
    """
    placed = np.zeros(distribution.shards)
    for each, score in zip(subscriptions, lowest, strict=True):
        placement = distribution.placement(each, scoring.statistics)
        needed = max(placement.fewest, placement.needed(score))
        placed[list(placement.shards[:needed])] += 1.0
    targets = distribution.targets(messages, scoring.statistics)
    return placed / max(1, len(subscriptions)), targets.sum(axis=0) / max(1, len(messages))


def _predict(
    distribution: Distribution,
    subscriptions: Sequence[TopKSubscription],
    lowest: Sequence[float],
    messages: MessageBatch,
    scoring: Scoring,
    total_subscriptions: int,
) -> Prediction:
    kept, share = loads(distribution, subscriptions, lowest, messages, scoring)
    work = LISTS.of_share(share, kept * total_subscriptions)
    return Prediction.of(kept, share, work, SEND_SECONDS * float(share.sum()))


def reason_for(best: str, predicted: dict[str, Prediction], shards: int) -> str:
    """Why one of those that were considered is the best, for people."""
    chosen = predicted[best]
    others = ", ".join(
        f"{each.seconds * 1e6:.0f} by {name}" for name, each in predicted.items() if name != best
    )
    return (
        f"{best} on {shards} shard{'s' * (shards > 1)} should take {chosen.seconds * 1e6:.0f} µs a "
        f"message{', against ' + others if others else ''}. It keeps a subscription in "
        f"{chosen.replicas:.2f} shards and sends a message to {chosen.copies:.2f}; the busiest "
        f"shard has {chosen.balance:.2f} times the mean work."
    )
