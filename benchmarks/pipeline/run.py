"""`python -m benchmarks run pipeline`: batch, stream, and the plain join, in one run."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
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
from benchmarks.pipeline.stream import Phase, StreamBench, Streamed, hit_rate
from benchmarks.pipeline.tables import message_table, subscription_table, write_parquet
from benchmarks.progress import bar
from benchmarks.records import Record
from benchmarks.workloads import Settings, Workload, make
from nearcast.pipeline import plan, spark_session

NAME = "pipeline"
PASSES = 3
MACHINE_ROWS = 1_000_000
JOIN_SIZES = (5_000, 10_000, 20_000, 50_000, 100_000)
PARTITIONINGS = ("auto", "hash", "location", "keyword")

Keep = Callable[[list[Record]], None]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Sizes:
    """How large; the defaults are those of the machine."""

    subscriptions: int = MACHINE_ROWS
    messages: int = MACHINE_ROWS
    join: tuple[int, ...] = JOIN_SIZES
    phases: tuple[Phase, ...] = (
        Phase(messages=1_000, changes=400, batches=100),
        Phase(messages=10_000, changes=600, batches=30),
        Phase(messages=200_000, changes=5_000, batches=10),
    )

    @classmethod
    def at_most(cls, subscriptions: int | None, messages: int | None) -> "Sizes":
        """Nothing larger than asked for."""
        sizes = cls(subscriptions or MACHINE_ROWS, messages or MACHINE_ROWS)
        least = min(sizes.subscriptions, sizes.messages)
        phases = (
            replace(
                phase,
                messages=min(phase.messages, sizes.messages),
                changes=min(phase.changes, least),
            )
            for phase in sizes.phases
        )
        join = tuple(size for size in JOIN_SIZES if size <= least) or (least,)
        return replace(sizes, join=join, phases=tuple(phases))


def run_pipeline(sizes: Sizes, data: str, keep: Keep) -> list[Record]:
    """All of it, on `local[2]`, and the stream once more on a cluster of two processes."""
    records: list[Record] = []

    def add(record: Record) -> None:
        records.append(record)
        keep(records)

    steps = 2 + len(PARTITIONINGS) + len(sizes.join) + 2 * len(sizes.phases)
    with bar(steps) as progress, tempfile.TemporaryDirectory() as folder:
        progress.say("making data")
        workload = make(Settings(data, sizes.subscriptions, sizes.messages))
        spark = spark_session("local[2,4]")
        try:
            _warm_up(spark, Path(folder), data)
            progress.advance()
            for record in batch_records(spark, Path(folder), workload, progress.say):
                add(record)
                progress.advance()
            for record in join_records(spark, Path(folder), data, sizes.join, progress.say):
                add(record)
                progress.advance()
            for record in stream_records(
                spark, Path(folder) / "local", workload, sizes.phases, progress.say
            ):
                add(record)
                progress.advance()
        finally:
            spark.stop()
        spark = spark_session("local-cluster[2,1,2048]")
        try:
            for record in stream_records(
                spark, Path(folder) / "cluster", workload, sizes.phases, progress.say
            ):
                add(record)
                progress.advance()
        finally:
            spark.stop()
    return records


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
