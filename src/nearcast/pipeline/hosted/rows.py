"""`HostedRows`: what a batch of the stream brings to the results of a shard; its changelog."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from nearcast.batches import MessageBatch
from nearcast.model import Id
from nearcast.pipeline.log.schema import ADVANCE
from nearcast.pipeline.packing import message_arrays, messages_of_arrays, unpack_messages
from nearcast.pipeline.rows import POSITION, Rows, joined_messages
from nearcast.pipeline.state import ShardFiles, StateFolder
from nearcast.storage import BadFile, Buffer, read_arrays, write_arrays

KIND = "hosted rows"
_SUBSCRIBE, _PREPARE = "subscribe", "prepare"
RESETTLE = "resettle"
"""The kind of a row that says which shards have a list from now on, as JSON in `region`."""

_BEFORE_ALL = -1


def _others(ids: pa.DataType) -> pa.Schema:
    texts = [(name, pa.string()) for name in ("keywords", "region")]
    numbers = [("time", pa.float64()), (POSITION, pa.int64())]
    return pa.schema([("kind", pa.string()), ("id", ids), *texts, *numbers])


Stretch: TypeAlias = Rows[MessageBatch] | pa.Table
"""Messages that follow each other, or other rows that do."""


@dataclass(frozen=True, slots=True)
class HostedRows:
    """Messages, and all other rows, each in their order; `_position` orders the two together.

    - `others`: kind, id, keywords, region, time, _position; None where there are none
    """

    messages: Rows[MessageBatch] | None
    others: pa.Table | None

    def __len__(self) -> int:
        return len(self.messages or ()) + (0 if self.others is None else len(self.others))

    @classmethod
    def of_parts(cls, messages: Sequence[Buffer], others: Sequence[Buffer]) -> HostedRows:
        """From what several tasks packed for the shard, in any order."""
        said, tables = None, [pa.ipc.open_stream(part).read_all() for part in others]
        if messages:
            said = joined_messages([unpack_messages(part) for part in messages])
            if (np.diff(said.position) < 0).any():
                said = said.take(np.argsort(said.position, kind="stable"))
        # Each task packs those that all shards hear apart from those that one does.
        table = pa.concat_tables(tables).sort_by(POSITION) if tables else None
        return cls(said, table)

    def after(self, resettled: Sequence[tuple[Id, Sequence[int]]]) -> HostedRows:
        """The same rows, after those that say which lists are in other shards."""
        if not resettled:
            return self
        rows = [
            {"kind": RESETTLE, "id": id, "region": json.dumps(homes), POSITION: _BEFORE_ALL}
            for id, homes in resettled
        ]
        if self.others is not None:
            first = pa.Table.from_pylist(rows, self.others.schema)
            return HostedRows(self.messages, pa.concat_tables([first, self.others]))
        ids = pa.int64() if isinstance(resettled[0][0], int) else pa.string()
        return HostedRows(self.messages, pa.Table.from_pylist(rows, _others(ids)))

    def with_others(self, keep: list[bool]) -> HostedRows:
        """Without the other rows that nobody needs."""
        assert self.others is not None
        kept = self.others.filter(pa.array(keep, pa.bool_()))
        return HostedRows(self.messages, kept if len(kept) else None)

    def stretches(self) -> Iterator[Stretch]:
        """All rows in their order, as long as messages or others follow each other."""
        if self.others is None or self.messages is None:
            yield from (each for each in (self.messages, self.others) if each is not None)
            return
        places = self.others[POSITION].to_numpy()
        before = np.searchsorted(self.messages.position, places)  # messages before each other row
        edges = np.flatnonzero(np.diff(before)) + 1
        done = 0
        for begin, end in zip([0, *edges], [*edges, len(places)], strict=True):
            if before[begin] > done:
                yield self.messages.take(np.arange(done, before[begin]))
            done = int(before[begin])
            yield self.others.slice(begin, end - begin)
        if done < len(self.messages):
            yield self.messages.take(np.arange(done, len(self.messages)))

    def write(self, path: str | os.PathLike[str], *, follows: int) -> None:
        """Make them durable in a file, all or nothing: the changelog of a batch.

        `follows` is the number of the batch that had rows for this shard before, -1 for none.
        """
        arrays = {}
        if self.messages is not None:
            arrays = {f"messages/{k}": v for k, v in message_arrays(self.messages).items()}
        if self.others is not None:
            arrays["others"] = np.frombuffer(to_ipc(self.others), np.uint8)
        space = self.messages.batch.space.name if self.messages else None
        write_arrays(path, KIND, {"follows": follows, "space": space}, arrays)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, follows: int) -> HostedRows:
        """The rows in a file; `BadFile` when it is damaged or does not follow that batch."""
        meta, arrays = read_arrays(path, KIND)
        if meta["follows"] != follows:
            raise BadFile(
                f"{os.fspath(path)} follows batch {meta['follows']}, but the last one here is "
                f"{follows}: a file of the checkpoint is missing; restore all of it"
            )
        others = arrays.pop("others", None)
        messages = None
        if meta["space"] is not None:
            own = {name.removeprefix("messages/"): array for name, array in arrays.items()}
            messages = messages_of_arrays(own, meta["space"])
        table = None if others is None else pa.ipc.open_stream(pa.py_buffer(others)).read_all()
        return cls(messages, table)


def logged_rows(
    state: StateFolder, shard: int, files: ShardFiles, after: int
) -> Iterator[tuple[int, HostedRows]]:
    """The changelog of a shard: the batches after one, each with its rows."""
    for before, number in pairwise((files.snapshot_batch, *files.changes)):
        if number > after:
            yield number, HostedRows.read(state.changes(shard, number), follows=before)


def prepare_kind(kind: str) -> str:
    """The kind of a row for all shards that says: somewhere somebody subscribes, as it says.

    >>> prepare_kind("subscribe_moving"), subscribe_kind("prepare_moving")
    ('prepare_moving', 'subscribe_moving')
    """
    return kind.replace(_SUBSCRIBE, _PREPARE)


def subscribe_kind(kind: str) -> str:
    """The kind of the row that was meant."""
    return kind.replace(_PREPARE, _SUBSCRIBE)


def is_prepare(kind: str) -> bool:
    """Is it one of these?"""
    return kind.startswith(_PREPARE)


def is_for_all(kind: str) -> bool:
    """Does every shard hear of a row of this kind?"""
    return kind == ADVANCE or is_prepare(kind)


def to_ipc(table: pa.Table) -> bytes:
    """A table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data
