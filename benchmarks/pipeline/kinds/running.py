"""A stream of one kind, fed a batch at a time; its keepers can be killed."""

import os
import signal
from pathlib import Path
from threading import Timer
from time import perf_counter
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import SparkSession

from benchmarks.pipeline.kinds.kind import TOGETHER, Step, StreamedKind
from benchmarks.pipeline.stream import trigger_milliseconds
from nearcast.pipeline import FilesSink, Log, Progress, read_log, stream

_KEEPER = b"nearcast.pipeline.hosted.keeper_process"


class RunningKind:
    """With all subscriptions of the kind; `loading` says how many seconds they took."""

    def __init__(
        self, spark: SparkSession, folder: Path, kind: StreamedKind, distribution: str, shards: int
    ) -> None:
        self._out = folder / "out"
        self._log = Log(folder / "log", ids="int64")
        self._running = stream(
            read_log(spark, folder / "log", rows_per_batch=TOGETHER * max(1, shards)),
            sink=FilesSink(self._out),
            checkpoint=folder / "checkpoint",
            **kind.options(distribution, shards),
        )
        begin = perf_counter()
        for rows in kind.rows():
            self._log.append(rows)
            self._running.process_all_available()
        self.loading = perf_counter() - begin
        self.first = self._log.end

    def __enter__(self) -> "RunningKind":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running.stop()
        self._log.close()

    def take(self, step: Step) -> float:
        """Milliseconds from the trigger to the commit of a batch."""
        self._log.append(step.rows())
        self._running.process_all_available()
        return trigger_milliseconds(self._running)[-1]

    def take_after_kill(self, step: Step) -> float:
        """Seconds from the kill of all keepers until a batch that comes then is done."""
        rows = step.rows()
        begin = perf_counter()
        kill_keepers()
        self._log.append(rows)
        self._running.process_all_available()
        return perf_counter() - begin

    def take_with_kill(self, step: Step, after: float) -> float:
        """Seconds of a batch whose keepers are killed so many seconds after it came."""
        rows, timer = step.rows(), Timer(after, kill_keepers)
        begin = perf_counter()
        timer.start()
        self._log.append(rows)
        self._running.process_all_available()
        taken = perf_counter() - begin
        timer.join()
        return taken

    @property
    def rejects(self) -> int:
        """Rows that were refused so far."""
        return self._running.summary.rejects

    def last(self, batches: int) -> list[Progress]:
        """The last batches."""
        return self._running.recent[-batches:]

    def told(self, first: int, end: int) -> pa.Table:
        """What was told of rows, numbered from the first one after all subscriptions were there."""
        position = pc.field("position")
        return self._dataset.to_table(
            filter=(position >= self.first + first) & (position < self.first + end)
        )

    def count_told(self) -> int:
        """How much was told since then."""
        return int(self._dataset.count_rows(filter=pc.field("position") >= self.first))

    @property
    def _dataset(self) -> ds.Dataset:
        return ds.dataset(self._out, format="parquet", partitioning=None)


def kill_keepers() -> None:
    """`kill -9` for those that work for a Spark of this process.  (Linux)"""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if _KEEPER in words and _descends_from(int(words[-2]), os.getpid()):
                os.kill(int(process.name), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue


def _descends_from(process: int, ancestor: int) -> bool:
    while process > 1:
        if process == ancestor:
            return True
        # The name may have spaces and parentheses; behind it come the state and the parent.
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return False
