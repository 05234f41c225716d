"""New snapshots, made in the background while the stream goes on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from nearcast.durable_files import sync
from nearcast.pipeline.changes import Changes
from nearcast.pipeline.partitioning import Partitioning
from nearcast.pipeline.snapshot import MakeIndex, Snapshot
from nearcast.pipeline.state import ShardFiles, StateFolder


class Compactor:
    """Asks Spark for one new snapshot at a time, so that one core at most is busy with it.

    Answers do not depend on when a snapshot is made. One that fails leaves the old one in use;
    `problem` then says why, until another one succeeds.
    """

    def __init__(
        self,
        spark: SparkSession,
        state: StateFolder,
        partitioning: Partitioning,
        make_index: MakeIndex,
    ) -> None:
        self.problem: str | None = None
        self.failed: int | None = None  # the shard of the last one, if it failed
        self.made = 0
        self._spark = spark
        self._state = state
        self._partitioning = partitioning
        self._make_index = make_index
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="nearcast-snapshot")
        self._running: tuple[int, Future[ShardFiles]] | None = None

    @property
    def is_busy(self) -> bool:
        """Is a snapshot being made?"""
        return self._running is not None

    def start(self, shard: int, files: ShardFiles) -> None:
        """Begin a snapshot of a shard that takes all these changes in."""
        self._running = shard, self._pool.submit(self._make, shard, files)

    def finished(self) -> tuple[int, ShardFiles] | None:
        """The shard and its new files, once, when a snapshot is ready."""
        if self._running is None or not self._running[1].done():
            return None
        shard, future = self._running
        self._running = None
        error = future.exception()
        if error is not None:
            # Above the last line is the traceback of a worker.
            reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
            self.failed = shard
            self.problem = f"no new snapshot of shard {shard}, the old one stays: {reason}"
            return None
        self.problem = self.failed = None
        self.made += 1
        return shard, future.result()

    def stop(self) -> None:
        """Wait for what is running and take nothing new."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _make(self, shard: int, files: ShardFiles) -> ShardFiles:
        newest = files.changes[-1]
        target = self._state.new_snapshot(shard, newest)
        task = partial(
            _make_snapshot,
            state=self._state,
            shard=shard,
            files=files,
            target=target,
            partitioning=self._partitioning,
            make_index=self._make_index,
        )
        self._spark.range(0, 1, 1, 1).mapInArrow(task, "id bigint").collect()
        return ShardFiles(target, newest)


def _make_snapshot(
    batches: Iterator[pa.RecordBatch],
    state: StateFolder,
    shard: int,
    files: ShardFiles,
    target: Path,
    partitioning: Partitioning,
    make_index: MakeIndex,
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if not target.exists():
            newest_snapshot(state, shard, files, partitioning, make_index).save(target)
        else:  # by a task that was tried before, which may have failed to wait for the disk
            sync(target.parent)
        yield batch


def newest_snapshot(
    state: StateFolder,
    shard: int,
    files: ShardFiles,
    partitioning: Partitioning,
    make_index: MakeIndex,
) -> Snapshot:
    """The shard as these files tell, in memory."""
    if files.snapshot is None:
        snapshot = Snapshot.empty(make_index, partitioning)
    else:
        snapshot = Snapshot.load(files.snapshot, make_index)
    changes = [
        Changes.read(state.changes(shard, number), follows=before)
        for before, number in pairwise((files.snapshot_batch, *files.changes))
    ]
    return snapshot.with_changes(changes, partitioning)
