"""Which partitioning, how many shards?  Decided on Spark; only the plan comes to the driver."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as sf

from nearcast.model import Space
from nearcast.pipeline.frames import message_columns, subscription_columns
from nearcast.pipeline.packing import unpack_messages, unpack_subscriptions
from nearcast.pipeline.partitioning import (
    Hash,
    Plan,
    check_name,
    hash_ids,
    number_of_shards,
    plan_for,
)
from nearcast.pipeline.partitioning.partitioning import check_shards
from nearcast.pipeline.routing import (
    PACKED_IN_SPARK,
    SUBSCRIPTIONS_FIRST,
    route_messages,
    route_subscriptions,
)
from nearcast.pipeline.rows import joined_messages, joined_subscriptions

SAMPLE = 20_000
"""So many rows of each side stand for all of them when a plan is made."""


def plan(
    messages: DataFrame,
    subscriptions: DataFrame,
    *,
    partitioning: str = "auto",
    shards: int | None = None,
    space: Space = Space.EARTH,
) -> Plan:
    """Choose a partitioning for subscriptions and messages like these, and say why.

    `match` does this by itself; a stream, which cannot know what will come, takes a plan made from
    tables of the past. `shards` is a shard a core by default, more for very many subscriptions.

    Each side is read once, inside Spark; a task makes the plan, so that no rows come to the driver.
    """
    messages = message_columns(messages, space)
    subscriptions = subscription_columns(subscriptions, space)
    check_name(partitioning)
    if shards is not None:
        check_shards(shards)
    cores = messages.sparkSession.sparkContext.defaultParallelism
    counts = Observation(), Observation()
    samples = []
    for frame, count, route in (
        (subscriptions, counts[0], route_subscriptions),
        (messages, counts[1], route_messages),
    ):
        counted = frame.observe(count, sf.count(sf.lit(1)).alias("rows"))
        sample = counted.orderBy(sf.rand(seed=0)).limit(SAMPLE)
        together = partial(route, partitioning=Hash(1), space=space)
        samples.append(sample.mapInArrow(together, PACKED_IN_SPARK))
    sampled = samples[0].union(samples[1]).persist()
    try:
        sampled.count()
        total_subscriptions, total_messages = (int(count.get["rows"]) for count in counts)
        shards = shards or number_of_shards(total_subscriptions, cores)
        make_plan = partial(
            _plan,
            name=partitioning,
            total_subscriptions=total_subscriptions,
            total_messages=total_messages,
            shards=shards,
        )
        one_task = sampled.repartitionById(1, "shard").sortWithinPartitions("turn")
        # Where there is no row at all, Spark runs no task.
        plans = one_task.mapInArrow(make_plan, "plan binary").collect()
    finally:
        sampled.unpersist()
    return pickle.loads(plans[0].plan) if plans else _for_nothing(shards)


def _for_nothing(shards: int) -> Plan:
    return Plan(Hash(shards), {}, "hash, because one side has no good rows")


def _plan(
    batches: Iterator[pa.RecordBatch],
    name: str,
    total_subscriptions: int,
    total_messages: int,
    shards: int,
) -> Iterator[pa.RecordBatch]:
    subscriptions, messages = [], []
    for batch in batches:
        for turn, data in zip(batch["turn"].to_pylist(), batch["data"], strict=True):
            if turn == SUBSCRIPTIONS_FIRST:
                subscriptions.append(unpack_subscriptions(data.as_buffer()))
            else:
                messages.append(unpack_messages(data.as_buffer()))
    if not subscriptions or not messages:
        chosen = _for_nothing(shards)
    else:
        sample = joined_subscriptions(subscriptions)
        chosen = plan_for(
            name,
            sample.batch,
            hash_ids(sample.labels),
            joined_messages(messages).batch,
            total_subscriptions=total_subscriptions,
            total_messages=total_messages,
            shards=shards,
        )
    yield pa.RecordBatch.from_pydict({"plan": pa.array([pickle.dumps(chosen)], pa.binary())})
