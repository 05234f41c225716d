"""`choose`: which partitioning is the quickest for this work, and why?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.pipeline.partitioning.cost import shard_seconds
from nearcast.pipeline.partitioning.hash import Hash
from nearcast.pipeline.partitioning.hashing import Hashes
from nearcast.pipeline.partitioning.keyword import Keyword
from nearcast.pipeline.partitioning.location import Location
from nearcast.pipeline.partitioning.metrics import Metrics, metrics_of, rows_a_shard
from nearcast.pipeline.partitioning.partitioning import Partitioning

# Where two are predicted to be equally quick, the first one is chosen: it is the simplest.
NAMES = (Hash.name, Location.name, Keyword.name)
AUTO = "auto"
MOST_SUBSCRIPTIONS_A_SHARD = 4_000_000


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a partitioning is expected to cost: all in all, until its slowest shard is done."""

    seconds: float
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class Plan:
    """A partitioning, what was predicted for each one that was considered, and the reason."""

    partitioning: Partitioning
    predicted: dict[str, Prediction]
    why: str


def number_of_shards(total_subscriptions: int, cores: int) -> int:
    """One shard a core, and more where a shard would get too large for one task.

    >>> number_of_shards(1_000_000, cores=2), number_of_shards(30_000_000, cores=2)
    (2, 8)
    """
    if cores < 1:
        raise ValueError(f"{cores} cores do no work; give at least 1")
    return max(cores, -(-total_subscriptions // MOST_SUBSCRIPTIONS_A_SHARD))


def plan_for(
    name: str,
    subscriptions: SubscriptionBatch,
    id_hash: Hashes,
    messages: MessageBatch,
    *,
    total_subscriptions: int,
    total_messages: int,
    shards: int,
) -> Plan:
    """A plan with the partitioning of that name: "hash", "location", "keyword", or "auto".

    "auto" is `choose`; the arguments are those of `choose`.
    """
    check_name(name)
    return _plan(
        NAMES if name == AUTO else [name],
        subscriptions, id_hash, messages, total_subscriptions, total_messages, shards,
    )  # fmt: skip


def choose(
    subscriptions: SubscriptionBatch,
    id_hash: Hashes,
    messages: MessageBatch,
    *,
    total_subscriptions: int,
    total_messages: int,
    shards: int,
) -> Plan:
    """The plan whose slowest shard is predicted to be done first.  Well under a second.

    Every partitioning is planned with the samples, the samples are routed by it, and the rows that
    each shard gets are scaled up to the totals and priced by the model of `cost.py`.

    Parameters
    ----------
    subscriptions, messages: random samples; 20,000 of each are plenty
    id_hash: `hash_ids` of the sampled subscriptions' ids
    total_subscriptions, total_messages: how many there are, or will be
    """
    return _plan(
        NAMES, subscriptions, id_hash, messages, total_subscriptions, total_messages, shards
    )


def check_name(name: str) -> None:
    """Refuse a name that is no partitioning.

    >>> check_name("prefix")
    Traceback (most recent call last):
    ValueError: partitioning 'prefix' is for top-k subscriptions; for boolean ones give one of ...
    """
    if name in (*NAMES, AUTO):
        return
    names = ", ".join(repr(known) for known in (*NAMES, AUTO))
    if name == "prefix":
        raise ValueError(
            f"partitioning 'prefix' is for top-k subscriptions; for boolean ones give one of "
            f"{names}"
        )
    raise ValueError(f"partitioning {name!r} is unknown; give one of {names}")


def _plan(
    names: Iterable[str],
    subscriptions: SubscriptionBatch,
    id_hash: Hashes,
    messages: MessageBatch,
    total_subscriptions: int,
    total_messages: int,
    shards: int,
) -> Plan:
    considered: dict[str, Partitioning] = {}
    predicted: dict[str, Prediction] = {}
    for name in names:
        partitioning = _planned(
            name, subscriptions, id_hash, messages, total_subscriptions, total_messages, shards
        )
        counts = rows_a_shard(partitioning, subscriptions, id_hash, messages)
        kept = counts[0] * (total_subscriptions / max(len(subscriptions), 1))
        visited = counts[1] * (total_messages / max(len(messages), 1))
        seconds = float(shard_seconds(kept, visited).max())
        considered[name] = partitioning
        predicted[name] = Prediction(
            seconds, metrics_of(*counts, len(subscriptions), len(messages))
        )
    best = min(predicted, key=lambda name: predicted[name].seconds)
    return Plan(considered[best], predicted, _reason(best, predicted, shards))


def _planned(
    name: str,
    subscriptions: SubscriptionBatch,
    id_hash: Hashes,
    messages: MessageBatch,
    total_subscriptions: int,
    total_messages: int,
    shards: int,
) -> Partitioning:
    if name == Hash.name:
        return Hash(shards)
    kind = Location if name == Location.name else Keyword
    return kind.plan(
        subscriptions,
        id_hash,
        messages,
        shards,
        total_subscriptions=total_subscriptions,
        total_messages=total_messages,
    )


def _reason(best: str, predicted: dict[str, Prediction], shards: int) -> str:
    chosen = predicted[best]
    others = " and ".join(
        f"{_seconds(other.seconds)} by {name}" for name, other in predicted.items() if name != best
    )
    return (
        f"{best} on {shards} shard{'s' * (shards > 1)} should take {_seconds(chosen.seconds)}"
        f"{', against ' + others if others else ''}. "
        f"It keeps a subscription in {chosen.metrics.replication:.2f} shards and sends a message "
        f"to {chosen.metrics.shards_per_message:.2f} on average; "
        f"the busiest shard has {chosen.metrics.balance:.2f} times the mean work."
    )


def _seconds(seconds: float) -> str:
    return "less than 0.1 s" if seconds < 0.1 else f"{seconds:.2g} s"
