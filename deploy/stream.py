"""The job for a cluster: subscriptions and messages from Kafka, notifications back to it.

    spark-submit ... deploy/stream.py SERVERS CHECKPOINT SHARDS

SERVERS are Kafka's, `host:port`; CHECKPOINT is a folder that the driver and all executors reach
under that path; SHARDS is about the number of cores, and stays the same for the life of the
checkpoint. It reads the topics `subscriptions` and `messages`, writes `notifications` and
`notifications-rejects`, prints a line a minute, and runs until it is stopped. docs/cluster.md tells
the rest.
"""

import sys

from pyspark.sql import SparkSession

from nearcast.pipeline import Hash, KafkaSink, kafka_events, kafka_messages, stream
from nearcast.pipeline.session import SETTINGS

ROWS_PER_BATCH = 50_000


def main(servers: str, checkpoint: str, shards: str) -> None:
    """Run until it is stopped, or fails."""
    spark = SparkSession.builder.appName("nearcast").config(map=dict(SETTINGS)).getOrCreate()
    running = stream(
        kafka_events(spark, servers, "subscriptions", rows_per_batch=ROWS_PER_BATCH),
        kafka_messages(spark, servers, "messages", rows_per_batch=ROWS_PER_BATCH),
        sink=KafkaSink(spark, servers, "notifications"),
        checkpoint=checkpoint,
        partitioning=Hash(int(shards)),
    )
    while not running.await_termination(60):
        print(running.summary, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: spark-submit ... deploy/stream.py SERVERS CHECKPOINT SHARDS")
    main(*sys.argv[1:])
