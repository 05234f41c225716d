"""The job for a cluster: subscriptions and messages from Kafka, notifications back to it.

    spark-submit ... deploy/stream.py SERVERS CHECKPOINT SHARDS [--results]

SERVERS are Kafka's, `host:port`; CHECKPOINT is a folder that the driver and all executors reach
under that path; SHARDS is about the number of cores, and stays the same for the life of the
checkpoint, as does `--results`: with it subscriptions are of every kind, without it boolean. It
reads the topics `subscriptions` and `messages`, writes `notifications` and `notifications-rejects`,
prints a line a minute, and runs until it is stopped. docs/cluster.md tells the rest.
"""

import argparse

from pyspark.sql import SparkSession

from nearcast.pipeline import (
    Hash,
    KafkaSink,
    ResultSettings,
    kafka_events,
    kafka_messages,
    stream,
)
from nearcast.pipeline.session import SETTINGS

ROWS_PER_BATCH = 50_000


def main(servers: str, checkpoint: str, shards: int, *, has_results: bool) -> None:
    """Run until it is stopped, or fails."""
    spark = SparkSession.builder.appName("nearcast").config(map=dict(SETTINGS)).getOrCreate()
    running = stream(
        kafka_events(spark, servers, "subscriptions", rows_per_batch=ROWS_PER_BATCH),
        kafka_messages(spark, servers, "messages", rows_per_batch=ROWS_PER_BATCH),
        sink=KafkaSink(spark, servers, "notifications"),
        checkpoint=checkpoint,
        partitioning=Hash(shards),
        results=ResultSettings() if has_results else None,
    )
    while not running.await_termination(60):
        print(running.summary, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="spark-submit ... deploy/stream.py")
    parser.add_argument("servers")
    parser.add_argument("checkpoint")
    parser.add_argument("shards", type=int)
    parser.add_argument("--results", action="store_true", help="every kind of subscription")
    options = parser.parse_args()
    main(options.servers, options.checkpoint, options.shards, has_results=options.results)
