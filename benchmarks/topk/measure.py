"""Measure points one after the other: fill the window, subscribe, let messages come."""

from collections.abc import Sequence
from functools import partial
from statistics import median
from time import perf_counter

from benchmarks.in_turn import measure_in_turn
from benchmarks.memory import forget_peak, give_back, peak_rss_bytes
from benchmarks.progress import Bar
from benchmarks.records import Record
from benchmarks.run import Keep
from benchmarks.topk.contenders import Contender
from benchmarks.topk.oracle import Lists, check_lists, expected_lists
from benchmarks.topk.points import Point
from benchmarks.topk.workload import FRESH, PASSES, Settings, Workload, make
from nearcast.topk import TopKIndex

_REHEARSAL = Settings(subscriptions=300, window=300, messages=50)


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
    workload = make(_REHEARSAL)
    index = contender.make(workload)
    fill(index, workload)
    index.publish_batch(workload.stream(0))
    for subscription in workload.fresh()[:3]:
        index.subscribe(subscription)
        index.unsubscribe(subscription.id)


def fill(index: TopKIndex, workload: Workload) -> float:
    """A full window and all subscriptions: the seconds that the subscriptions took."""
    for messages in workload.fill():
        index.publish_batch(messages)
    seconds = 0.0
    for subscriptions in workload.subscriptions():
        start = perf_counter()
        index.subscribe_many(subscriptions)
        seconds += perf_counter() - start
    return seconds


def measure(name: str, point: Point, workload: Workload, expected: Lists, progress: Bar) -> Record:
    """One class on one workload."""
    contender, settings = point.contender, workload.settings
    progress.say(f"{contender.series} at {point.x}: filling")
    forget_peak()
    index = contender.make(workload)
    build_seconds = fill(index, workload)
    newcomers = workload.fresh()
    start = perf_counter()
    for subscription in newcomers:
        index.subscribe(subscription)
    middle = perf_counter()
    for subscription in newcomers:
        index.unsubscribe(subscription.id)
    end = perf_counter()
    progress.say(f"{contender.series} at {point.x}: messages")
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
        answers_checked_against_oracle=check_lists(contender.series, index, expected),
        keywords_per_message=workload.stream(1).words.size / settings.messages,
        workload=workload.description,
        messages_per_second=1e6 / median(passes),
        arriving_microseconds=(after.arriving - before.arriving) / total * 1e6,
        expiring_microseconds=(after.expiring - before.expiring) / total * 1e6,
        buffered_per_subscription=after.buffered / settings.subscriptions,
        details={
            "affected_per_message": (after.affected - before.affected) / total,
            "reevaluations_per_message": (after.reevaluations - before.reevaluations) / total,
        },
        series=contender.series,
        group=point.group,
        x=point.x,
    )
