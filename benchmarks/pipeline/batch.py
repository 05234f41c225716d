"""Two tables in files, all pairs out: in one process, through Spark, and as a plain SQL join."""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from benchmarks.oracle import Expected, WrongAnswerError
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import RarestWordTree
from nearcast.pipeline import match

THREADS = 2

_SQL = """
SELECT s.id AS subscription_id, m.id AS message_id
FROM {messages} m JOIN {subscriptions} s
ON m.lon BETWEEN s.west AND s.east AND m.lat BETWEEN s.south AND s.north
AND forall(s.words, word -> array_contains(m.words, word))
"""


@dataclass(frozen=True)
class Timed:
    """Seconds of each pass, from the files to the number of pairs."""

    seconds: tuple[float, ...]
    matches: int
    build_seconds: float | None = None
    match_seconds: float | None = None
    plan: str = ""


def in_process(messages: str, subscriptions: str, passes: int) -> Timed:
    """The index alone: read, build, match with two threads."""
    taken, build, matching, found = [], 0.0, 0.0, 0
    for _ in range(passes):
        gc.collect()
        start = perf_counter()
        index = RarestWordTree()
        subscribed = SubscriptionBatch.from_arrow(pq.read_table(subscriptions))
        began = perf_counter()
        index.insert_batch(subscribed)
        build = perf_counter() - began
        published = MessageBatch.from_arrow(pq.read_table(messages))
        began = perf_counter()
        found = len(index.match_batch(published, threads=THREADS))
        matching = perf_counter() - began
        taken.append(perf_counter() - start)
    return Timed(tuple(taken), found, build, matching)


def through_spark(
    spark: SparkSession, messages: str, subscriptions: str, partitioning: str, passes: int
) -> Timed:
    """`nearcast.pipeline.match`: plan, route, build, match."""
    why = ""

    def result() -> DataFrame:
        nonlocal why
        matched = match(
            spark.read.parquet(messages),
            spark.read.parquet(subscriptions),
            partitioning=partitioning,
        )
        why = matched.plan.why
        return matched

    timed = _timed(result, passes)
    return Timed(timed.seconds, timed.matches, plan=why)


def sql_join(spark: SparkSession, messages: str, subscriptions: str, passes: int) -> Timed:
    """What a data engineer writes without an index: ranges, and all words contained."""

    def result() -> DataFrame:
        words = "split(text, ' ') AS words", "split(keywords, ' ') AS words"
        return spark.sql(
            _SQL,
            messages=spark.read.parquet(messages).selectExpr("id", "lon", "lat", words[0]),
            subscriptions=spark.read.parquet(subscriptions).selectExpr(
                "id", "west", "south", "east", "north", words[1]
            ),
        )

    return _timed(result, passes)


def check_equal(expected: Timed, other: Timed, who: str) -> None:
    if other.matches != expected.matches:
        raise WrongAnswerError(
            f"{who} found {other.matches:,} pairs, the index in one process {expected.matches:,}"
        )


def check_pairs(
    spark: SparkSession, messages: str, subscriptions: str, partitioning: str, expected: Expected
) -> int:
    """How many messages were compared with the oracle, pair by pair."""
    ids = expected.messages.ids.to_pylist()
    found = match(
        spark.read.parquet(messages).where(sf.col("id").isin(ids)),
        spark.read.parquet(subscriptions),
        partitioning=partitioning,
    )
    pairs = [(row.message_id, row.subscription_id) for row in found.collect()]
    right = {(id, each) for id, wants in zip(ids, expected.answers, strict=True) for each in wants}
    if len(pairs) != len(right) or set(pairs) != right:
        raise WrongAnswerError(f"match by {partitioning} and the oracle disagree")
    return len(ids)


def _timed(result: Callable[[], DataFrame], passes: int) -> Timed:
    taken, found = [], 0
    for _ in range(passes):
        start = perf_counter()
        found = result().count()
        taken.append(perf_counter() - start)
    return Timed(tuple(taken), found)
