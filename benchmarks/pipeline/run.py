"""`python -m benchmarks run pipeline`: batch, the plain join, streams of every kind, in one run."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.memory import forget_peak, peak_rss_bytes
from benchmarks.oracle import ask_oracle
from benchmarks.pipeline.batch import (
    THREADS,
    Timed,
    check_equal,
    check_pairs,
    in_process,
    sql_join,
    through_spark,
)
from benchmarks.pipeline.kinds.measure import ALL, KindInStreams
from benchmarks.pipeline.stream import Phase, StreamBench, Streamed, hit_rate
from benchmarks.pipeline.tables import message_table, subscription_table, write_parquet
from benchmarks.progress import bar
from benchmarks.records import Record
from benchmarks.workloads import Settings, Workload, make
from nearcast.pipeline import plan, spark_session

NAME = "pipeline"
PASSES = 3
MACHINE_ROWS, FULL_ROWS = 200_000, 1_000_000
JOIN_SIZES = (5_000, 10_000, 20_000, 50_000)
FULL_JOIN_SIZES = (*JOIN_SIZES, 100_000)
PARTITIONINGS = ("auto", "hash", "location", "keyword")
LOCAL, CLUSTER = "local[2,4]", "local-cluster[2,1,2048]"
ON_CLUSTER, _KIND = "stream on a cluster", "kinds: "
_STREAMED = {
    f"{_KIND}{name}, {distribution}": (name, distribution)
    for name, usual in ALL.items()
    for distribution in usual.distributions
}
PARTS = ("batch", "growth", "stream", *_STREAMED, ON_CLUSTER)

Keep = Callable[[list[Record]], None]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Sizes:
    """How large; the defaults are those of the machine.

    - `kind_subscriptions`, `kind_messages`: of the stream of each kind, and of its batches; None:
      what is usual for the kind
    """

    subscriptions: int = MACHINE_ROWS
    messages: int = MACHINE_ROWS
    join: tuple[int, ...] = JOIN_SIZES
    kind_subscriptions: int | None = None
    kind_messages: int | None = None
    phases: tuple[Phase, ...] = (
        Phase(messages=1_000, changes=400, batches=100),
        Phase(messages=10_000, changes=600, batches=30),
        Phase(messages=200_000, changes=5_000, batches=10),
    )

    @classmethod
    def at_most(
        cls, subscriptions: int | None, messages: int | None, *, is_full: bool = False
    ) -> "Sizes":
        """Nothing larger than asked for."""
        usual = FULL_ROWS if is_full else MACHINE_ROWS
        sizes = cls(subscriptions or usual, messages or usual)
        least = min(sizes.subscriptions, sizes.messages)
        phases = (
            replace(
                phase,
                messages=min(phase.messages, sizes.messages),
                changes=min(phase.changes, least),
            )
            for phase in sizes.phases
        )
        grown = FULL_JOIN_SIZES if is_full else JOIN_SIZES
        return replace(
            sizes,
            join=tuple(size for size in grown if size <= least) or (least,),
            phases=tuple(phases),
            kind_subscriptions=subscriptions,
            kind_messages=messages,
        )


def run_pipeline(sizes: Sizes, data: str, only: str | None, keep: Keep) -> list[Record]:
    """All of it on `local[2]`, and the boolean stream once more on a cluster of two processes.

    `only`: just the parts with this in their name.
    """
    parts = [name for name in PARTS if only is None or only in name]
    if not parts:
        raise ValueError(f"{NAME} has no part {only!r}; it has {', '.join(PARTS)}")
    records: list[Record] = []
    with bar(len(parts)) as progress, tempfile.TemporaryDirectory() as folder:
        run = _Run(sizes, data, Path(folder), progress.say)
        for master in (LOCAL, CLUSTER):
            chosen = [name for name in parts if (name == ON_CLUSTER) == (master == CLUSTER)]
            if not chosen:
                continue
            spark = spark_session(master)
            try:
                for name in chosen:
                    for record in run.part(spark, name):
                        records.append(record)
                        keep(records)
                    progress.advance()
            finally:
                spark.stop()
    return records


class _Run:
    """The parts of a run, which have some data in common."""

    def __init__(self, sizes: Sizes, data: str, folder: Path, say: Say) -> None:
        self._sizes = sizes
        self._data = data
        self._folder = folder
        self._say = say
        self._kind: KindInStreams | None = None

    @cached_property
    def _workload(self) -> Workload:
        self._say("making data")
        return make(Settings(self._data, self._sizes.subscriptions, self._sizes.messages))

    def part(self, spark: SparkSession, name: str) -> Iterator[Record]:
        """The records of one part."""
        sizes, folder, say = self._sizes, self._folder, self._say
        match name:
            case "batch":
                _warm_up(spark, folder, self._data)
                yield from batch_records(spark, folder, self._workload, say)
            case "growth":
                yield from join_records(spark, folder, self._data, sizes.join, say)
            case "stream" | "stream on a cluster":
                yield from stream_records(spark, folder / name, self._workload, sizes.phases, say)
            case _:
                yield from self._kind_records(spark, *_STREAMED[name])

    def _kind_records(self, spark: SparkSession, name: str, distribution: str) -> Iterator[Record]:
        """Distributions of a kind follow each other, and are compared with the same process."""
        if self._kind is None or self._kind.name != name:
            self._kind = None  # frees it before the next is made
            sizes = self._sizes
            self._kind = KindInStreams(
                name, sizes.kind_subscriptions, sizes.kind_messages, self._say
            )
            yield self._kind.in_one_process()
        yield from self._kind.records(spark, distribution)


def _warm_up(spark: SparkSession, folder: Path, data: str) -> None:
    """Kernels compile, Spark's code is generated, Python workers start."""
    small = _files(folder / "small", make(Settings(data, 2_000, 2_000)))
    in_process(*small, 1)
    for partitioning in PARTITIONINGS:
        through_spark(spark, *small, partitioning, 1)


