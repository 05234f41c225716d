"""The rows of a stream, changes and messages mixed, on their way to the shards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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
from nearcast.pipeline.hosted.rows import prepare_kind, to_ipc
from nearcast.pipeline.hosted.spread.bare import with_bare
from nearcast.pipeline.hosted.spread.distribution import ResultDistribution
from nearcast.pipeline.log.hosted_rows import hosted_subscription
from nearcast.pipeline.log.schema import (
    ADVANCE,
    BOOLEAN_KINDS,
    KINDS,
    MESSAGE,
    MOVE,
    SUBSCRIBE,
    SUBSCRIBE_HOSTED,
    SUBSCRIBE_TOP,
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

CHANGES, MESSAGES, REJECTS, HOSTED, HOSTED_MESSAGES = 0, 1, 2, 3, 4
"""What a packed batch holds; the last are messages that only results need in this shard."""

_NO_MESSAGE = tuple(kind for kind in KINDS if kind != MESSAGE)
NEEDS_RESULTS = "for top-k, trending and moving ones give the stream results=ResultSettings()"

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
    batches: Iterator[pa.RecordBatch],
    partitioning: Partitioning,
    space: Space,
    is_ordered: bool,
    has_results: bool,
    distribution: ResultDistribution | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of a task, packed for their shards; rows that break a rule as rejects.

    - `has_results`: does the stream keep subscriptions that have a result of their own?
    - `distribution`: how they are spread over shards; None: by their ids
    """
    task = TaskContext.get()
    number = task.partitionId() if task else 0
    first = number * _ROWS_OF_A_TASK
    rejects: list[pa.Table] = []
    for table in chunks(batches):
        table = _with_positions(table, first, is_ordered)
        first += len(table)
        if has_results:
            yield from _hosted(table, partitioning.shards, rejects, distribution is not None)
        for part in _parts(table, rejects, KINDS if has_results else BOOLEAN_KINDS):
            kind = part["kind"][0].as_py()
            if kind == MESSAGE:
                yield from _messages(part, partitioning, space, rejects, has_results, distribution)
            elif kind == SUBSCRIBE:
                yield from _subscriptions(part, partitioning, space, rejects)
            else:
                # Those of subscriptions that have a result say here that their id is no longer
                # that of a boolean subscription, if it ever was.
                is_known = kind == UNSUBSCRIBE
                yield from _withdrawals(part, partitioning, space, rejects, is_known)
    refused = pa.concat_tables(rejects) if rejects else None
    if refused is not None and len(refused):
        # Always to the same shard, or a replay with other tasks might lose or repeat them.
        yield packed(0, REJECTS, to_ipc(refused))
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


def _parts(
    table: pa.Table, rejects: list[pa.Table], allowed: tuple[str, ...]
) -> Iterator[pa.Table]:
    """The rows of each kind, as flat tables."""
    has_place = _has_place(table)
    known = pc.is_in(table["kind"], pa.array(allowed))
    way_out = "" if allowed == KINDS else f"; {NEEDS_RESULTS}"
    for rows, text in (
        (pc.invert(known), f"kind is not one of {', '.join(allowed)}; use these{way_out}"),
        (
            pc.and_(known, pc.invert(has_place)),
            "offset is null or negative; every row of an ordered stream needs its place",
        ),
    ):
        rejects += _refused(table.filter(rows), text)
    good = table.filter(pc.and_(known, has_place))
    for kind in KINDS:
        if kind in (MOVE, ADVANCE):
            continue  # of subscriptions that have a result; see `_hosted`
        chosen = good.filter(pc.equal(good["kind"], kind))
        if len(chosen):
            side = "message" if kind == MESSAGE else "subscription"
            yield _flat(chosen, side)


def _has_place(table: pa.Table) -> pa.ChunkedArray:
    return pc.fill_null(pc.greater_equal(table[POSITION], 0), False)


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
    table: pa.Table,
    partitioning: Partitioning,
    space: Space,
    rejects: list[pa.Table],
    has_results: bool,
    distribution: ResultDistribution | None,
) -> Iterator[pa.RecordBatch]:
    """To the shards that have to match them; results need the others there too, whole or bare."""
    rows, refused = read_messages(table, space)
    rejects.append(refused)
    whole: bytes | None = None
    routes = dict(partitioning.of_messages(rows.batch).by_shard())
    everything = np.arange(len(rows))
    heard = distribution.hear(rows.batch) if distribution else None
    for shard in range(partitioning.shards):
        matched = routes.get(shard, everything[:0])
        others = np.setdiff1d(everything, matched) if has_results else everything[:0]
        for turn, chosen in ((MESSAGES, matched), (HOSTED_MESSAGES, others)):
            if turn == HOSTED_MESSAGES and heard is not None and len(chosen):
                taken = rows.take(chosen)
                bare = with_bare(taken.batch, heard[chosen, shard])
                yield packed(shard, turn, pack_messages(replace(taken, batch=bare)))
            elif len(chosen) == len(rows) > 0:
                whole = whole or pack_messages(rows)
                yield packed(shard, turn, whole)
            elif len(chosen):
                yield packed(shard, turn, pack_messages(rows.take(chosen)))


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


