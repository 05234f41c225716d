"""Subscriptions and messages come from Kafka, notifications go back to it, each once.

Needs a Kafka that makes topics when they are first used, and Spark's connector:

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0 \\
        examples/kafka_stream.py localhost:9092

Prints:
    ada hears of message 1
    bob hears of message 1
    refused: latitude 99.0 is outside [-90, 90]; did you swap longitude and latitude?
"""

import json
import sys
import tempfile
import uuid
from pathlib import Path

from pyspark.sql import SparkSession

from nearcast.pipeline import KafkaSink, kafka_events, kafka_messages, stream

servers = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
kafka = {"kafka.bootstrap.servers": servers}
mine = uuid.uuid4().hex[:8]  # topics of this run
subscriptions, messages, found = f"subscriptions-{mine}", f"messages-{mine}", f"found-{mine}"


def send(topic, records):
    texts = [(key, None if value is None else json.dumps(value)) for key, value in records]
    frame = spark.createDataFrame(texts, "key string, value string")
    # One partition, so that they are written in this order.
    frame.coalesce(1).write.format("kafka").options(**kafka, topic=topic).save()


def read(topic):
    options = {**kafka, "subscribe": topic, "kafka.isolation.level": "read_committed"}
    records = spark.read.format("kafka").options(**options).load().collect()
    return [json.loads(record.value) for record in records]


# The key of a subscription event is its id. A value of null ends the subscription.
paris = {"type": "Point", "coordinates": [2.35, 48.86]}
near_paris = {"type": "Feature", "geometry": paris, "properties": {"radius": 5_000}}
send(
    subscriptions,
    [
        ("ada", {"keywords": "ipad AND (discount OR sale)", "region": near_paris}),
        ("bob", {"keywords": ["sale"]}),
        ("eve", {"keywords": "sale"}),
        ("eve", None),
    ],
)
send(
    messages,
    [
        (None, {"id": "1", "text": "iPad sale, today only!", "lon": 2.36, "lat": 48.85}),
        (None, {"id": "2", "text": "iPad sale", "lon": 2.36, "lat": 99}),
    ],
)

running = stream(
    kafka_events(spark, servers, subscriptions),
    kafka_messages(spark, servers, messages),
    sink=KafkaSink(spark, servers, found),
    checkpoint=Path(tempfile.mkdtemp()) / "checkpoint",
    trigger={"availableNow": True},  # a service leaves this out, and runs
)
running.await_termination()

for row in sorted(read(found), key=lambda row: row["subscription_id"]):
    print(f"{row['subscription_id']} hears of message {row['message_id']}")
for row in read(f"{found}-rejects"):
    print(f"refused: {row['reason']}")
