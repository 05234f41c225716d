"""The model: what shards cost by what one shard costs, and the cluster that follows from it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.kind import Division, SpreadCosts
from benchmarks.scale.law import GrowthLaw
from nearcast.pipeline.frames import ROWS_TOGETHER

Floats = NDArray[np.float64]

MATCHING, TELLING = "taking messages in and matching them", "telling results"
BARE, UNPACKING = "hearing of messages that concern others", "unpacking"
MOVES, ELSEWHERE = "moves", "moves of those in other shards"
MERGING = "merging lists in the driver"
MEMORY = "memory"
"""What can take the time of a shard, or the limit of a cluster."""

_HALVINGS = 40


@dataclass(frozen=True)
class ShardCosts:
    """What was measured on one shard, as laws; times are microseconds of a core.

    - `message`, `move`: a message, but for what it tells, and a move; no law where nothing moves
    - `memory`: bytes; its fixed part is what is kept of messages
    - `told`: for one result that is told; `rate`: how many a message tells for each subscription
    - `spread`: what it takes to hear of everything; None where nothing is spread
    - `merge`: for the driver, to merge one list that has changed
    """

    message: GrowthLaw
    move: GrowthLaw | None
    memory: GrowthLaw
    told: float = 0.0
    rate: float = 0.0
    spread: SpreadCosts | None = None
    merge: float = 0.0

    def parts(self, division: Division, subscriptions: float) -> dict[str, Floats]:
        """What a message of the stream, and a move, take of each shard, on average, and for what.

        What matches is matched somewhere. So a shard that keeps n subscriptions and is visited by
        the share p of the messages finds as much for one of them as a shard with n / p that is
        visited by all, and costs p times as much. Where subscriptions have replicas, n is divided
        by their number, unless each of them is found.
        """
        kept, visited = division.kept * subscriptions, division.visited
        found = kept if division.repeated else kept / division.kept.sum()
        alike = found / np.maximum(visited, 1e-12)
        parts: dict[str, Floats] = {
            MATCHING: visited * self.message.at(alike),
            TELLING: self.told * self.rate * found,
        }
        if self.move is not None:
            parts[MOVES] = division.kept * self.move.at(alike)
        if division.tells_all:
            assert self.spread is not None
            hear = self.spread.hear + self.spread.hear_each * division.shards
            parts[BARE] = hear + (1.0 - visited) * self.spread.bare
            if self.move is not None:
                parts[MOVES] = parts[MOVES] + division.kept * self.spread.again
                parts[ELSEWHERE] = (1.0 - division.kept) * self.spread.elsewhere
        return parts

    def microseconds(self, division: Division, subscriptions: float) -> Floats:
        """All `parts` together."""
        total: Floats = np.sum([*self.parts(division, subscriptions).values()], axis=0)
        return total

    def bytes(self, division: Division, subscriptions: float) -> Floats:
        """What each shard holds: its subscriptions, its share of the messages, who is elsewhere."""
        memory: Floats = self.memory.at(division.kept * subscriptions)
        memory = memory - (1.0 - division.visited) * self.memory.fixed
        if division.tells_all:
            assert self.spread is not None
            memory = memory + self.spread.known_bytes * subscriptions
        return memory


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

    @property
    def room(self) -> float:
        """Bytes of a machine for its shards."""
        return self.bytes_per_machine * self.usable_memory


@dataclass(frozen=True)
class Cluster:
    """What a demand takes.

    - `busiest_parts`: what the busiest shard takes its time for
    - `busiest_hears_everything`: is it the shard that hears every message whole, and others do not?
    - `limit`: what would have to become less, so that more were borne
    - `reach`: how many messages a second are borne
    - `subscriptions_borne`: how many the same division bears at the rate that is asked for
    """

    distribution: str
    shards: int
    visits: float
    replicas: float
    shard_microseconds: float  # of all shards, for a message
    busiest_microseconds: float
    busiest_parts: dict[str, float]
    busiest_hears_everything: bool
    routing_cores: float
    cores: int
    machines: int
    bytes: float
    largest_shard_bytes: float
    network_bytes_per_second: float
    fits: bool
    limit: str
    reach: float
    subscriptions_borne: float

    def suffices(self, demand: Demand) -> bool:
        return self.fits and self.reach >= demand.messages_per_second


def cluster(
    division: Division, costs: ShardCosts, routing: RoutingCosts, demand: Demand
) -> Cluster:
    """What a division takes, whether or not it suffices."""
    subscriptions, rate = demand.subscriptions, demand.messages_per_second
    visits = float(division.visited.sum())
    parts = _parts(division, costs, routing, subscriptions)
    taken: Floats = np.sum([*parts.values()], axis=0)
    held = costs.bytes(division, subscriptions)
    busiest, spread = int(np.argmax(taken)), costs.spread
    copies = division.shards if division.tells_all else visits
    routed = routing.message + routing.copy * copies
    routed += routing.blob * division.shards / ROWS_TOGETHER
    sent = visits * routing.copy_bytes
    if division.tells_all and spread is not None:
        routed += spread.hear + spread.hear_each * division.shards
        sent += (division.shards - visits) * spread.bare_bytes
        sent += division.shards * spread.move_bytes if costs.move is not None else 0.0
    routing_cores = rate * routed * 1e-6 / demand.busy
    cores = division.shards + int(np.ceil(routing_cores))
    merging = _merging(division, costs, subscriptions)
    fits = float(held.max()) <= demand.room
    busiest_parts = {name: float(part[busiest]) for name, part in parts.items()}
    return Cluster(
        distribution=division.distribution,
        shards=division.shards,
        visits=visits,
        replicas=float(division.kept.sum()),
        shard_microseconds=float(taken.sum()),
        busiest_microseconds=float(taken.max()),
        busiest_parts=busiest_parts,
        busiest_hears_everything=division.tells_all and bool(division.visited[busiest] >= 1.0),
        routing_cores=routing_cores,
        cores=cores,
        machines=int(np.ceil(max(cores / demand.cores_per_machine, held.sum() / demand.room))),
        bytes=float(held.sum()),
        largest_shard_bytes=float(held.max()),
        network_bytes_per_second=rate * sent,
        fits=fits,
        limit=(
            MEMORY
            if not fits
            else MERGING
            if merging > taken.max()
            else max(busiest_parts, key=lambda name: busiest_parts[name])
        ),
        reach=demand.busy * 1e6 / max(float(taken.max()), merging),
        subscriptions_borne=_subscriptions_borne(division, costs, routing, demand),
    )


def _parts(
    division: Division, costs: ShardCosts, routing: RoutingCosts, subscriptions: float
) -> dict[str, Floats]:
    heard = np.ones(division.shards) if division.tells_all else division.visited
    return costs.parts(division, subscriptions) | {UNPACKING: heard * routing.unpack}


def _merging(division: Division, costs: ShardCosts, subscriptions: float) -> float:
    """Microseconds of the driver for a message: each list that several shards have parts of."""
    if not division.repeated or float(division.kept.sum()) < 1.0 + 1e-9:
        return 0.0
    return costs.merge * costs.rate * subscriptions


def _subscriptions_borne(
    division: Division, costs: ShardCosts, routing: RoutingCosts, demand: Demand
) -> float:
    """The most with which the rate is borne and every shard fits into a machine, by halving."""
    low, high = 0.0, 100.0 * demand.subscriptions
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        parts = _parts(division, costs, routing, middle)
        taken = float(np.sum([*parts.values()], axis=0).max())
        taken = max(taken, _merging(division, costs, middle))
        is_borne = taken * demand.messages_per_second <= demand.busy * 1e6
        if is_borne and float(costs.bytes(division, middle).max()) <= demand.room:
            low = middle
        else:
            high = middle
    return low


def smallest_cluster(
    plan: Callable[[int], Division],
    numbers: Iterable[int],
    costs: ShardCosts,
    routing: RoutingCosts,
    demand: Demand,
) -> Cluster:
    """That of the first number of shards that suffices, or else the one that reaches furthest.

    Shards that fit into no machine reach nowhere.
    """
    best: Cluster | None = None
    for shards in numbers:
        if shards * demand.most_in_a_shard < demand.subscriptions:
            continue
        found = cluster(plan(shards), costs, routing, demand)
        if best is None or (found.fits, found.reach) > (best.fits, best.reach):
            best = found
        if found.suffices(demand):
            break
    if best is None:
        raise ValueError(
            f"{demand.subscriptions:,} subscriptions need more shards than any of the given ones, "
            f"with {demand.most_in_a_shard:,} in each at the most"
        )
    return best
