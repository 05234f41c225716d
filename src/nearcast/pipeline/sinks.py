"""Where the notifications of a stream go.

A sink gets each batch at least once, always the same under the same number, and must take it once:
that is what makes the effect exactly-once.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearcast.durable_files import (
    link,
    make_folder,
    remove_unfinished,
    sync,
    whole_file,
    whole_folder,
)
from nearcast.pipeline.durable_parquet import read_parquet, row_count, write_parquet
from nearcast.pipeline.hosted.keeper import RESULTS
from nearcast.pipeline.notification_store import NotificationStore
from nearcast.pipeline.rows import REJECTS
from nearcast.pipeline.unknown_ids import VOTES


@dataclass(frozen=True, slots=True)
class BatchOutput:
    """What the shards made of a batch, in files.

    - `number`: of the batch
    - `schema`: of its notifications: subscription_id, message_id, time, position; where the
      stream keeps results, what `with_result_columns` adds
    - `notification_files`, `reject_files`: Parquet, one for each shard that has any
    - `offsets`: of its rows, in a stream with one order; else empty
    - `result_files`: Parquet, where the sink keeps results
    """

    number: int
    schema: pa.Schema
    notification_files: Sequence[Path]
    reject_files: Sequence[Path]
    offsets: range = range(0)
    result_files: Sequence[Path] = ()

    def notifications(self) -> pa.Table:
        """All of them, in the order of the stream; what one row did, matches first."""
        tables = [read_parquet(path) for path in self.notification_files]
        found = [self._with_all_columns(table) for table in tables if len(table)]
        return pa.concat_tables([self.schema.empty_table(), *found]).sort_by("position")

    def put(self, path: Path, target: Path) -> None:
        """One of the files with notifications, in its order, and with all columns."""
        if set(self.schema.names) <= set(pq.read_schema(path).names):
            link(path, target)
        else:
            write_parquet(target, [self._with_all_columns(read_parquet(path))], {})

    def _with_all_columns(self, table: pa.Table) -> pa.Table:
        for field in self.schema:
            if field.name not in table.column_names:
                is_match = field.name == "kind"
                value = pa.scalar("match" if is_match else None, field.type)
                table = table.append_column(field, pa.repeat(value, len(table)))
        return table.cast(self.schema)

    def results(self) -> pa.Table:
        """subscription_id, kind, items: results that changed, the last null where one has ended."""
        return pa.concat_tables([RESULTS.empty_table(), *map(read_parquet, self.result_files)])

    def rejects(self) -> pa.Table:
        """side, id, reason, row.  An id is unknown when all shards that might have it say so."""
        tables = [read_parquet(path) for path in self.reject_files]
        if not tables:
            return REJECTS.empty_table()
        table = pa.concat_tables(tables)
        own = table.filter(pc.equal(table[VOTES], 1))
        shared = table.filter(pc.greater(table[VOTES], 1))
        keys = ["position", *REJECTS.names, VOTES]
        counted = shared.group_by(keys).aggregate([([], "count_all")])
        agreed = counted.filter(pc.equal(counted["count_all"], counted[VOTES]))
        return pa.concat_tables([own.select(REJECTS.names), agreed.select(REJECTS.names)])


class Sink(ABC):
    """Takes the batches of a stream."""

    keeps_results: bool = False
    """Does it want the results of subscriptions as they are, besides what is told of them?"""

    @abstractmethod
    def open(self, stream: str) -> None:
        """Get ready for the batches of this stream; refuse when another one's are here already."""

    @abstractmethod
    def commit(self, output: BatchOutput) -> None:
        """Make a batch durable, all or nothing; a batch that is there already changes nothing."""

    def close(self) -> None:
        """The stream has stopped."""
        return None


class StoreSink(Sink):
    """Into a `NotificationStore`, from which subscribers read in order, each from where it was."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path

    def open(self, stream: str) -> None:
        self._store = NotificationStore(self._path, stream=stream)

    def commit(self, output: BatchOutput) -> None:
        self._store.write(output.number, output.notifications(), output.rejects())

    def close(self) -> None:
        self._store.close()


class FilesSink(Sink):
    """Into Parquet files, a folder for each batch: `batch=17/notifications-….parquet`.

    The folder of a batch appears whole. Each shard has a file of its own, in its order; `position`
    orders all of them. `spark.read.parquet(folder)` reads all; rejects are in `_rejects`, which it
    skips.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)

    def open(self, stream: str) -> None:
        make_folder(self._folder / "_rejects")
        remove_unfinished(self._folder, "batch=*")
        owner = self._folder / "_stream"
        if not owner.exists():
            with whole_file(owner) as file:
                file.write(stream.encode())
        elif owner.read_text() != stream:
            raise ValueError(
                f"{self._folder} has batches of another stream, whose numbers would be taken for "
                "those of this one; give each stream a folder of its own"
            )

    def commit(self, output: BatchOutput) -> None:
        rejects = output.rejects()
        if len(rejects):
            target = self._folder / "_rejects" / f"batch-{output.number}.parquet"
            write_parquet(target, [rejects], {})
        target = self._folder / f"batch={output.number}"
        filled = [path for path in output.notification_files if row_count(path)]
        if target.exists():
            sync(self._folder)  # who was killed may not have waited for it
        elif filled:
            with whole_folder(target) as unfinished:
                for number, path in enumerate(filled):
                    output.put(path, unfinished / f"notifications-{number:05d}.parquet")


class CallbackSink(Sink):
    """Into a function of yours: `function(batch, notifications, rejects)`, Arrow tables.

    After a crash, or a stop in its middle, the last batch may come again, with the same number and
    the same rows.
    """

    def __init__(self, function: Callable[[int, pa.Table, pa.Table], None]) -> None:
        self._function = function

    def open(self, stream: str) -> None:
        """Nothing to do: the function is its owner's."""

    def commit(self, output: BatchOutput) -> None:
        self._function(output.number, output.notifications(), output.rejects())