def _hosted(
    table: pa.Table, shards: int, rejects: list[pa.Table], to_all: bool
) -> Iterator[pa.RecordBatch]:
    """Rows for results, but for messages: to the shard of their id, or to all.

    To all go all rows, where shards decide themselves who lives where. Else the first subscription
    of a kind makes all shards remember what those of this kind need, as it would in one process; a
    row of its own tells them.
    """
    rows = table.filter(pc.and_(_has_place(table), pc.is_in(table["kind"], pa.array(_NO_MESSAGE))))
    if not len(rows):
        return
    flat = _hosted_columns(rows)
    has_id = pc.is_valid(flat["id"])
    nobodys = pc.and_(pc.equal(flat["kind"], MOVE), pc.invert(has_id))  # others are told elsewhere
    rejects += _refused(rows.filter(nobodys), "id is null; every row needs an id")
    is_for_one = np.array(pc.and_(has_id, pc.not_equal(flat["kind"], ADVANCE)))
    if to_all:
        kept = pc.or_(pa.array(is_for_one), pc.equal(flat["kind"], ADVANCE))
        data = to_ipc(flat.filter(kept))
        for shard in range(shards):
            yield packed(shard, HOSTED, data)
        return
    advances = flat.filter(pc.equal(flat["kind"], ADVANCE))
    own = flat.filter(pa.array(is_for_one))
    ids = own["id"].combine_chunks()
    kind = pa.int64() if pa.types.is_integer(ids.type) else pa.large_string()
    home = (hash_ids(ids.cast(kind)) % np.uint64(shards)).astype(np.int64)
    to_prepare = _first_of_kinds(own)
    for shard in range(shards):
        elsewhere = [number for number in to_prepare if home[number] != shard]
        prepare = own.take(pa.array(elsewhere, pa.int64()))
        kinds = pa.array([prepare_kind(each) for each in prepare["kind"].to_pylist()], pa.string())
        parts = [
            own.filter(pa.array(home == shard)),
            advances,
            prepare.set_column(prepare.schema.get_field_index("kind"), "kind", kinds),
        ]
        mine = pa.concat_tables(parts)
        if len(mine):
            yield packed(shard, HOSTED, to_ipc(mine))


def _hosted_columns(rows: pa.Table) -> pa.Table:
    """kind, id, keywords, region, time, _position; of rows that only end something, no more."""
    subscription = rows["subscription"].combine_chunks()
    message = rows["message"].combine_chunks()
    says_more = pc.is_in(rows["kind"], pa.array((*SUBSCRIBE_HOSTED, MOVE))).combine_chunks()
    columns = {"kind": rows["kind"], "id": subscription.field("id")}
    for name in ("keywords", "region"):
        has_it = subscription.type.get_field_index(name) >= 0
        values = subscription.field(name) if has_it else pa.nulls(len(rows), pa.string())
        columns[name] = pc.if_else(says_more, values, pa.scalar(None, values.type))
    has_time = message.type.get_field_index("time") >= 0
    columns["time"] = message.field("time") if has_time else pa.nulls(len(rows), pa.float64())
    return pa.table(columns | {POSITION: rows[POSITION]})


def _first_of_kinds(rows: pa.Table) -> list[int]:
    """Which row is the first good subscription of its kind, for each that an index waits for."""
    found = []
    for kind in SUBSCRIBE_HOSTED:
        if kind == SUBSCRIBE_TOP:
            continue  # its index hears of everything from the beginning
        numbers = np.flatnonzero(np.array(pc.equal(rows["kind"], kind)))
        places = rows[POSITION].to_numpy()[numbers]
        for number in numbers[np.argsort(places)].tolist():
            try:
                hosted_subscription(rows.slice(number, 1).to_pylist()[0])
            except (TypeError, ValueError, OverflowError):
                continue
            found.append(number)
            break
    return found
