"""A stream over a million live subscriptions: how long is a batch, how many messages a second?"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from benchmarks.pipeline.mapped import Mapped, mapped_memory
from benchmarks.pipeline.tables import message_table, subscription_table
from benchmarks.workloads import Workload
from nearcast.pipeline import (
    FilesSink,
    Log,
    Partitioning,
    Progress,
    RunningStream,
    read_log,
    stream,
)

FIRST = 10  # batches during which workers start and open the shards


@dataclass(frozen=True)
class Phase:
    """A stretch of the stream with batches of one size."""

    messages: int  # a batch
    changes: int  # a batch
    batches: int


@dataclass(frozen=True)
class Streamed:
    """The batches of a phase after the first ones, and how Spark's workers were after it."""

    batches: list[Progress]
    trigger_milliseconds: list[float]  # the whole trigger, Spark's own log and commit included
    snapshot_bytes: int  # on disk, all shards
    mapped: Mapped  # in memory


class StreamBench:
    """A log with subscriptions in it, and a stream that follows it phase by phase."""

    def __init__(
        self, spark: SparkSession, folder: Path, workload: Workload, partitioning: Partitioning
    ) -> None:
        self._spark = spark
        self._folder = folder
        self._partitioning = partitioning
        self._log = Log(folder / "log", ids="int64")
        self._messages = message_table(workload.messages)
        self._subscriptions = subscription_table(workload.subscriptions)
        self._draw = np.random.Generator(np.random.PCG64(0))
        self._sent = 0

    def load(self) -> Streamed:
        """Register all subscriptions, and have them in snapshots."""
        self._log.append(_of_kind(self._subscriptions, "subscribe"))
        return self._follow(max(1, len(self._subscriptions) // 4), first=0)

    def run(self, phase: Phase, say: Callable[[str], None] = lambda step: None) -> Streamed:
        """Append so many batches, then let the stream work them off."""
        say("writing the log")
        for _ in range(FIRST + phase.batches):
            self._log.append(self._batch(phase))
        say("streaming")
        return self._follow(phase.messages + phase.changes, first=FIRST)

    def _batch(self, phase: Phase) -> pa.Table:
        """Messages, replacements and removals in random order."""
        rows = (self._sent + np.arange(phase.messages)) % len(self._messages)
        self._sent += phase.messages
        changed = self._draw.choice(len(self._subscriptions), phase.changes, replace=False)
        half = phase.changes // 2
        parts = [
            _of_kind(self._messages.take(pa.array(rows)), "message"),
            _of_kind(self._subscriptions.take(pa.array(changed[:half])), "subscribe"),
            _of_kind(
                self._subscriptions.select(["id"]).take(pa.array(changed[half:])), "unsubscribe"
            ),
        ]
        table = pa.concat_tables(parts, promote_options="default")
        return table.take(pa.array(self._draw.permutation(len(table))))

    def _follow(self, rows: int, first: int) -> Streamed:
        running = stream(
            read_log(self._spark, self._folder / "log", rows_per_batch=rows),
            sink=FilesSink(self._folder / "out"),
            checkpoint=self._folder / "checkpoint",
            partitioning=self._partitioning,
            trigger={"availableNow": True},
        )
        running.await_termination()
        state = self._folder / "checkpoint" / "nearcast"
        mapped = mapped_memory(state)
        running.stop()
        return Streamed(
            batches=running.recent[first:],
            trigger_milliseconds=trigger_milliseconds(running)[first:],
            snapshot_bytes=_bytes_in(state),
            mapped=mapped,
        )


def hit_rate(batches: list[Progress]) -> float:
    """The share of steps that found their shard open in the worker."""
    steps = sum(each.hot + each.caught_up + each.restored for each in batches)
    return 1 - sum(each.restored for each in batches) / max(1, steps)


def _of_kind(table: pa.Table, kind: str) -> pa.Table:
    return table.append_column("kind", pa.array([kind] * len(table)))


def trigger_milliseconds(running: RunningStream) -> list[float]:
    """Of the last batches, Spark's own log and commit included."""
    durations = (dict(each)["durationMs"] for each in running.query.recentProgress)
    return [float(each["triggerExecution"]) for each in durations if "addBatch" in each]


def _bytes_in(folder: Path) -> int:
    return sum(
        path.stat().st_size for path in folder.glob("shard-*/snapshot-*/*") if path.is_file()
    )
