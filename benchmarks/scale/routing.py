"""What it takes to read messages, route them and pack them for their shards, and to unpack them."""

from dataclasses import dataclass

import numpy as np

from benchmarks import workloads
from benchmarks.pipeline.tables import message_table
from benchmarks.scale.kind import PASSES, core_seconds
from benchmarks.scale.model import RoutingCosts
from nearcast.pipeline.packing import unpack_messages
from nearcast.pipeline.partitioning import hash_ids, plan_for
from nearcast.pipeline.partitioning.cost import MANY
from nearcast.pipeline.routing import route_messages

_PLANS = (
    ("hash", 1), ("location", 4), ("location", 64), ("location", 512),
    ("keyword", 4), ("keyword", 16), ("keyword", 64),
)  # fmt: skip
_SAMPLE = 20_000


@dataclass(frozen=True)
class Routed:
    """One way to route; microseconds of a core a message, and a copy."""

    distribution: str
    shards: int
    messages: int
    visits: float
    message_microseconds: float
    unpack_microseconds: float
    copy_bytes: float


def measure_routing(messages: int) -> list[Routed]:
    """Synthetic tweets in one task, by several partitionings."""
    made = workloads.make(workloads.Settings(subscriptions=_SAMPLE, messages=messages))
    table, space = message_table(made.messages), made.messages.space
    hashes = hash_ids(made.subscriptions.ids)
    found = []
    for distribution, shards in _PLANS:
        rule = plan_for(
            distribution, made.subscriptions, hashes, made.history,
            total_subscriptions=MANY, total_messages=MANY, shards=shards,
        ).partitioning  # fmt: skip
        copies = list(route_messages(iter(table.to_batches()), rule, space))
        blobs = [data.as_buffer() for copy in copies for data in copy["data"]]
        visits = sum(len(unpack_messages(blob)) for blob in blobs)

        def route() -> None:
            list(route_messages(iter(table.to_batches()), rule, space))  # noqa: B023

        def unpack() -> None:
            for blob in blobs:  # noqa: B023
                unpack_messages(blob)

        routing = min(core_seconds(route) for _ in range(PASSES))
        unpacking = min(core_seconds(unpack) for _ in range(PASSES))
        found.append(
            Routed(
                distribution=distribution,
                shards=shards,
                messages=messages,
                visits=visits / messages,
                message_microseconds=1e6 * routing / messages,
                unpack_microseconds=1e6 * unpacking / visits,
                copy_bytes=sum(blob.size for blob in blobs) / visits,
            )
        )
    return found


def routing_costs(found: list[Routed]) -> RoutingCosts:
    """What messages took, by their visits and by the shards that a batch is packed for.

    Of what a copy takes, the mean.
    """
    columns = np.array([[1.0, each.visits, each.shards / each.messages] for each in found])
    taken = np.array([each.message_microseconds for each in found])
    message, copy, blob = np.linalg.lstsq(columns, taken, rcond=None)[0].tolist()
    return RoutingCosts(
        message=max(0.0, message),
        copy=max(0.0, copy),
        blob=max(0.0, blob),
        unpack=float(np.mean([each.unpack_microseconds for each in found])),
        copy_bytes=float(np.mean([each.copy_bytes for each in found])),
    )
