"""`stream`: subscriptions that come and go, messages that flow by, notifications that go out."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import LongType

from nearcast.boolean import RarestWordTree
from nearcast.durable_files import make_folder
from nearcast.model import Space
from nearcast.pipeline.checkpoint_lock import CheckpointLock
from nearcast.pipeline.compaction import Compactor
from nearcast.pipeline.hosted.files import HostedFiles
from nearcast.pipeline.hosted.keepers import end_keepers
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.spread.distribution import ResultDistribution
from nearcast.pipeline.hosted.spread.merged_files import Merged, pending_homes, write_merged
from nearcast.pipeline.hosted.told import with_result_columns
from nearcast.pipeline.log.schema import MESSAGE
from nearcast.pipeline.partitioning import Hash, Partitioning
from nearcast.pipeline.progress import Progress, Summary, lag_of, progress_of
from nearcast.pipeline.routing import PACKED_IN_SPARK
from nearcast.pipeline.sinks import BatchOutput, Sink
from nearcast.pipeline.snapshot import MakeIndex
from nearcast.pipeline.state import (
    SAVED,
    SPARK,
    BadCheckpoint,
    StateFolder,
    check_halves,
    facts_of,
)
from nearcast.pipeline.step import HostedWork, run_step, tell_parts
from nearcast.pipeline.stream_routing import ordered_rows, route, two_streams

REMEMBERED = 1000
"""So many batches `RunningStream.recent` tells of."""

# A snapshot is due when so many changes came since the last one: a restored shard reads them all.
SNAPSHOT_AFTER = 50_000
# Or when they are in so many files: batches may be small.
MOST_CHANGE_FILES = 1_000
BYTES_A_CHANGE = 200


def stream(
    events: DataFrame,
    messages: DataFrame | None = None,
    *,
    sink: Sink,
    checkpoint: str | os.PathLike[str],
    index: MakeIndex | None = None,
    partitioning: Partitioning | None = None,
    trigger: Mapping[str, Any] | None = None,
    snapshot_after: int = SNAPSHOT_AFTER,
    results: ResultSettings | None = None,
) -> RunningStream:
    """Match a stream of messages with subscriptions that live while it runs.

    Parameters
    ----------
    events: a streaming DataFrame of subscription events, with the columns of
        `SubscriptionBatch.from_arrow` and `kind`: "subscribe" (registers, or replaces the
        subscription of that id) or "unsubscribe"; without `kind` all rows subscribe. An integer
        column `offset`, if there is one, orders the events of a batch; without it they are in
        the order in which Spark reads them, which is certain within one file only
    messages: a streaming DataFrame with the columns of `MessageBatch.from_arrow`; in each batch
        the events come before the messages. Or None: then `events` has rows of `kind` "message"
        too, and a column `offset`, the one order in which everything happens
    sink: where notifications and rejected rows go; see `sinks`
    checkpoint: a folder that all executors reach; the stream goes on from it after any crash
    index: makes an empty index, `RarestWordTree` by default; its space is that of the data
    partitioning: of the subscriptions, `Hash` with a shard a core by default; another one can be
        had from `plan`. It is that of the checkpoint; `reshard` changes it. Where results are
        spread by location, boolean subscriptions are too, unless it is given
    trigger: when a batch starts, as for `DataStreamWriter.trigger`; by default when the one before
        is done
    snapshot_after: a shard gets a new snapshot after so many changes
    results: keep top-k, trending and moving subscriptions too: `events` may have their kinds, see
        `log_schema`, and notifications the columns of `with_result_columns`, in the same order.
        Without it such rows are rejected. It costs each shard a process and the last messages,
        and a changelog of all of them; it is fixed for the life of the checkpoint. By default
        every shard hears every message; `plan_results` plans how to do with fewer

    Each change of a result is told; but of messages that follow each other in a batch, more than 64
    and nothing else in between, a list of messages or of terms tells once what they did, as of the
    last of them.

    Each notification reaches the sink exactly once: what a batch changes and gives is durable under
    its number before the sink gets it, and a batch that is replayed after a crash gives the same.
    """
    for side, frame in (("events", events), ("messages", messages)):
        if frame is not None and not frame.isStreaming:
            raise ValueError(f"the {side} are no stream; use nearcast.pipeline.match for tables")
    if partitioning is not None and not isinstance(partitioning, Partitioning):
        raise TypeError(
            f"partitioning {partitioning!r} is no Partitioning; give Hash(shards), or "
            "plan(...).partitioning, made from tables of the past"
        )
    make_index = index or RarestWordTree
    example = make_index()
    if results is not None and example.space is not Space.EARTH:
        raise ValueError(
            f"the index is in {example.space}, results are kept on the Earth; leave results out, "
            "or use longitudes and latitudes"
        )
    if messages is None:
        rows = ordered_rows(events, example.space)
    else:
        rows = two_streams(events, messages, example.space)
    spark = events.sparkSession
    if "://" in os.fspath(checkpoint):
        raise ValueError(
            f"checkpoint {os.fspath(checkpoint)!r} is an address; give a folder of the file system"
        )
    folder = Path(checkpoint).absolute()
    make_folder(folder)
    lock = CheckpointLock.shared(folder)
    try:
        check_halves(folder)
        saved = _saved(folder / SAVED)
        row = saved.distribution() if saved else None
        if row and results is not None and results.distribution is None:
            results = replace(results, distribution=ResultDistribution.of_row(row))
        spread = results.distribution if results else None
        way = partitioning or (saved and saved.partitioning())
        way = way or _usual_partitioning(spread, spark.sparkContext.defaultParallelism)
        if spread and spread.shards != way.shards:
            raise ValueError(
                f"results are spread over {spread.shards} shards, but there are {way.shards}; plan "
                "both for the same number"
            )
        facts = {
            "index": type(example).__name__,
            "space": example.space.name,
            **facts_of(way),
            "subscription_ids": _id_type(rows, "subscription"),
            "message_ids": _id_type(rows, "message"),
            "ordered": messages is None,
            "results": None if results is None else results.facts(),
        }
        state = StateFolder.create_or_open(
            folder / SAVED, facts, way, spread.row() if spread else None
        )
        sink.open(state.key)
        work = StreamWork(spark, state, make_index, sink, facts, snapshot_after, results)
        writer = rows.writeStream.foreachBatch(work.process)
        writer = writer.option("checkpointLocation", str(folder / SPARK))
        if trigger:
            writer = writer.trigger(**trigger)
        return RunningStream(writer.start(), work, lock)
    except BaseException:
        lock.release()
        raise


class RunningStream:
    """A stream that is running: look at it, wait for it, stop it."""

    def __init__(self, query: StreamingQuery, work: StreamWork, lock: CheckpointLock) -> None:
        self.query = query
        self._work = work
        self._lock = lock

    @property
    def recent(self) -> list[Progress]:
        """The last batches, oldest first."""
        return self._work.recent()

    @property
    def summary(self) -> Summary:
        """Everything since the start."""
        return self._work.summary(lag_of(self.query.lastProgress))

    @property
    def next_expiry(self) -> float:
        """When a message ends for somebody who moves; an `advance` should come then. inf: never."""
        return self._work.next_expiry

    @property
    def is_active(self) -> bool:
        """Is it running?"""
        return self.query.isActive

    def process_all_available(self) -> None:
        """Wait until all that the sources have now is at the sink."""
        self.query.processAllAvailable()

    def await_termination(self, timeout: int | None = None) -> bool:
        """Wait, at most so many seconds, until it stops or fails, which raises; False: it runs."""
        try:
            ended = self.query.awaitTermination(timeout)
        finally:
            if not self.query.isActive:
                self._end()
        return True if ended is None else ended

    def stop(self) -> None:
        """Stop now; a batch that is not done is done when the stream is started again."""
        self.query.stop()
        self._end()

    def _end(self) -> None:
        self._work.stop()
        self._lock.release()


class StreamWork:
    """What the driver does for each batch."""

    def __init__(
        self,
        spark: SparkSession,
        state: StateFolder,
        make_index: MakeIndex,
        sink: Sink,
        facts: Mapping[str, Any],
        snapshot_after: int,
        results: ResultSettings | None,
    ) -> None:
        self._recent: deque[Progress] = deque(maxlen=REMEMBERED)
        self._is_checked = False
        self._state = state
        self._make_index = make_index
        self._sink = sink
        self._is_ordered = bool(facts["ordered"])
        self._space = make_index().space
        self._snapshot_after = snapshot_after
        self._partitioning = state.partitioning()
        self._files = {shard: state.files(shard) for shard in range(self._partitioning.shards)}
        self._compactor = Compactor(spark, state, self._partitioning, make_index)
        self._superseded: list[int] = []
        # Changes since the snapshot, by shard; an estimate until the first step has counted them.
        self._waiting = {
            shard: state.change_bytes(shard, files) // BYTES_A_CHANGE
            for shard, files in self._files.items()
        }
        self._totals = dict.fromkeys(("batches", "rows", "changes", "notifications", "rejects"), 0)
        self._steps = self._hits = self._keeper_steps = self._keeper_hits = 0
        self._lock = threading.Lock()
        self._schema = schema_of_matches(facts)
        self._results = results
        self._hosted: HostedFiles | None = None
        if results is not None:
            self._hosted = HostedFiles(state.hosted(), self._partitioning.shards)
            self._schema = with_result_columns(self._schema)

    @property
    def next_expiry(self) -> float:
        """When somebody's result changes though no message comes; inf for never."""
        return self._hosted.next_expiry if self._hosted else inf

    def process(self, frame: DataFrame, batch: int) -> None:
        """One batch: route, step, commit.  Spark calls it again when it failed in the middle."""
        begin = time.perf_counter()
        if not self._is_checked:
            self._state.check_batch(batch)
            self._state.hosted().check_batch(batch)
            self._is_checked = True
        self._state.sync_plan(batch)
        # In this query's own session: a plan of two stages is not worth a second look.
        frame.sparkSession.conf.set("spark.sql.adaptive.enabled", "false")
        self._take_over_snapshot()
        self._start_snapshot(batch)
        # Spark starts a batch when the one before is committed: nobody needs its output again.
        for shard in self._files:
            self._state.remove_outputs(shard, batch - 1)
        # What a crashed attempt at this batch left behind does not count.
        self._files = files = {shard: old.before(batch) for shard, old in self._files.items()}
        counts = Observation()
        counted = frame.observe(
            counts,
            sf.count(sf.lit(1)).alias("rows"),
            sf.count_if(sf.col("kind") != MESSAGE).alias("changes"),
            sf.min("offset").alias("first"),
            sf.max("offset").alias("last"),
        )
        way = self._partitioning
        routed = counted.mapInArrow(
            partial(
                route,
                partitioning=way,
                space=self._space,
                is_ordered=self._is_ordered,
                has_results=self._hosted is not None,
                distribution=self._results.distribution if self._results else None,
            ),
            PACKED_IN_SPARK,
        )
        hosted = self._hosted_work(batch)
        stepped = routed.repartitionById(way.shards, "shard").mapInArrow(
            partial(
                run_step,
                state=self._state,
                batch=batch,
                files=files,
                partitioning=way,
                make_index=self._make_index,
                hosted=hosted,
            ),
            "facts string",
        )
        steps = [json.loads(row.facts) for row in stepped.collect()]
        hosted_steps = {step["shard"]: step["hosted"] for step in steps if "hosted" in step}
        found = counts.get
        merged = Merged()
        if hosted and hosted_steps and hosted.merges_lists:
            merged = self._merged(frame.sparkSession, batch, hosted, hosted_steps)
        output = self._output(
            batch, [step["shard"] for step in steps], [*hosted_steps], found, merged
        )
        self._sink.commit(output)
        if self._hosted:
            self._hosted.end(batch, hosted_steps.items())
        changed = {step["shard"] for step in steps if step["changes"]}
        self._files = {
            shard: old.followed_by(batch) if shard in changed else old
            for shard, old in files.items()
        }
        self._waiting |= {step["shard"]: step["waiting"] for step in steps}
        rejects = len(output.rejects()) if output.reject_files else 0
        self._note_progress(
            progress_of(
                batch,
                found["rows"],
                found["changes"],
                rejects,
                round(1000 * (time.perf_counter() - begin), 1),
                steps,
                self._problem,
                merged.count,
            )
        )

    def recent(self) -> list[Progress]:
        """The last batches, oldest first."""
        with self._lock:
            return list(self._recent)

    def summary(self, lag: int | None) -> Summary:
        """Everything since the start."""
        with self._lock:
            return Summary(
                **self._totals,
                hit_rate=_share(self._hits, self._steps),
                lag=lag,
                keeper_hit_rate=_share(self._keeper_hits, self._keeper_steps),
                snapshots=self._compactor.made,
                problem=self._problem,
            )

    def stop(self) -> None:
        """Nothing more will come."""
        self._compactor.stop()
        self._sink.close()
        if self._hosted:
            end_keepers(self._state.key)

    @property
    def _problem(self) -> str | None:
        return self._compactor.problem or (self._hosted.problem if self._hosted else None)

    def _hosted_work(self, batch: int) -> HostedWork | None:
        if self._hosted is None or self._results is None:
            return None
        return HostedWork(
            self._results,
            self._hosted.begin(batch),
            self._schema,
            self._snapshot_after,
            self._sink.keeps_results,
            resettled=pending_homes(self._state.hosted(), batch),
        )

    def _merged(
        self, spark: SparkSession, batch: int, hosted: HostedWork, steps: Mapping[int, Any]
    ) -> Merged:
        """What parts of lists in several shards tell together."""
        changed = [shard for shard, facts in steps.items() if facts["rows"]]
        tell = partial(
            tell_parts, state=self._state.hosted(), batch=batch, changed=changed, hosted=hosted
        )

        def ask(wanted: pa.Table) -> list[tuple[int, bytes]]:
            frame = spark.createDataFrame(wanted.to_pylist(), "shard int, ids string")
            spread = frame.repartitionById(self._partitioning.shards, "shard")
            told = spread.mapInArrow(tell, "shard int, parts binary").collect()
            return [(row.shard, bytes(row.parts)) for row in told]

        return write_merged(
            self._state.hosted(),
            batch,
            [shard for shard, facts in steps.items() if facts.get("parts")],
            self._schema,
            ask,
            keeps_results=self._sink.keeps_results,
            moves_lists=hosted.moves_lists,
        )

    def _output(
        self,
        batch: int,
        shards: list[int],
        with_results: list[int],
        found: Mapping[str, Any],
        merged: Merged,
    ) -> BatchOutput:
        is_ordered = self._is_ordered and found["last"] is not None
        hosted = self._state.hosted()
        parts = [(self._state, shard) for shard in shards]
        parts += [(hosted, shard) for shard in with_results]
        rejects = [state.rejects(shard, batch) for state, shard in parts]
        results = [hosted.results(shard, batch) for shard in with_results]
        return BatchOutput(
            batch,
            self._schema,
            [state.notifications(shard, batch) for state, shard in parts] + merged.told,
            [path for path in rejects if path.exists()],
            range(found["first"], found["last"] + 1) if is_ordered else range(0),
            [path for path in results if path.exists()] + merged.results,
        )

    def _start_snapshot(self, batch: int) -> None:
        """Of the shard that needs one most; only what Spark has committed goes into it."""
        if self._compactor.is_busy:
            return
        files = {shard: old.before(batch) for shard, old in self._files.items()}
        due = [
            shard
            for shard, waiting in self._waiting.items()
            if (waiting >= self._snapshot_after or len(files[shard].changes) >= MOST_CHANGE_FILES)
            and files[shard].changes
        ]
        # One that fails again and again must not keep the others waiting.
        due.sort(key=lambda shard: (shard == self._compactor.failed, -self._waiting[shard]))
        if due:
            self._compactor.start(due[0], files[due[0]])

    def _take_over_snapshot(self) -> None:
        # The tasks of the last batch are done, so that nobody opens the old files any more.
        for shard in self._superseded:
            self._state.remove_superseded(shard, self._files[shard])
        self._superseded = []
        if ready := self._compactor.finished():
            shard, new = ready
            self._files[shard] = self._files[shard].with_snapshot(new)
            self._superseded.append(shard)
            self._waiting.pop(shard, None)  # the next step says how many are left

    def _note_progress(self, progress: Progress) -> None:
        with self._lock:
            self._recent.append(progress)
            self._totals["batches"] += 1
            for name in ("rows", "changes", "notifications", "rejects"):
                self._totals[name] += getattr(progress, name)
            self._hits += progress.hot + progress.caught_up
            self._steps += progress.hot + progress.caught_up + progress.restored
            self._keeper_hits += progress.keepers_hot + progress.keepers_caught_up
            self._keeper_steps += (
                progress.keepers_hot + progress.keepers_caught_up + progress.keepers_restored
            )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def schema_of_matches(facts: Mapping[str, Any]) -> pa.Schema:
    """The columns of notifications of a stream with these facts, but for those of results."""
    return pa.schema(
        [
            ("subscription_id", _arrow_type(facts["subscription_ids"])),
            ("message_id", _arrow_type(facts["message_ids"])),
            ("time", pa.float64()),
            ("position", pa.int64()),
        ]
    )


def _saved(saved: Path) -> StateFolder | None:
    """What there is of this stream; None where it is new."""
    if not (saved / "state.json").exists():
        return None
    try:
        state = StateFolder.open(saved)
        state.partitioning()
        return state
    except BadCheckpoint:
        raise
    except (OSError, ValueError) as error:
        raise BadCheckpoint(f"the checkpoint in {saved} cannot be read: {error}") from None


def _usual_partitioning(spread: ResultDistribution | None, cores: int) -> Partitioning:
    """Where results are spread by location, messages go to the same shards for both."""
    if spread is None:
        return Hash(cores)
    return spread.cells.tree if spread.cells else Hash(spread.shards)


def _id_type(rows: DataFrame, side: str) -> str:
    fields = rows.schema[side].dataType
    return "bigint" if isinstance(fields["id"].dataType, LongType) else "string"  # type: ignore[index]


def _arrow_type(name: str) -> pa.DataType:
    return pa.int64() if name == "bigint" else pa.string()