def _files(folder: Path, workload: Workload) -> tuple[str, str]:
    return (
        write_parquet(message_table(workload.messages), folder / "messages"),
        write_parquet(subscription_table(workload.subscriptions), folder / "subscriptions"),
    )


def batch_records(spark: SparkSession, folder: Path, workload: Workload, say: Say) -> Any:
    """Both tables whole, through the index alone and through Spark with each partitioning."""
    say("writing files")
    files = _files(folder / "whole", workload)
    say("in one process")
    forget_peak()
    alone = in_process(*files, PASSES)
    assert alone.match_seconds is not None
    say("asking the oracle")
    expected = ask_oracle(workload)
    details: dict[str, Any] = {"match_seconds": alone.match_seconds, "threads": THREADS}
    yield _batch_record(workload, alone, "RarestWordTree", "in one process", details)
    for partitioning in PARTITIONINGS:
        say(f"through Spark, {partitioning}")
        timed = through_spark(spark, *files, partitioning, PASSES)
        check_equal(alone, timed, partitioning)
        checked = check_pairs(spark, *files, partitioning, expected)
        details = {
            "plan": timed.plan,
            "share_of_in_process": median(alone.seconds) / median(timed.seconds),
            "share_of_matching_alone": alone.match_seconds / median(timed.seconds),
        }
        record = _batch_record(workload, timed, "RarestWordTree", f"Spark, {partitioning}", details)
        yield replace(record, answers_checked_against_oracle=checked)


