"""Measure points one after the other: subscribe, let documents come, let them be forgotten."""

from collections.abc import Sequence
from itertools import groupby
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.memory import forget_peak, give_back, peak_rss_bytes
from benchmarks.progress import Bar, bar
from benchmarks.records import Record
from benchmarks.run import Keep
from benchmarks.trending.contenders import Contender
from benchmarks.trending.oracle import Lists, check_lists, expected_lists
from benchmarks.trending.points import Point
from benchmarks.trending.workload import FRESH, PASSES, Settings, Workload, make
from nearcast.trending import TrendingIndex

_REHEARSAL = Settings(subscriptions=300, documents=100, messages=50)


def run_points(name: str, points: Sequence[Point], keep: Keep) -> list[Record]:
    """A record for each point; `keep` gets those so far."""
    records: list[Record] = []
    rehearsed: set[str] = set()
    with bar(len(points)) as progress:
        for settings, group in groupby(points, key=lambda point: point.settings):
            progress.say(f"making {settings.data} data")
            workload = make(settings)
            progress.say("asking the oracle")
            expected = expected_lists(workload)
            for point in group:
                if point.contender.index not in rehearsed:
                    rehearsed.add(point.contender.index)
                    progress.say(f"{point.contender.series}: compiling")
                    rehearse(point.contender)
                records.append(measure(name, point, workload, expected, progress))
                keep(records)
                progress.advance()
    return records


def rehearse(contender: Contender) -> None:
    """Compile what a class needs."""
    workload = make(_REHEARSAL)
    index = contender.make(workload)
    for subscriptions in workload.subscriptions():
        index.subscribe_many(subscriptions)
    index.publish_batch(workload.documents())
    for subscription in workload.fresh()[:3]:
        index.subscribe(subscription)
        index.unsubscribe(subscription.id)
    forget(index, workload)


def forget(index: TrendingIndex, workload: Workload) -> float:
    """The earliest documents, as many as a pass has, are forgotten: microseconds for each."""
    time = np.sort(workload.everything().time)[workload.settings.messages - 1]
    before = index.stats().documents
    start = perf_counter()
    index.advance(float(time) + index.decay.horizon * index.decay.half_life)
    seconds = perf_counter() - start
    return seconds / max(1, before - index.stats().documents) * 1e6


def measure(name: str, point: Point, workload: Workload, expected: Lists, progress: Bar) -> Record:
    """One class on one workload."""
    contender, settings = point.contender, workload.settings
    progress.say(f"{contender.series} at {point.x}: subscribing")
    forget_peak()
    index = contender.make(workload)
    build_seconds = 0.0
    for subscriptions in workload.subscriptions():
        start = perf_counter()
        index.subscribe_many(subscriptions)
        build_seconds += perf_counter() - start
    index.publish_batch(workload.documents())
    newcomers = workload.fresh()
    start = perf_counter()
    for subscription in newcomers:
        index.subscribe(subscription)
    middle = perf_counter()
    for subscription in newcomers:
        index.unsubscribe(subscription.id)
    end = perf_counter()
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
    checked = check_lists(contender.series, index, expected)
    forgetting = forget(index, workload)
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
        insert_microseconds=(middle - start) / FRESH * 1e6,
        remove_microseconds=(end - middle) / FRESH * 1e6,
        bytes_per_subscription=after.bytes / settings.subscriptions,
        peak_rss_bytes=peak_rss_bytes(),
        answers_checked_against_oracle=checked,
        keywords_per_message=workload.stream(1).words.size / settings.messages,
        workload=workload.description,
        messages_per_second=1e6 / median(passes),
        arriving_microseconds=median(passes),
        expiring_microseconds=forgetting,
        details={
            "updated_per_message": (after.updated - before.updated) / total,
            "computed_per_message": (after.computed - before.computed) / total,
            "documents": after.documents,
        },
        series=contender.series,
        group=point.group,
        x=point.x,
    )
