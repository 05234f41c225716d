"""`match`: the join of a DataFrame of messages with a DataFrame of subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import cast

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import RarestWordTree
from nearcast.pipeline.frames import id_type, message_columns, subscription_columns
from nearcast.pipeline.packing import unpack_messages, unpack_subscriptions
from nearcast.pipeline.partitioning import (
    Partitioning,
    Plan,
    first_common,
    hash_ids,
)
from nearcast.pipeline.planning import plan
from nearcast.pipeline.routing import (
    PACKED_IN_SPARK,
    SUBSCRIPTIONS_FIRST,
    rejected_messages,
    rejected_subscriptions,
    route_messages,
    route_subscriptions,
)
from nearcast.pipeline.rows import Rows, joined_subscriptions
from nearcast.pipeline.snapshot import MakeIndex

REJECTS_IN_SPARK = "side string, id string, reason string, row string"

# A message may match millions of subscriptions; results leave a task in batches of so many.
_PAIRS_TOGETHER = 1 << 18


class MatchedFrame(DataFrame):
    """What `match` returns: a DataFrame that also knows its plan and the rows it refused.

    - `plan`: which partitioning was used, how many shards, and why
    - `rejects`: DataFrame(side, id, reason, row) of the rows that break a rule; reads both sides
      once more when it is asked for rows
    """

    plan: Plan
    rejects: DataFrame


def match(
    messages: DataFrame,
    subscriptions: DataFrame,
    *,
    index: MakeIndex | None = None,
    partitioning: str | Partitioning = "auto",
) -> MatchedFrame:
    """Which subscriptions does each message concern?  DataFrame(subscription_id, message_id).

    Both sides need the columns that `MessageBatch.from_arrow` and `SubscriptionBatch.from_arrow`
    describe; others are ignored. Like in a join each row stands for itself: rows with equal ids are
    matched each by itself. Rows that break a rule are left out and are in `.rejects` of the result.

    Parameters
    ----------
    index: makes an empty index for each shard; `RarestWordTree` by default. Its space is that of
        the data: `functools.partial(RarestWordTree, space=Space.PLANE)`
    partitioning: "auto", "hash", "location", "keyword", or a `Partitioning`; `.plan` of the result
        tells what was chosen and why

    Subscriptions are routed to shards, a shard is one task: it builds its index once and messages
    stream through it. Nothing but the plan is ever collected to the driver.
    """
    for side, frame in (("messages", messages), ("subscriptions", subscriptions)):
        if frame.isStreaming:
            raise ValueError(f"the {side} are a stream; use nearcast.pipeline.stream for streams")
    make_index = index or RarestWordTree
    space = make_index().space
    messages = message_columns(messages, space)
    subscriptions = subscription_columns(subscriptions, space)
    if isinstance(partitioning, Partitioning):
        chosen = Plan(partitioning, {}, f"{partitioning.name} was given")
    else:
        chosen = plan(messages, subscriptions, partitioning=partitioning, space=space)

    way = chosen.partitioning
    routed = subscriptions.mapInArrow(
        partial(route_subscriptions, partitioning=way, space=space), PACKED_IN_SPARK
    ).union(
        messages.mapInArrow(partial(route_messages, partitioning=way, space=space), PACKED_IN_SPARK)
    )
    in_shards = routed.repartitionById(way.shards, "shard")
    result = in_shards.sortWithinPartitions("turn").mapInArrow(
        partial(match_shard, partitioning=way, make_index=make_index),
        f"subscription_id {_sql_type(subscriptions)}, message_id {_sql_type(messages)}",
    )
    matched = cast(MatchedFrame, result)
    matched.plan = chosen
    matched.rejects = subscriptions.mapInArrow(
        partial(rejected_subscriptions, space=space), REJECTS_IN_SPARK
    ).union(messages.mapInArrow(partial(rejected_messages, space=space), REJECTS_IN_SPARK))
    return matched


def match_shard(
    batches: Iterator[pa.RecordBatch], partitioning: Partitioning, make_index: MakeIndex
) -> Iterator[pa.RecordBatch]:
    """One task: builds the index of its shard, then answers packed messages as they come."""
    waiting: list[Rows[SubscriptionBatch]] = []
    shard: BuiltShard | None = None
    for batch in batches:
        for turn, data in zip(batch["turn"].to_pylist(), batch["data"], strict=True):
            if turn == SUBSCRIPTIONS_FIRST:
                waiting.append(unpack_subscriptions(data.as_buffer()))
            elif waiting:
                number = batch["shard"][0].as_py()
                shard = shard or BuiltShard(number, waiting, partitioning, make_index)
                yield from shard.match(unpack_messages(data.as_buffer()))


class BuiltShard:
    """The subscriptions of one shard, indexed; they do not change."""

    def __init__(
        self,
        number: int,
        subscriptions: list[Rows[SubscriptionBatch]],
        partitioning: Partitioning,
        make_index: MakeIndex,
    ) -> None:
        rows = joined_subscriptions(subscriptions)
        self._number = number
        self._labels = rows.labels
        self._partitioning = partitioning
        self._masks = partitioning.of_subscriptions(rows.batch, hash_ids(rows.labels)).masks(
            partitioning.shards
        )
        self._index = make_index()
        self._index.insert_batch(rows.batch)

    def match(self, rows: Rows[MessageBatch]) -> Iterator[pa.RecordBatch]:
        """Pairs of ids.  A pair that several shards find belongs to the lowest of them."""
        found = self._index.match_batch(rows.batch)
        message = np.repeat(np.arange(len(rows)), np.diff(found.start))
        subscription = np.array(found.subscription_ids, np.int64)
        routes = self._partitioning.of_messages(rows.batch)
        visits = np.diff(routes.start)
        if (visits > 1).any():
            masks = routes.masks(self._partitioning.shards)
            mine = first_common(self._masks[subscription], masks[message]) == self._number
            message, subscription = message[mine], subscription[mine]
        for begin in range(0, len(message), _PAIRS_TOGETHER):
            pairs = slice(begin, begin + _PAIRS_TOGETHER)
            yield pa.RecordBatch.from_arrays(
                [
                    spark_ids(self._labels.take(pa.array(subscription[pairs]))),
                    spark_ids(rows.labels.take(pa.array(message[pairs]))),
                ],
                ["subscription_id", "message_id"],
            )


def spark_ids(labels: pa.Array) -> pa.Array:
    """Ids as Spark has them: its strings have 32-bit offsets."""
    return labels if pa.types.is_integer(labels.type) else labels.cast(pa.string())


def _sql_type(frame: DataFrame) -> str:
    return "bigint" if isinstance(id_type(frame), LongType) else "string"
