"""The embedded log as a source of Spark, streaming or not.

`spark.dataSource.register(LogSource)` once, then `spark.readStream.format("nearcast-log")` with the
options of `LogSource`; `read_log` does both. An offset of the stream is `{"offset": n}`: the rows
below n have been read. A range of offsets holds the same rows whenever it is read, so that a batch
can be replayed; reading never changes the log, what is no longer needed is dropped by `Log.trim`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from nearcast.pipeline.log.blocks import ROWS_PER_BLOCK
from nearcast.pipeline.log.log import Log

ROWS_WORTH_A_TASK = 10_000
"""A task costs milliseconds, so fewer rows than this are read by one."""


def read_log(
    spark: SparkSession,
    path: str | os.PathLike[str],
    *,
    rows_per_batch: int | None = None,
    starting_offset: int | None = None,
) -> DataFrame:
    """The log as a streaming DataFrame with the columns of `Log.schema`.

    A batch has at most `rows_per_batch` rows (all there are, if None). A query without a checkpoint
    begins at `starting_offset` (the oldest row kept, if None), one with a checkpoint after it.
    """
    spark.dataSource.register(LogSource)
    stream = spark.readStream.format(LogSource.name()).option("path", os.path.abspath(path))
    stream = stream.option("tasks", spark.sparkContext.defaultParallelism)
    if rows_per_batch is not None:
        stream = stream.option("rowsPerBatch", rows_per_batch)
    if starting_offset is not None:
        stream = stream.option("startingOffset", starting_offset)
    return stream.load()


class LogSource(DataSource):
    """The data source `nearcast-log`.

    Options: `path`, the folder of the log, which must exist; `rowsPerBatch`, the most rows of a
    micro-batch; `startingOffset`, where a new query begins; `tasks`, how many read at a time.
    """

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        path = options.get("path")
        if not path:
            raise ValueError("option 'path' is missing; give the folder of the log")
        self._path = os.path.abspath(path)
        self._rows_per_batch = _count(options, "rowsPerBatch", at_least=1)
        self._starting_offset = _count(options, "startingOffset", at_least=0)
        self._tasks = _count(options, "tasks", at_least=1) or os.cpu_count() or 1

    @classmethod
    def name(cls) -> str:
        return "nearcast-log"

    def schema(self) -> StructType:
        with Log(self._path, must_exist=True) as log:
            return from_arrow_schema(log.schema)

    def reader(self, schema: StructType) -> LogReader:
        return LogReader(self._path, self._starting_offset, self._tasks)

    def streamReader(self, schema: StructType) -> LogStreamReader:  # noqa: N802
        return LogStreamReader(self._path, self._starting_offset, self._tasks, self._rows_per_batch)


class OffsetRange(InputPartition):
    """The rows that one task reads."""

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last


class _LogRanges:
    """What both readers share. Readers are pickled, so that none keeps the log open."""

    def __init__(self, path: str, starting_offset: int | None, tasks: int) -> None:
        self._path = path
        self._starting_offset = starting_offset
        self._tasks = tasks

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, OffsetRange)
        with self._open() as log:
            for first in range(partition.first, partition.last, ROWS_PER_BLOCK):
                last = min(first + ROWS_PER_BLOCK, partition.last)
                yield from log.read(first, last).to_batches()

    def _open(self) -> Log:
        return Log(self._path, must_exist=True)

    def _first_offset(self) -> int:
        with self._open() as log:
            start, end = log.start, log.end
        first = start if self._starting_offset is None else self._starting_offset
        if not start <= first <= end:
            raise IndexError(
                f"startingOffset {first} is not in {self._path}, which has {start} to {end}; "
                "give one of these, or none for the oldest"
            )
        return first

    def _ranges(self, first: int, last: int) -> list[OffsetRange]:
        tasks = max(1, min(self._tasks, (last - first) // ROWS_WORTH_A_TASK))
        cuts = [first + (last - first) * task // tasks for task in range(tasks + 1)]
        return [OffsetRange(begin, end) for begin, end in pairwise(cuts) if begin < end]


class LogReader(_LogRanges, DataSourceReader):
    """The rows that the log has when the query is planned."""

    def partitions(self) -> Sequence[InputPartition]:
        with self._open() as log:
            end = log.end
        return self._ranges(self._first_offset(), end)


class LogStreamReader(_LogRanges, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The rows of the log as they come."""

    def __init__(
        self, path: str, starting_offset: int | None, tasks: int, rows_per_batch: int | None
    ) -> None:
        super().__init__(path, starting_offset, tasks)
        self._rows_per_batch = rows_per_batch
        self._stop_at: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"offset": self._first_offset()}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self._rows_per_batch is None:
            return ReadAllAvailable()
        return ReadMaxRows(self._rows_per_batch)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        first: int = start["offset"]
        last = self._end() if self._stop_at is None else self._stop_at
        if last < first:
            raise ValueError(
                f"the checkpoint is at offset {first}, but {self._path} ends at {last}: it is "
                "another log; give the log of this checkpoint, or a new checkpoint"
            )
        if isinstance(limit, ReadMaxRows):
            last = min(last, first + limit.max_rows)
        return {"offset": last}

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {"offset": self._end()}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._stop_at = self._end()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return self._ranges(start["offset"], end["offset"])

    def _end(self) -> int:
        with self._open() as log:
            return log.end


def _count(options: dict[str, str], name: str, *, at_least: int) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        number = at_least - 1
    if number < at_least:
        raise ValueError(f"option {name!r} is {text!r}; give a whole number from {at_least} on")
    return number
