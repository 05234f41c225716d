"""Each kind by each distribution in a stream, against one process; and after a kill."""

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather
from pyspark.sql import SparkSession

from benchmarks.memory import forget_peak, give_back, peak_rss_bytes
from benchmarks.oracle import WrongAnswerError
from benchmarks.pipeline.kinds.boolean import Boolean
from benchmarks.pipeline.kinds.kind import Step, StreamedKind
from benchmarks.pipeline.kinds.moving import Moving
from benchmarks.pipeline.kinds.running import RunningKind
from benchmarks.pipeline.kinds.top_k import TopK
from benchmarks.pipeline.kinds.trending import Trending
from benchmarks.records import Record
from nearcast.pipeline import Progress

KINDS, RECOVERY = "kinds", "recovery"  # groups of records
WARM, BATCHES, KILLS = 3, 8, 3
STEPS = WARM + BATCHES + KILLS + 1
MOSTLY = 0.99  # of what is told, where lists are approximate
SHARDS, SPREAD = (1, 2), 4
"""Shards by hash; and by each distribution, so many that each can save something."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Usual:
    """How a kind is made, with how many subscriptions, and messages of a batch, if none are asked
    for; and how a stream may distribute it."""

    make: Callable[[int, int], StreamedKind]
    subscriptions: int
    messages: int
    distributions: tuple[str, ...]


ALL = {
    "boolean": Usual(
        lambda n, m: Boolean(n, m, STEPS), 100_000, 100_000, ("hash", "location", "keyword")
    ),
    "top-k": Usual(TopK, 100_000, 10_000, ("hash", "location", "keyword", "prefix")),
    "trending regions": Usual(
        lambda n, m: Trending(n, m, is_nearby=False), 100_000, 1_000, ("hash", "location")
    ),
    "trending nearby": Usual(lambda n, m: Trending(n, m, is_nearby=True), 10_000, 100, ("hash",)),
    "moving": Usual(lambda n, m: Moving(n, m, STEPS), 100_000, 2_000, ("hash", "location")),
}


@dataclass(frozen=True)
class _Alone:
    """What one process took for the batches that count, and a file of what it told for each.

    - `counts`: how many rows the files have; all together may be larger than the memory
    """

    seconds: tuple[float, ...]
    loading: float
    files: list[Path]
    counts: list[int]

    def told(self, number: int) -> pa.Table:
        """Of a batch."""
        return feather.read_table(self.files[number])


class KindInStreams:
    """A kind in one process, then in streams of some shards, which must tell the same."""

    def __init__(
        self, name: str, subscriptions: int | None, messages: int | None, say: Say
    ) -> None:
        say(f"{name}: data")
        usual = ALL[name]
        self.name = name
        self._kind = usual.make(
            subscriptions or usual.subscriptions, min(messages or usual.messages, usual.messages)
        )
        self._is_spread = len(usual.distributions) > 1
        self._steps = [self._kind.step(number) for number in range(STEPS)]
        self._say = say
        self._folder = tempfile.TemporaryDirectory()

    @cached_property
    def _alone(self) -> _Alone:
        self._say(f"{self.name}: in one process")
        forget_peak()
        return _in_one_process(self._kind, self._steps, Path(self._folder.name))

    def in_one_process(self) -> Record:
        """What the others are compared with."""
        return _alone_record(self._kind, self._alone)

    def records(self, spark: SparkSession, distribution: str) -> Iterator[Record]:
        """One for each number of shards, and one after kills."""
        for shards in (*SHARDS * (distribution == "hash"), *(SPREAD,) * self._is_spread):
            self._say(f"{self.name}: {distribution}, {shards} shards")
            give_back()
            with tempfile.TemporaryDirectory() as folder:
                yield from _streamed(
                    spark, Path(folder), self._kind, self._steps, self._alone, distribution, shards
                )


def _in_one_process(kind: StreamedKind, steps: list[Step], folder: Path) -> _Alone:
    begin = perf_counter()
    process = kind.one_process()
    loading = perf_counter() - begin
    seconds, files, counts, place = [], [], [], 0
    for number, step in enumerate(steps):
        begin = perf_counter()
        answer = process.take(step)
        seconds.append(perf_counter() - begin)
        told = process.told(step, place, answer)
        files.append(folder / f"told-{number}")
        feather.write_feather(told, files[-1], compression="uncompressed")
        counts.append(len(told))
        place += len(step)
    return _Alone(tuple(seconds[WARM : WARM + BATCHES]), loading, files, counts)


def _streamed(
    spark: SparkSession,
    folder: Path,
    kind: StreamedKind,
    steps: list[Step],
    alone: _Alone,
    distribution: str,
    shards: int,
) -> Iterator[Record]:
    with RunningKind(spark, folder, kind, distribution, shards) as running:
        taken = [running.take(step) for step in steps[: WARM + BATCHES]]
        batches, usual = running.last(BATCHES), median(taken[WARM:]) / 1000
        kills, kill_inside = [], 0.0
        is_killed = kind.has_results and shards == 1
        if is_killed:
            rest = steps[WARM + BATCHES :]
            kills = [running.take_after_kill(step) for step in rest[:KILLS]]
            kill_inside = running.take_with_kill(rest[KILLS], usual / 2)
        done = steps if is_killed else steps[: WARM + BATCHES]
        series = f"Spark, {distribution}, {shards} shard{'s' * (shards > 1)}"
        who = f"{kind.name}, {series}"
        if running.rejects:
            raise WrongAnswerError(f"{who}: {running.rejects:,} rows were rejected")
        alike = _check_all(who, alone, running, done, kind.max_error if shards > 1 else 0.0)
        loading = running.loading
    counted = sum(len(step.messages) for step in steps[WARM : WARM + BATCHES])
    seconds = sum(taken[WARM:]) / 1000
    details = {
        "distribution": distribution,
        "shards": shards,
        "share_of_in_process": sum(alone.seconds) / seconds,
        "told_alike": alike,
        "copies_a_message": sum(each.copies for each in batches) / counted,
        "hot_copy_hit_rate": _hit_rate(batches, kind.has_results),
        "load_seconds": loading,
    }
    yield _record(kind, series, KINDS, taken[WARM:], sum(each.notifications for each in batches),
                  details, len(done))  # fmt: skip
    if is_killed:
        details = {
            "recovery_seconds": median(kills),
            "recovery_seconds_each": kills,
            "usual_seconds": usual,
            "killed_inside_seconds": kill_inside,
            "delay_seconds": kill_inside - usual,
        }
        yield _record(kind, "killed", RECOVERY, [1000 * each for each in kills], 0, details, KILLS)


def _check_all(
    who: str, alone: _Alone, running: RunningKind, done: list[Step], max_error: float
) -> float:
    """All that was told for these batches is right: which share of it was told by both?"""
    place, alike = 0, 0.0
    for number, step in enumerate(done):
        right, found = alone.told(number), running.told(place, place + len(step))
        if max_error:
            alike += check_close(who, right, found, running.first, max_error)
        else:
            check_told(who, right, found, running.first)
            alike += 1.0
        place += len(step)
    if running.count_told() != sum(alone.counts[: len(done)]) and not max_error:
        raise WrongAnswerError(f"{who} told of rows that nobody has sent")
    return alike / len(done)


def check_told(who: str, right: pa.Table, found: pa.Table, first: int) -> None:
    """A stream has told what one process has, whose rows are numbered from 0 on."""
    place = right.schema.get_field_index("position")
    right = right.set_column(place, "position", pa.array(right["position"].to_numpy() + first))
    names = right.column_names
    keys = [name for name in ("position", "subscription_id", "kind", "message_id") if name in names]
    order = [(name, "ascending") for name in keys]
    right, found = right.sort_by(order), found.select(names).cast(right.schema).sort_by(order)
    if len(right) != len(found):
        raise WrongAnswerError(f"{who} told {len(found):,} times, one process {len(right):,}")
    for name in names:
        if not right[name].combine_chunks().equals(found[name].combine_chunks()):
            raise WrongAnswerError(f"{who} told another {name!r} than one process")


def check_close(who: str, right: pa.Table, found: pa.Table, first: int, max_error: float) -> float:
    """As `check_told` where scores may be off by a share: how much was told by both?

    Lists that both have told of the same message must agree in their scores. Others differ by two
    terms that are about equal, which change places a little sooner here than there.
    """
    theirs, mine = _lists_by_cause(right, 0), _lists_by_cause(found, first)
    both = theirs.keys() & mine.keys()
    for key in both:
        if len(theirs[key]) != len(mine[key]) or not np.allclose(
            theirs[key], mine[key], rtol=2 * max_error, atol=0.0
        ):
            raise WrongAnswerError(f"{who} told {mine[key]} of {key}, one process {theirs[key]}")
    if not (theirs or mine):
        return 1.0
    alike = 2 * len(both) / (len(theirs) + len(mine))
    if alike < MOSTLY:
        raise WrongAnswerError(f"{who} told the same as one process in {alike:.0%} of all cases")
    return alike


def _lists_by_cause(told: pa.Table, first: int) -> dict[tuple[int, int], list[float]]:
    """The scores of each list, by the row that caused it and whose it is."""
    columns = (told["position"], told["subscription_id"], told["items"])
    return {
        (position - first, subscription): [item["score"] for item in items]
        for position, subscription, items in zip(
            *(each.to_pylist() for each in columns), strict=True
        )
    }


def _hit_rate(batches: list[Progress], has_results: bool) -> float:
    """The share of steps that found what they need ready: the keeper, or the index."""
    if has_results:
        counts = [(b.keepers_hot + b.keepers_caught_up, b.keepers_restored) for b in batches]
    else:
        counts = [(b.hot + b.caught_up, b.restored) for b in batches]
    ready, restored = (sum(column) for column in zip(*counts, strict=True))
    return ready / max(1, ready + restored)


def _alone_record(kind: StreamedKind, alone: _Alone) -> Record:
    told = sum(alone.counts[WARM : WARM + BATCHES])
    passes = [1000 * each for each in alone.seconds]
    details = {"load_seconds": alone.loading}
    return _record(kind, "in one process", KINDS, passes, told, details, 0)


def _named(kind: StreamedKind) -> str:
    """In pictures those of a usual size stand side by side, and others beside them."""
    is_usual = kind.subscriptions == ALL[kind.name].subscriptions
    return kind.name if is_usual else f"{kind.name}, {kind.subscriptions:,}"


def _record(
    kind: StreamedKind,
    series: str,
    group: str,
    milliseconds: list[float],
    told: int,
    details: dict[str, Any],
    checked: int,
) -> Record:
    passes = tuple(1000 * each / kind.messages for each in milliseconds)
    messages = kind.messages * len(milliseconds)
    return Record(
        name="pipeline",
        index=kind.index,
        data=kind.data,
        subscriptions=kind.subscriptions,
        messages=messages,
        matches_per_message=told / messages,
        candidates_per_message=None,
        microseconds_per_message=median(passes),
        microseconds_per_message_passes=passes,
        build_seconds=None,
        insert_microseconds=None,
        remove_microseconds=None,
        bytes_per_subscription=None,
        peak_rss_bytes=peak_rss_bytes(),
        answers_checked_against_oracle=0,
        keywords_per_message=0.0,
        workload=kind.description,
        messages_per_second=1000 * messages / sum(milliseconds),
        batch_milliseconds=median(milliseconds),
        details={
            "kind": kind.name,
            "cores": len(os.sched_getaffinity(0)),
            "batches_checked_against_one_process": checked,
            **details,
        },
        series=series,
        group=group,
        x=_named(kind),
    )
