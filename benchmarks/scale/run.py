"""Measure one shard of several sizes, fit, predict, and measure what was predicted."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from benchmarks.memory import forget_peak, give_back, peak_rss_bytes
from benchmarks.oracle import WrongAnswerError
from benchmarks.progress import Bar, bar
from benchmarks.records import Record
from benchmarks.run import Keep
from benchmarks.scale import CHECK, CLUSTER, LAW, NAME, ONE_SHARD, ROUTING
from benchmarks.scale.boolean import Boolean
from benchmarks.scale.kind import PASSES, Division, Kind, Measured
from benchmarks.scale.law import LINE, GrowthLaw
from benchmarks.scale.model import Demand, RoutingCosts, ShardCosts, smallest_cluster
from benchmarks.scale.moving import Moving
from benchmarks.scale.routing import measure_routing, routing_costs
from benchmarks.scale.top_k import TopK
from benchmarks.scale.trending import Trending

FITTED = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)  # sizes, as shares of the largest
CHECKED = 3 / 4
CHECKED_SHARDS = (2, 4)
CLUSTER_SHARDS = tuple(2**power for power in range(5, 11))
ROUTED = 20_000
DEMAND = Demand()

Make = Callable[[int, int], Kind]
_KINDS: dict[str, tuple[Make, int, int]] = {  # with subscriptions, and messages of a pass
    "boolean": (Boolean, 800_000, 10_000),
    "moving": (Moving, 160_000, 5_000),
    "trending regions": (lambda n, m: Trending(n, m, is_nearby=False), 80_000, 500),
    "trending nearby": (lambda n, m: Trending(n, m, is_nearby=True), 128_000, 100),
    "top-k": (TopK, 64_000, 1_000),
}


def run_scale(
    keep: Keep, subscriptions: int | None, messages: int | None, only: str | None
) -> list[Record]:
    """Records of all kinds; with fewer subscriptions or messages, a smaller run of the same."""
    chosen = [name for name in _KINDS if only is None or only in name]
    if not chosen:
        raise ValueError(f"{NAME} has no kind {only!r}; it has {', '.join(_KINDS)}")
    records: list[Record] = []
    with bar(1 + len(chosen)) as progress:
        progress.say("routing")
        routed = measure_routing(min(messages or ROUTED, ROUTED))
        for each in routed:
            taken, x = each.message_microseconds, f"{each.distribution}, {each.shards}"
            records.append(_record(ROUTING, "routing", "routing", x, taken, details=asdict(each)))
        progress.advance()
        for name in chosen:
            make, most, usual = _KINDS[name]
            progress.say(f"{name}: data")
            kind = make(min(subscriptions or most, most), min(messages or usual, usual))
            largest = min(subscriptions or most, most)
            run = _Run(kind, largest, routing_costs(routed), progress)
            records += run.records()
            keep(records)
            progress.advance()
    return records


class _Run:
    """One kind."""

    def __init__(self, kind: Kind, largest: int, routing: RoutingCosts, progress: Bar) -> None:
        self._kind = kind
        self._largest = largest
        self._routing = routing
        self._progress = progress

    def records(self) -> list[Record]:
        self._say("compiling")
        self._kind.measure(max(1, round(FITTED[0] * self._largest)), Division.whole())
        sizes = [max(1, round(share * self._largest)) for share in FITTED]
        measured = []
        for size in sizes:
            self._say(f"one shard of {size:,}")
            measured.append(self._kind.measure(size, Division.whole()))
        self._say("telling")
        told = self._kind.told_microseconds()
        self._say("hearing of everything")
        spread = self._kind.spread_costs(sizes[1])
        rate = measured[-1].told / self._told_by / sizes[-1]
        costs = replace(
            _fit(self._kind, sizes, measured, told),
            rate=rate, spread=spread, merge=self._kind.merge_microseconds(),
        )  # fmt: skip
        one_shard = [
            self._measured_record(size, each) for size, each in zip(sizes, measured, strict=True)
        ]
        self._say("loading")
        law = self._law_record(costs, *self._kind.restore(sizes[2]))
        return [*one_shard, law, *self._checks(costs), *self._clusters(costs)]

    def _checks(self, costs: ShardCosts) -> list[Record]:
        """What was predicted for a size that was not fitted, beside what is measured."""
        size = max(1, round(CHECKED * self._largest))
        divisions = [Division.whole()] + [
            self._kind.plan(distribution, shards, size)
            for shards in CHECKED_SHARDS
            for distribution in self._kind.distributions
        ]
        records, right = [], None
        for division in divisions:
            self._say(f"{division.distribution} in {division.shards}")
            predicted = costs.microseconds(division, size)  # before anything is measured
            measured = self._kind.measure(size, division)
            told = measured.told + measured.told_of_moves
            right = told if right is None else right
            if self._kind.tells_apart and told != right:
                raise WrongAnswerError(
                    f"{self._kind.name}, {division.distribution} in {division.shards} shards: "
                    f"{told:,} results were told, not the {right:,} that one shard tells"
                )
            taken = _microseconds(measured)
            kept = [shard.subscriptions / size for shard in measured.shards]
            records.append(
                self._record(
                    CHECK,
                    f"{division.distribution}, {division.shards}",
                    float(taken.sum()),
                    size,
                    {
                        "distribution": division.distribution,
                        "shards": division.shards,
                        "visits": float(division.visited.sum()),
                        "predicted_replicas": float(division.kept.sum()),
                        "replicas": float(sum(kept)),
                        "predicted_total": float(predicted.sum()),
                        "total": float(taken.sum()),
                        "total_ratio": float(predicted.sum() / taken.sum()),
                        "predicted_slowest": float(predicted.max()),
                        "slowest": float(taken.max()),
                        "slowest_ratio": float(predicted.max() / taken.max()),
                        "told": told,
                        "told_compared": self._kind.tells_apart,
                    },
                )
            )
        return records

    def _clusters(self, costs: ShardCosts) -> list[Record]:
        """The cluster for the demand by each distribution, and how it divides at each number."""
        records = []
        for distribution in self._kind.distributions:
            communication: list[dict[str, float]] = []

            def plan(shards: int) -> Division:
                self._say(f"{distribution} in {shards}: planning")  # noqa: B023
                division = self._kind.plan(distribution, shards, DEMAND.subscriptions)  # noqa: B023
                visits, replicas = division.visited.sum(), division.kept.sum()
                communication.append(  # noqa: B023
                    {"shards": shards, "visits": float(visits), "replicas": float(replicas)}
                )
                return division

            found = smallest_cluster(plan, CLUSTER_SHARDS, costs, self._routing, DEMAND)
            details = {
                **asdict(found),
                "suffices": found.suffices(DEMAND),
                "communication": communication,
                "demand": asdict(DEMAND),
            }
            records.append(
                self._record(
                    CLUSTER, distribution, found.shard_microseconds, DEMAND.subscriptions, details
                )
            )
        return records

    def _measured_record(self, size: int, measured: Measured) -> Record:
        [shard] = measured.shards
        details = {
            "message_microseconds": 1e6 * shard.seconds,
            "move_microseconds": 1e6 * shard.move_seconds if self._kind.moves else None,
            "bytes": shard.bytes,
            "told_per_message": measured.told / self._told_by,
        }
        taken = float(_microseconds(measured).sum())
        return self._record(ONE_SHARD, size, taken, size, details)

    def _law_record(self, costs: ShardCosts, restored: int, load_seconds: float) -> Record:
        details = {
            "message": asdict(costs.message),
            "move": None if costs.move is None else asdict(costs.move),
            "memory": asdict(costs.memory),
            "routing": asdict(self._routing),
            "restored_bytes": restored,
            "load_seconds": load_seconds,
            "kept_messages": self._kind.kept_messages,
            "told_microseconds": costs.told,
            "told_per_message_and_subscription": costs.rate,
            "spread": None if costs.spread is None else asdict(costs.spread),
            "merge_microseconds": costs.merge,
        }
        at_largest = float(costs.message.at(float(self._largest)))
        return self._record(LAW, self._kind.name, at_largest, self._largest, details)

    @property
    def _told_by(self) -> int:
        """How many messages told what is counted."""
        return PASSES * self._kind.messages

    def _record(
        self, group: str, x: float | str, taken: float, size: int, details: dict[str, Any]
    ) -> Record:
        return _record(
            group, self._kind.name, self._kind.index, x, taken,
            data=self._kind.data, subscriptions=size, messages=self._kind.messages,
            details={"kind": self._kind.name, **details},
        )  # fmt: skip

    def _say(self, what: str) -> None:
        give_back()
        forget_peak()
        self._progress.say(f"{self._kind.name}: {what}")


def _fit(kind: Kind, sizes: list[int], measured: list[Measured], told: float) -> ShardCosts:
    """Laws; that of messages is for what they take but for `told` microseconds a result."""
    shards = [each.shards[0] for each in measured]
    move = None
    if kind.moves:
        move = GrowthLaw.fit(sizes, [1e6 * shard.move_seconds for shard in shards])
    telling = [told * each.told / (PASSES * kind.messages) for each in measured]
    taken = [1e6 * shard.seconds for shard in shards]
    return ShardCosts(
        GrowthLaw.fit(sizes, [all - part for all, part in zip(taken, telling, strict=True)]),
        move,
        GrowthLaw.fit(sizes, [float(shard.bytes) for shard in shards], LINE),
        told,
    )


def _microseconds(measured: Measured) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Of a message and its move, in each shard."""
    return np.array([1e6 * (shard.seconds + shard.move_seconds) for shard in measured.shards])


def _record(
    group: str,
    series: str,
    index: str,
    x: float | str,
    taken: float,
    *,
    data: str = "synthetic",
    subscriptions: int = 0,
    messages: int = 0,
    details: dict[str, Any],
) -> Record:
    return Record(
        name=NAME,
        index=index,
        data=data,
        subscriptions=subscriptions,
        messages=messages,
        matches_per_message=details.get("told_per_message", 0.0),
        candidates_per_message=None,
        microseconds_per_message=taken,
        microseconds_per_message_passes=(taken,),
        build_seconds=None,
        insert_microseconds=None,
        remove_microseconds=None,
        bytes_per_subscription=None,
        peak_rss_bytes=peak_rss_bytes(),
        answers_checked_against_oracle=0,
        keywords_per_message=0.0,
        workload={},
        details=details,
        series=series,
        group=group,
        x=x,
    )
