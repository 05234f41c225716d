"""Tasks that turn rows into packed batches, one for each shard that they go to."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from nearcast.model import Space
from nearcast.pipeline.frames import chunks
from nearcast.pipeline.packing import pack_messages, pack_subscriptions
from nearcast.pipeline.partitioning import Partitioning, hash_ids
from nearcast.pipeline.rows import read_messages, read_subscriptions

# Subscriptions come first in a shard: they are sorted by this.
SUBSCRIPTIONS_FIRST, MESSAGES_NEXT = 0, 1

PACKED = pa.schema([("shard", pa.int32()), ("turn", pa.int32()), ("data", pa.binary())])
PACKED_IN_SPARK = "shard int, turn int, data binary"


def packed(shard: int, turn: int, data: bytes) -> pa.RecordBatch:
    """One packed batch on its way to a shard."""
    return pa.RecordBatch.from_pylist([{"shard": shard, "turn": turn, "data": data}], PACKED)


def route_subscriptions(
    batches: Iterator[pa.RecordBatch], partitioning: Partitioning, space: Space
) -> Iterator[pa.RecordBatch]:
    """The good subscriptions of a task, packed for their shards."""
    for table in chunks(batches):
        rows, _ = read_subscriptions(table, space)
        routes = partitioning.of_subscriptions(rows.batch, hash_ids(rows.labels))
        for shard, chosen in routes.by_shard():
            data = pack_subscriptions(rows.take(chosen))
            yield packed(shard, SUBSCRIPTIONS_FIRST, data)


def route_messages(
    batches: Iterator[pa.RecordBatch], partitioning: Partitioning, space: Space
) -> Iterator[pa.RecordBatch]:
    """The good messages of a task, packed for their shards."""
    for table in chunks(batches):
        rows, _ = read_messages(table, space)
        whole: bytes | None = None
        for shard, chosen in partitioning.of_messages(rows.batch).by_shard():
            if len(chosen) == len(rows):
                # All shards get the same: packed once.
                data = whole = whole or pack_messages(rows)
            else:
                data = pack_messages(rows.take(chosen))
            yield packed(shard, MESSAGES_NEXT, data)


def rejected_subscriptions(
    batches: Iterator[pa.RecordBatch], space: Space
) -> Iterator[pa.RecordBatch]:
    """The bad subscriptions of a task, with the reasons."""
    for table in chunks(batches):
        yield from read_subscriptions(table, space)[1].to_batches()


def rejected_messages(batches: Iterator[pa.RecordBatch], space: Space) -> Iterator[pa.RecordBatch]:
    """The bad messages of a task, with the reasons."""
    for table in chunks(batches):
        yield from read_messages(table, space)[1].to_batches()