def join_records(
    spark: SparkSession, folder: Path, data: str, sizes: tuple[int, ...], say: Say
) -> Any:
    """The plain join and ours as both tables grow."""
    for size in sizes:
        workload = make(Settings(data, size, size))
        files = _files(folder / f"join-{size}", workload)
        say(f"plain join of {size:,}")
        plain = sql_join(spark, *files, 1 + (size == sizes[0]))  # the first pass warms up
        plain = replace(plain, seconds=plain.seconds[-1:])
        ours = through_spark(spark, *files, "auto", PASSES)
        check_equal(ours, plain, "the plain join")
        ratio = {"times_faster_than_join": median(plain.seconds) / median(ours.seconds)}
        yield _batch_record(workload, plain, "sql-join", "plain SQL join", {}, "growth")
        yield _batch_record(workload, ours, "RarestWordTree", "Spark, auto", ratio, "growth")


def stream_records(
    spark: SparkSession, folder: Path, workload: Workload, phases: tuple[Phase, ...], say: Say
) -> Any:
    """The stream, phase by phase, on the session's master."""
    master = str(spark.sparkContext.master)
    folder.mkdir()
    files = _files(folder / "files", workload)
    chosen = plan(spark.read.parquet(files[0]), spark.read.parquet(files[1]))
    bench = StreamBench(spark, folder, workload, chosen.partitioning)
    say(f"{master}: registering subscriptions")
    bench.load()
    for phase in phases:
        streamed = bench.run(phase, lambda step: say(f"{master}: {step}"))
        yield _stream_record(workload, phase, streamed, master, chosen.why)


def _batch_record(
    workload: Workload,
    timed: Timed,
    index: str,
    series: str,
    details: dict[str, Any],
    group: str = "batch",
) -> Record:
    messages = len(workload.messages)
    passes = tuple(1e6 * seconds / messages for seconds in timed.seconds)
    return Record(
        **_common(workload),
        index=index,
        messages=messages,
        matches_per_message=timed.matches / max(1, messages),
        microseconds_per_message=median(passes),
        microseconds_per_message_passes=passes,
        build_seconds=timed.build_seconds,
        messages_per_second=1e6 / median(passes),
        details={"seconds": median(timed.seconds), **details},
        series=series,
        group=group,
        x=len(workload.subscriptions) if group == "growth" else "files to pairs",
    )


def _stream_record(
    workload: Workload, phase: Phase, streamed: Streamed, master: str, why: str
) -> Record:
    batches = streamed.batches
    seconds = sum(streamed.trigger_milliseconds) / 1000
    messages = sum(each.messages for each in batches)
    passes = tuple(1000 * each / phase.messages for each in streamed.trigger_milliseconds)
    return Record(
        **_common(workload),
        index="RarestWordTree",
        messages=messages,
        matches_per_message=sum(each.notifications for each in batches) / max(1, messages),
        microseconds_per_message=1e6 * seconds / max(1, messages),
        microseconds_per_message_passes=passes,
        build_seconds=None,
        messages_per_second=messages / seconds,
        batch_milliseconds=median(streamed.trigger_milliseconds),
        details={
            "plan": why,
            "batches": len(batches),
            "messages_a_batch": phase.messages,
            "changes_a_batch": phase.changes,
            "changes_per_second": sum(each.changes for each in batches) / seconds,
            "hot_copy_hit_rate": hit_rate(batches),
            "of_these_without_catching_up": sum(each.hot for each in batches)
            / max(1, sum(each.hot + each.caught_up for each in batches)),
            "snapshot_bytes": streamed.snapshot_bytes,
            "mapped": asdict(streamed.mapped),
            "slowest_shard_milliseconds": batches[-1].steps,
        },
        series=master,
        group="stream",
        x=phase.messages,
    )


def _common(workload: Workload) -> dict[str, Any]:
    return {
        "name": NAME,
        "data": workload.data,
        "subscriptions": len(workload.subscriptions),
        "candidates_per_message": None,
        "insert_microseconds": None,
        "remove_microseconds": None,
        "bytes_per_subscription": None,
        "peak_rss_bytes": peak_rss_bytes(),
        "answers_checked_against_oracle": 0,
        "keywords_per_message": workload.keywords_per_message,
        "workload": workload.description,
    }
