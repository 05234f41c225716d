"""Measure distributions: plan, fill the window, subscribe, let messages come."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.in_turn import measure_in_turn
from benchmarks.memory import forget_peak, give_back, peak_rss_bytes
from benchmarks.progress import Bar
from benchmarks.records import Record
from benchmarks.run import Keep
from benchmarks.topk.contenders import Contender
from benchmarks.topk.oracle import Lists, check_lists, expected_lists
from benchmarks.topk.points import Point
from benchmarks.topk.workload import HISTORY, PASSES, Settings, Workload, make
from nearcast.topk.distributions import Choice, DistributedLists, Distribution, choose
from nearcast.topk.index import Scoring

_SAMPLE = 5_000  # subscriptions that plans are made from
_REHEARSAL = Settings(subscriptions=100, window=300, messages=50)


def run_distributions(name: str, points: Sequence[Point], keep: Keep) -> list[Record]:
    """A record for each point; `keep` gets those so far."""
    return measure_in_turn(
        points,
        keep,
        make=make,
        ask_oracle=expected_lists,
        rehearse=rehearse,
        measure=partial(measure, name),
    )


def rehearse(contender: Contender) -> None:
    """Compile what shards need."""
    workload = make(_REHEARSAL)
    index = lists_of(workload, _planned(contender, workload).distribution)
    fill(index, workload)
    index.publish_together(workload.stream(0))


def measure(name: str, point: Point, workload: Workload, expected: Lists, progress: Bar) -> Record:
    """One distribution on one workload."""
    settings, shards = workload.settings, int(point.contender.parameters["shards"])
    progress.say(f"{point.contender.series} at {point.x}: filling")
    forget_peak()
    choice = _planned(point.contender, workload)
    index = lists_of(workload, choice.distribution)
    build_seconds = fill(index, workload)
    progress.say(f"{point.contender.series} at {point.x}: messages")
    index.publish_together(workload.stream(0))
    sent, before = replace(index.sent), index.stats()
    changed, passes, seconds = 0, [], [index.shard_seconds()]
    for number in range(1, PASSES + 1):
        messages = workload.stream(number)
        begin = perf_counter()
        changed += len(index.publish_together(messages))
        passes.append((perf_counter() - begin) / len(messages) * 1e6)
        seconds.append(index.shard_seconds())
    after, total = index.stats(), PASSES * settings.messages
    # The best pass of each shard: other work on the machine only ever adds.
    work: NDArray[np.float64] = np.diff(seconds, axis=0).min(axis=0)
    placed = index.subscriptions_by_shard()
    copies = (index.sent.to_shards - sent.to_shards) / total
    give_back()
    return Record(
        name=name,
        index=point.contender.index,
        data=workload.source.name,
        subscriptions=settings.subscriptions,
        messages=total,
        matches_per_message=changed / total,
        candidates_per_message=(after.candidates - before.candidates) / total,
        microseconds_per_message=median(passes),
        microseconds_per_message_passes=tuple(passes),
        build_seconds=build_seconds,
        insert_microseconds=None,
        remove_microseconds=None,
        bytes_per_subscription=after.bytes / settings.subscriptions,
        peak_rss_bytes=peak_rss_bytes(),
        answers_checked_against_oracle=check_lists(point.contender.series, index, expected),
        keywords_per_message=workload.stream(1).words.size / settings.messages,
        workload=workload.description,
        details={
            "distribution": point.contender.series,
            "shards": shards,
            "replicas": float(placed.sum()) / settings.subscriptions,
            "copies": copies,
            "message_copies": (index.sent.messages - sent.messages) / total,
            "reallocated": (index.sent.reallocated - sent.reallocated) / total,
            "released": (index.sent.released - sent.released) / total,
            "results_sent": (index.sent.results - sent.results) / total,
            "communication_of_hash": copies / shards,
            "balance": float(work.max() / work.mean()),
            "most_subscriptions_in_a_shard": int(placed.max()),
            "slowest_per_second": settings.messages / float(work.max()),
            "why": choice.why,
        },
        series=point.contender.series,
        group=point.group,
        x=point.x,
    )


def _planned(contender: Contender, workload: Workload) -> Choice:
    """The distribution, planned from messages before the window and from some subscriptions."""
    count = workload.settings.subscriptions
    chosen = np.random.default_rng(0).permutation(count)[:_SAMPLE]
    return choose(
        contender.parameters["distribution"],
        [workload.subscription(n) for n in chosen.tolist()],
        workload.source.take(0, HISTORY),
        contender.parameters["shards"],
        scoring(workload),
        total_subscriptions=count,
    )


def scoring(workload: Workload) -> Scoring:
    """How lists are scored."""
    return Scoring.of(workload.source.space, workload.max_dist, workload.statistics)


def lists_of(workload: Workload, distribution: Distribution) -> DistributedLists:
    """Shards of this distribution, empty."""
    return DistributedLists(
        workload.window,
        distribution=distribution,
        space=workload.source.space,
        max_dist=workload.max_dist,
        statistics=workload.statistics,
    )


def fill(index: DistributedLists, workload: Workload) -> float:
    """A full window and all subscriptions: the seconds that the subscriptions took."""
    for messages in workload.fill():
        index.publish_together(messages)
    start = perf_counter()
    for subscriptions in workload.subscriptions():
        index.subscribe_many(subscriptions)
    return perf_counter() - start
