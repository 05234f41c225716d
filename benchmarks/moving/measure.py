"""Measure points one after the other: subscribe, fill, let timestamps pass."""

from collections.abc import Sequence
from functools import partial
from statistics import median
from time import perf_counter

from benchmarks.in_turn import measure_in_turn
from benchmarks.memory import forget_peak, give_back, peak_rss_bytes
from benchmarks.moving.contenders import Contender
from benchmarks.moving.oracle import Results, check_results, expected_results
from benchmarks.moving.points import Point
from benchmarks.moving.workload import PASSES, Settings, Workload
from benchmarks.progress import Bar
from benchmarks.records import Record
from benchmarks.run import Keep
from nearcast.moving import APPlusTreeSafe, MovingIndex

_REHEARSAL = Settings(subscriptions=300, live=300)


def run_points(name: str, points: Sequence[Point], keep: Keep) -> list[Record]:
    """A record for each point; `keep` gets those so far."""
    return measure_in_turn(
        points,
        keep,
        make=Workload,
        ask_oracle=expected_results,
        rehearse=rehearse,
        measure=partial(measure, name),
    )


def rehearse(contender: Contender) -> None:
    """Compile what a class needs."""
    workload = Workload(_REHEARSAL)
    index, people = contender.make(), workload.travellers()
    index.subscribe_batch(workload.subscriptions(people))
    index.publish_batch(workload.first_messages())
    for step in workload.steps(people, 2):
        index.publish_batch(step.messages)
        index.move_batch(step.ids, step.regions)


def measure(
    name: str, point: Point, workload: Workload, expected: Results, progress: Bar
) -> Record:
    """One class on one workload; a pass is a timestamp."""
    contender, settings = point.contender, workload.settings
    progress.say(f"{contender.series} at {point.x}: filling")
    forget_peak()
    index, people = contender.make(), workload.travellers()
    subscriptions = workload.subscriptions(people)
    begin = perf_counter()
    index.subscribe_batch(subscriptions)
    build_seconds = perf_counter() - begin
    index.publish_batch(workload.first_messages())
    progress.say(f"{contender.series} at {point.x}: timestamps")
    message_passes, move_passes, told = [], [], [0, 0]
    messages = moves = 0
    words, before = 0, index.stats()
    for number, step in enumerate(workload.steps(people, PASSES + 1)):
        begin = perf_counter()
        by_messages = index.publish_batch(step.messages)
        middle = perf_counter()
        by_moves = index.move_batch(step.ids, step.regions)
        end = perf_counter()
        if number == 0:
            before = index.stats()
            continue
        message_passes.append((middle - begin) / len(step.messages) * 1e6)
        move_passes.append((end - middle) / max(1, len(step.ids)) * 1e6)
        told[0] += len(by_messages)
        told[1] += len(by_moves)
        messages += len(step.messages)
        moves += len(step.ids)
        words = len(step.messages.words)
    after = index.stats()
    give_back()
    return Record(
        name=name,
        index=contender.index,
        data=workload.data,
        subscriptions=settings.subscriptions,
        messages=messages,
        matches_per_message=told[0] / messages,
        candidates_per_message=None,
        microseconds_per_message=median(message_passes),
        microseconds_per_message_passes=tuple(message_passes),
        build_seconds=build_seconds,
        insert_microseconds=None,
        remove_microseconds=None,
        bytes_per_subscription=after.subscription_bytes / settings.subscriptions,
        peak_rss_bytes=peak_rss_bytes(),
        answers_checked_against_oracle=check_results(contender.series, index, expected),
        keywords_per_message=words / (messages / PASSES),
        workload=workload.description,
        messages_per_second=1e6 / median(message_passes),
        microseconds_per_move=median(move_passes),
        details={
            "microseconds_per_move_passes": move_passes,
            "moves": moves,
            "changes_per_move": told[1] / max(1, moves),
            "candidates_per_move": (after.candidates - before.candidates) / max(1, moves),
            "bytes_per_message": after.message_bytes / max(1, after.messages),
            "index_bytes": after.subscription_bytes + after.message_bytes,
            "live": after.messages,
            "inserting_microseconds": (after.inserting - before.inserting) / messages * 1e6,
            "relocating_microseconds": (after.relocating - before.relocating) / max(1, moves) * 1e6,
            **_communication(index),
        },
        series=contender.series,
        group=point.group,
        x=point.x,
    )


def _communication(index: MovingIndex) -> dict[str, int]:
    """What clients and the server sent each other, the first timestamp included."""
    if not isinstance(index, APPlusTreeSafe):
        moves = index.stats().moves  # every one is reported
        return {"positions": moves, "reports": moves, "contacts": 0}
    sent = index.communication
    return {"positions": sent.moves, "reports": sent.reports, "contacts": sent.contacts}
