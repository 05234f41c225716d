"""Measure points one after the other: subscribe, let documents come, let them be forgotten."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.in_turn import measure_in_turn
from benchmarks.memory import forget_peak, give_back, peak_rss_bytes
from benchmarks.progress import Bar
from benchmarks.records import Record
from benchmarks.run import Keep
from benchmarks.trending.contenders import Contender
from benchmarks.trending.oracle import Lists, check_lists, expected_lists
from benchmarks.trending.points import Point
from benchmarks.trending.workload import FRESH, PASSES, Settings, Workload, make
from nearcast.trending import TrendingIndex

_REHEARSAL = Settings(subscriptions=300, documents=100, messages=50)
_FEW = 10  # newcomers where each takes long


def run_points(name: str, points: Sequence[Point], keep: Keep) -> list[Record]:
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
    """Compile what a class needs."""
    workload = make(replace(_REHEARSAL, is_nearby=contender.is_nearby))
    index = contender.make(workload)
    subscribe_all(index, workload)
    index.publish_batch(workload.documents())
    register(index, workload, 3)
    forget(index, workload)


def subscribe_all(index: TrendingIndex, workload: Workload) -> float:
    """All but the newcomers: the seconds that it took."""
    seconds = 0.0
    for subscriptions in workload.subscriptions():
        start = perf_counter()
        index.subscribe_many(subscriptions)
        seconds += perf_counter() - start
    return seconds


def register(index: TrendingIndex, workload: Workload, count: int) -> tuple[float, float]:
    """Newcomers, one by one, and they go again: microseconds for each."""
    newcomers = workload.fresh()[:count]
    start = perf_counter()
    for subscription in newcomers:
        index.subscribe(subscription)
    middle = perf_counter()
    for subscription in newcomers:
        index.unsubscribe(subscription.id)
    end = perf_counter()
    return (middle - start) / len(newcomers) * 1e6, (end - middle) / len(newcomers) * 1e6


def forget(index: TrendingIndex, workload: Workload) -> float:
    """The earliest documents, as many as a pass has, are forgotten: microseconds for each."""
    time = np.sort(workload.everything().time)[workload.settings.messages - 1]
    before = index.stats().documents
    start = perf_counter()
    index.advance(float(time) + index.decay.horizon * index.decay.half_life)
    seconds = perf_counter() - start
    return seconds / max(1, before - index.stats().documents) * 1e6


def share_of_updating(index: TrendingIndex, workload: Workload) -> float:
    """Of what documents take, the share in which lists are changed; it takes a pass of its own."""
    index.count_cycles()
    index.publish_batch(workload.stream(PASSES + 1))
    stats = index.stats()
    return stats.updating_cycles / stats.cycles


def measure(name: str, point: Point, workload: Workload, expected: Lists, progress: Bar) -> Record:
    """One class on one workload.

    Around places documents come before subscriptions: all of them concern everybody, and there are
    classes that would take hours.
    """
    contender, settings = point.contender, workload.settings
    progress.say(f"{contender.series} at {point.x}: subscribing")
    forget_peak()
    index = contender.make(workload)
    if settings.is_nearby:
        index.publish_batch(workload.documents())
        build_seconds = subscribe_all(index, workload)
    else:
        build_seconds = subscribe_all(index, workload)
        index.publish_batch(workload.documents())
    inserting, removing = register(index, workload, _FEW if settings.is_nearby else FRESH)
    progress.say(f"{contender.series} at {point.x}: documents")
    index.publish_batch(workload.stream(0))
    before = index.stats()
    changed, passes = 0, []
    for number in range(1, PASSES + 1):
        messages = workload.stream(number)
        begin = perf_counter()
        lists = index.publish_batch(messages)
        passes.append((perf_counter() - begin) / len(messages) * 1e6)
        changed += int(lists.sum())
    after, total = index.stats(), PASSES * settings.messages
    updating = share_of_updating(index, workload) * median(passes)
    checked = check_lists(contender.series, index, expected)
    forgetting = None if settings.is_nearby else forget(index, workload)
    give_back()
    return Record(
        name=name,
        index=contender.index,
        data=workload.source.name,
        subscriptions=settings.subscriptions,
        messages=total,
        matches_per_message=changed / total,
        candidates_per_message=(after.candidates - before.candidates) / total,
        microseconds_per_message=median(passes),
        microseconds_per_message_passes=tuple(passes),
        build_seconds=build_seconds,
        insert_microseconds=inserting,
        remove_microseconds=removing,
        bytes_per_subscription=after.bytes / settings.subscriptions,
        peak_rss_bytes=peak_rss_bytes(),
        answers_checked_against_oracle=checked,
        keywords_per_message=workload.stream(1).words.size / settings.messages,
        workload=workload.description,
        messages_per_second=1e6 / median(passes),
        arriving_microseconds=median(passes),
        expiring_microseconds=forgetting,
        matching_microseconds=median(passes) - updating,
        updating_microseconds=updating,
        details={
            "updated_per_message": (after.updated - before.updated) / total,
            "computed_per_message": (after.computed - before.computed) / total,
            "documents": after.documents,
        },
        series=contender.series,
        group=point.group,
        x=point.x,
    )
