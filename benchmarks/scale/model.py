"""The model: what shards cost by what one shard costs, and the cluster that follows from it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.kind import Division
from benchmarks.scale.law import GrowthLaw
from nearcast.pipeline.frames import ROWS_TOGETHER

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ShardCosts:
    """What was measured on one shard, as laws; times are microseconds of a core.

    - `message`, `move`: a message, and a move; no law where nothing moves
    - `memory`: bytes; its fixed part is what is kept of messages
    """

    message: GrowthLaw
    move: GrowthLaw | None
    memory: GrowthLaw

    def microseconds(self, division: Division, subscriptions: float) -> Floats:
        """What a message of the stream, and a move, take of each shard, on average.

        What matches is matched somewhere. So a shard that keeps n subscriptions and is visited by
        the share p of the messages finds as much for one of them as a shard with n / p that is
        visited by all, and costs p times as much. Where subscriptions have replicas, n is divided
        by their number, unless each of them is found.
        """
        kept, visited = division.kept * subscriptions, division.visited
        found = kept if division.repeated else kept / division.kept.sum()
        alike = found / np.maximum(visited, 1e-12)
        taken: Floats = visited * self.message.at(alike)
        if self.move is not None:
            taken = taken + division.kept * self.move.at(alike)
        return taken

    def bytes(self, division: Division, subscriptions: float) -> Floats:
        """What each shard holds: its subscriptions, and its share of the messages."""
        memory: Floats = self.memory.at(division.kept * subscriptions)
        return memory - (1.0 - division.visited) * self.memory.fixed


@dataclass(frozen=True)
class RoutingCosts:
    """Microseconds of a core, and bytes.

    A message by itself is read and split into words; a copy of it is packed, and unpacked by its
    shard; a blob is what a batch of messages becomes for one shard.
    """

    message: float
    copy: float
    blob: float
    unpack: float
    copy_bytes: float


@dataclass(frozen=True)
class Demand:
    """What a cluster is to do, and of what machines it is made."""

    subscriptions: int = 100_000_000
    messages_per_second: int = 100_000
    busy: float = 0.6  # the share of a core's time that is planned with
    most_in_a_shard: int = 4_000_000
    cores_per_machine: int = 16
    bytes_per_machine: int = 64 << 30
    usable_memory: float = 0.5  # the rest is for Spark, files and what comes and goes


@dataclass(frozen=True)
class Cluster:
    """What a demand takes; `reach` is how many messages a second the busiest shard would bear."""

    distribution: str
    shards: int
    visits: float
    replicas: float
    shard_microseconds: float  # of all shards, for a message
    busiest_microseconds: float
    routing_cores: float
    cores: int
    machines: int
    bytes: float
    largest_shard_bytes: float
    network_bytes_per_second: float
    reach: float

    def suffices(self, demand: Demand) -> bool:
        return self.reach >= demand.messages_per_second


def cluster(
    division: Division, costs: ShardCosts, routing: RoutingCosts, demand: Demand
) -> Cluster:
    """What a division takes, whether or not it suffices."""
    visits = float(division.visited.sum())
    taken = costs.microseconds(division, demand.subscriptions)
    taken = taken + division.visited * routing.unpack
    held = costs.bytes(division, demand.subscriptions)
    rate = demand.messages_per_second
    blobs = routing.blob * division.shards / ROWS_TOGETHER
    routed = routing.message + routing.copy * visits + blobs
    routing_cores = rate * routed * 1e-6 / demand.busy
    cores = division.shards + int(np.ceil(routing_cores))
    room = demand.bytes_per_machine * demand.usable_memory
    return Cluster(
        distribution=division.distribution,
        shards=division.shards,
        visits=visits,
        replicas=float(division.kept.sum()),
        shard_microseconds=float(taken.sum()),
        busiest_microseconds=float(taken.max()),
        routing_cores=routing_cores,
        cores=cores,
        machines=int(np.ceil(max(cores / demand.cores_per_machine, held.sum() / room))),
        bytes=float(held.sum()),
        largest_shard_bytes=float(held.max()),
        network_bytes_per_second=rate * visits * routing.copy_bytes,
        reach=demand.busy * 1e6 / float(taken.max()),
    )


def smallest_cluster(
    plan: Callable[[int], Division],
    numbers: Iterable[int],
    costs: ShardCosts,
    routing: RoutingCosts,
    demand: Demand,
) -> Cluster:
    """That of the first number of shards that suffices, or else the one that reaches furthest."""
    best: Cluster | None = None
    for shards in numbers:
        if shards * demand.most_in_a_shard < demand.subscriptions:
            continue
        found = cluster(plan(shards), costs, routing, demand)
        if best is None or found.reach > best.reach:
            best = found
        if found.suffices(demand):
            break
    if best is None:
        raise ValueError(
            f"{demand.subscriptions:,} subscriptions need more shards than any of the given ones, "
            f"with {demand.most_in_a_shard:,} in each at the most"
        )
    return best
