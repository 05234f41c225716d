"""The rows of a stream, changes and messages mixed, on their way to the shards."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegralType

from nearcast.batches import SubscriptionBatch
from nearcast.model import Space
from nearcast.pipeline.changes import Changes, Withdrawals, no_subscriptions
from nearcast.pipeline.frames import chunks, fields, message_columns, subscription_columns
from nearcast.pipeline.log.schema import (
    ADVANCE,
    KINDS,
    MESSAGE,
    MOVE,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from nearcast.pipeline.packing import pack_messages
from nearcast.pipeline.partitioning import Partitioning, hash_ids
from nearcast.pipeline.routing import packed
from nearcast.pipeline.rows import (
    MESSAGE_COLUMNS,
    POSITION,
    PROBLEM,
    SUBSCRIPTION_COLUMNS,
    Rows,
    read_messages,
    read_subscriptions,
)
from nearcast.pipeline.worker_garbage import spare_loaded_code

CHANGES, MESSAGES, REJECTS = 0, 1, 2
"""What a packed batch holds."""

# Rows of a stream without offsets are numbered by task and row; messages come after all changes.
_ROWS_OF_A_TASK = 1 << 40
_AFTER_CHANGES = 1 << 62


def ordered_rows(events: DataFrame, space: Space) -> DataFrame:
    """One stream with a total order: columns kind, offset, and those of its kind."""
    for name in ("kind", "offset"):
        if name not in events.columns:
            raise ValueError(
                f"a stream of changes and messages needs the column {name!r}; it has "
                f"{', '.join(events.columns)}: add it, or give two streams"
            )
    # `keywords` belongs to the subscriptions where messages have a text.
    names = [name for name in MESSAGE_COLUMNS if name != "keywords" or "text" not in events.columns]
    subscription_columns(events, space)
    message_columns(events.select(*fields(events, "messages", names)), space)
    return _rows(
        events,
        sf.col("kind"),
        _offset(events),
        sf.struct(*fields(events, "subscriptions", SUBSCRIPTION_COLUMNS)),
        sf.struct(*fields(events, "messages", names)),
    )


def two_streams(events: DataFrame, messages: DataFrame, space: Space) -> DataFrame:
    """Two streams in one: in each batch the changes come first."""
    events_read = subscription_columns(events, space)
    messages_read = message_columns(messages, space)
    kind = sf.col("kind") if "kind" in events.columns else sf.lit(SUBSCRIBE)
    offset = _offset(events) if "offset" in events.columns else sf.lit(None)
    changes = _rows(
        events,
        kind,
        offset,
        sf.struct(*fields(events, "subscriptions", SUBSCRIPTION_COLUMNS)),
        sf.lit(None).cast(messages_read.schema),
    )
    return changes.union(
        _rows(
            messages,
            sf.lit(MESSAGE),
            sf.lit(None),
            sf.lit(None).cast(events_read.schema),
            sf.struct(*fields(messages, "messages", MESSAGE_COLUMNS)),
        )
    )


def _offset(events: DataFrame) -> Column:
    kind = events.schema["offset"].dataType
    if not isinstance(kind, IntegralType):
        raise TypeError(
            f"column 'offset' has type {kind.simpleString()}; it must be integer, cast or drop it"
        )
    return sf.col("offset")


def _rows(
    frame: DataFrame, kind: Column, offset: Column, subscription: Column, message: Column
) -> DataFrame:
    return frame.select(
        kind.cast("string").alias("kind"),
        offset.cast("bigint").alias("offset"),
        subscription.alias("subscription"),
        message.alias("message"),
    )


def route(
    batches: Iterator[pa.RecordBatch], partitioning: Partitioning, space: Space, is_ordered: bool
) -> Iterator[pa.RecordBatch]:
    """The rows of a task, packed for their shards; rows that break a rule as rejects."""
    task = TaskContext.get()
    number = task.partitionId() if task else 0
    first = number * _ROWS_OF_A_TASK
    rejects: list[pa.Table] = []
    for table in chunks(batches):
        table = _with_positions(table, first, is_ordered)
        first += len(table)
        for part in _parts(table, rejects):
            kind = part["kind"][0].as_py()
            if kind == MESSAGE:
                yield from _messages(part, partitioning, space, rejects)
            elif kind == SUBSCRIBE:
                yield from _subscriptions(part, partitioning, space, rejects)
            else:
                # Those of subscriptions that the driver hosts say here that their id is no longer
                # that of a boolean subscription, if it ever was.
                is_known = kind == UNSUBSCRIBE
                yield from _withdrawals(part, partitioning, space, rejects, is_known)
    refused = pa.concat_tables(rejects) if rejects else None
    if refused is not None and len(refused):
        # Always to the same shard, or a replay with other tasks might lose or repeat them.
        yield packed(0, REJECTS, _ipc(refused))
    spare_loaded_code("route")


def _with_positions(table: pa.Table, first: int, is_ordered: bool) -> pa.Table:
    """Where each row has no offset, its number in the task; messages after all changes."""
    numbers = pa.array(np.arange(first, first + len(table)))
    position = table["offset"] if is_ordered else pc.coalesce(table["offset"], numbers)
    if not is_ordered:
        is_message = pc.equal(table["kind"], MESSAGE)
        later = pa.array(np.arange(first, first + len(table)) + _AFTER_CHANGES)
        position = pc.if_else(is_message, later, position)
    return table.append_column(POSITION, position)


def _parts(table: pa.Table, rejects: list[pa.Table]) -> Iterator[pa.Table]:
    """The rows of each kind, as flat tables."""
    position = table[POSITION]
    has_place = pc.fill_null(pc.greater_equal(position, 0), False)
    known = pc.is_in(table["kind"], pa.array(KINDS))
    for rows, text in (
        (pc.invert(known), f"kind is not one of {', '.join(KINDS)}; use these"),
        (
            pc.and_(known, pc.invert(has_place)),
            "offset is null or negative; every row of an ordered stream needs its place",
        ),
    ):
        rejects += _refused(table.filter(rows), text)
    good = table.filter(pc.and_(known, has_place))
    for kind in KINDS:
        if kind in (MOVE, ADVANCE):
            continue  # of subscriptions that the driver hosts; the shards keep none of them
        chosen = good.filter(pc.equal(good["kind"], kind))
        if len(chosen):
            side = "message" if kind == MESSAGE else "subscription"
            yield _flat(chosen, side)


def _flat(rows: pa.Table, side: str) -> pa.Table:
    """The fields of one struct as columns, beside kind and position."""
    struct = rows[side].combine_chunks()
    columns = {field.name: struct.field(field.name) for field in struct.type}
    return pa.table(columns | {"kind": rows["kind"], POSITION: rows[POSITION]})


def _refused(rows: pa.Table, reason: str) -> list[pa.Table]:
    """Rows of an unknown kind or without a place, as rejects."""
    is_message = pc.fill_null(pc.equal(rows["kind"], MESSAGE), False)
    messages = _marked(_flat(rows.filter(is_message), "message"), reason)
    others = _marked(_flat(rows.filter(pc.invert(is_message)), "subscription"), reason)
    return [read_messages(messages, Space.EARTH)[1], read_subscriptions(others, Space.EARTH)[1]]


def _marked(rows: pa.Table, problem: str) -> pa.Table:
    if PROBLEM in rows.column_names:
        rows = rows.drop_columns([PROBLEM])
    return rows.append_column(PROBLEM, pa.array([problem] * len(rows), pa.string()))


def _messages(
    table: pa.Table, partitioning: Partitioning, space: Space, rejects: list[pa.Table]
) -> Iterator[pa.RecordBatch]:
    rows, refused = read_messages(table, space)
    rejects.append(refused)
    whole: bytes | None = None
    for shard, chosen in partitioning.of_messages(rows.batch).by_shard():
        if len(chosen) == len(rows):
            data = whole = whole or pack_messages(rows)
        else:
            data = pack_messages(rows.take(chosen))
        yield packed(shard, MESSAGES, data)


def _subscriptions(
    table: pa.Table, partitioning: Partitioning, space: Space, rejects: list[pa.Table]
) -> Iterator[pa.RecordBatch]:
    """To the shards that keep them, and word that they are no longer there to all others."""
    rows, refused = read_subscriptions(table, space)
    rejects.append(refused)
    hashes = hash_ids(rows.labels)
    kept = dict(partitioning.of_subscriptions(rows.batch, hashes).by_shard())
    for shard, chosen in partitioning.of_removals(hashes).by_shard():
        keeps = kept.get(shard, np.empty(0, np.int64))
        moved = np.setdiff1d(chosen, keeps, assume_unique=True)
        yield _packed_changes(
            shard,
            rows.take(keeps),
            Withdrawals(
                rows.labels.take(pa.array(moved)), rows.position[moved], np.zeros(len(moved), bool)
            ),
        )


def _withdrawals(
    table: pa.Table,
    partitioning: Partitioning,
    space: Space,
    rejects: list[pa.Table],
    is_known: bool,
) -> Iterator[pa.RecordBatch]:
    """`is_known`: who asks for it says that they are there, and is told if they are not."""
    rows, refused = _ids_alone(table, space)
    rejects.append(refused)
    asked = Withdrawals(rows.labels, rows.position, np.full(len(rows), is_known))
    for shard, chosen in partitioning.of_removals(hash_ids(rows.labels)).by_shard():
        none = no_subscriptions(rows.labels, space)
        yield _packed_changes(shard, none, asked.take(chosen))


def _ids_alone(table: pa.Table, space: Space) -> tuple[Rows[SubscriptionBatch], pa.Table]:
    """Rows of which only the id counts: the others get keywords that are good."""
    columns = [name for name in ("id", "kind", POSITION, PROBLEM) if name in table.column_names]
    some_word = pa.array(["any"] * len(table))
    return read_subscriptions(table.select(columns).append_column("keywords", some_word), space)


def _packed_changes(shard: int, new: Rows[SubscriptionBatch], old: Withdrawals) -> pa.RecordBatch:
    return packed(shard, CHANGES, Changes(new, old).pack())


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data
