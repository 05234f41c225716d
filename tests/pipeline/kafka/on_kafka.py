"""A stream from Kafka to Kafka; started by `test_kafka.py`, three times with the same folder.

- `inside`: everybody subscribes, messages flow; killed when a batch is sent and not committed
- `after`: goes on; killed when Kafka has committed a batch and Spark has not
- `rest`: goes on to the end; then subscriptions change and more messages come; then the topic of
  subscriptions is compacted and a new stream begins with what is left of it

`rest` prints one JSON object: what was found, and what the definitions say.
"""

import json
import os
import random
import signal
import sys
from pathlib import Path

from nearcast.pipeline import (
    CallbackSink,
    KafkaSink,
    kafka_events,
    kafka_messages,
    spark_session,
    stream,
)
from nearcast.pipeline.kafka.client import KafkaError
from nearcast.pipeline.log.rows import message_rows, subscribe_rows
from nearcast.pipeline.log.schema import LOG_SCHEMA
from tests.pipeline.histories import Oracle, random_message, random_subscription
from tests.pipeline.in_process import pairs_of
from tests.pipeline.kafka.broker import connector_jars

WISHES, SAID, FOUND = "wishes", "said", "found"
MESSAGES_PER_BATCH = 20
NEVER = "s-never"


def first_wishes():
    draw = random.Random(1)
    return [random_subscription(draw, f"s{n}") for n in range(30)]


def later_wishes():
    """Ten are replaced and ten leave."""
    draw = random.Random(2)
    replaced = [random_subscription(draw, f"s{n}") for n in range(10)]
    return replaced, [f"s{n}" for n in range(10, 20)]


def messages(seed):
    draw = random.Random(seed)
    return [random_message(draw, f"m{seed}-{n}") for n in range(100)]


class Killed(KafkaSink):
    """Its process dies at a batch, before Kafka's commit or after it."""

    def __init__(self, *arguments, batch, inside):
        super().__init__(*arguments)
        self._batch = batch
        self._inside = inside

    def commit(self, output):
        if output.number == self._batch and self._inside:
            self._producer._asked = self._killed_before_commit
        super().commit(output)
        if output.number == self._batch:
            _die()

    def _killed_before_commit(self, call, *arguments):
        if call.name == "commitTransaction":
            self._producer._producer.flush()
            _die()
        return call(*arguments)


def _die():
    os.kill(os.getpid(), signal.SIGKILL)


class Run:
    def __init__(self, servers, folder):
        self.servers = servers
        self.folder = folder
        self.spark = spark_session(
            "local[2]",
            settings={
                "spark.jars": connector_jars(),
                "spark.local.dir": str(folder / "local"),
                "spark.driver.memory": "1g",
            },
        )

    def make_compacted_topic(self):
        kafka = self.spark._jvm.org.apache.kafka.clients.admin
        properties = self.spark._jvm.java.util.Properties()
        properties.put("bootstrap.servers", self.servers)
        admin = kafka.AdminClient.create(properties)
        topic = kafka.NewTopic(WISHES, 1, 1).configs(
            {
                "cleanup.policy": "compact",
                "segment.ms": "100",
                "min.cleanable.dirty.ratio": "0.01",
                "delete.retention.ms": "86400000",
            }
        )
        admin.createTopics(self.spark._jvm.java.util.Collections.singleton(topic)).all().get()
        admin.close()

    def send(self, topic, records):
        frame = self.spark.createDataFrame(records, "key string, value string").coalesce(1)
        options = {"kafka.bootstrap.servers": self.servers, "topic": topic}
        frame.write.format("kafka").options(**options).save()

    def subscribe(self, subscriptions):
        rows = subscribe_rows(subscriptions, LOG_SCHEMA).to_pylist()
        self.send(WISHES, [(row.pop("id"), _value(row)) for row in rows])

    def publish(self, said):
        rows = message_rows(said, LOG_SCHEMA).to_pylist()
        self.send(SAID, [(None, _value(row)) for row in rows])

    def read(self, topic):
        options = {
            "kafka.bootstrap.servers": self.servers,
            "kafka.isolation.level": "read_committed",
            "subscribe": topic,
        }
        return self.spark.read.format("kafka").options(**options).load().collect()

    def stream(self, sink, checkpoint="checkpoint"):
        running = stream(
            kafka_events(self.spark, self.servers, WISHES),
            kafka_messages(self.spark, self.servers, SAID, rows_per_batch=MESSAGES_PER_BATCH),
            sink=sink,
            checkpoint=self.folder / checkpoint,
            trigger={"availableNow": True},
        )
        running.await_termination()
        return running.summary

    def sink(self):
        return KafkaSink(self.spark, self.servers, FOUND)

    def killed(self, batch, inside):
        sink = Killed(self.spark, self.servers, FOUND, batch=batch, inside=inside)
        self.stream(sink)


def _value(row):
    del row["kind"]
    return json.dumps({name: value for name, value in row.items() if value is not None})


def inside(run):
    run.make_compacted_topic()
    run.subscribe(first_wishes())
    run.send(WISHES, [("bad", "no JSON")])
    run.publish(messages(1))
    run.send(SAID, [("m-bad", '{"text": "tea", "lon": 1, "lat": 99}')])
    run.killed(batch=1, inside=True)


def after(run):
    run.killed(batch=2, inside=False)


def rest(run):
    found = {"after kills": run.stream(run.sink()).batches}
    replaced, gone = later_wishes()
    run.subscribe(replaced)
    run.send(WISHES, [(id_, None) for id_ in gone])
    run.publish(messages(2))
    run.stream(run.sink())
    records = [(record.key.decode(), json.loads(record.value)) for record in run.read(FOUND)]
    found["pairs"] = sorted((key, value["message_id"]) for key, value in records)
    found["keys are ids"] = all(key == value["subscription_id"] for key, value in records)
    found["batches"] = sorted({value["batch"] for _, value in records})
    found["kinds"] = sorted({value["kind"] for _, value in records})
    rejects = [json.loads(record.value) for record in run.read(f"{FOUND}-rejects")]
    found["rejects"] = sorted((each["id"] or "", each["reason"]) for each in rejects)
    found["second owner"] = second_owner(run)
    found["kept"], found["late"], found["late rejects"] = late_stream(run)

    oracle = Oracle()
    for event in [*first_wishes(), *messages(1), *replaced]:
        oracle.apply(event)
    for id_ in gone:
        oracle.apply(("unsubscribe", id_))
    for message in messages(2):
        oracle.apply(message)
    found["expected"] = sorted(oracle.notifications)
    oracle.notifications.clear()
    for message in [*messages(1), *messages(2)]:
        oracle.apply(message)
    found["expected late"] = sorted(oracle.notifications)
    print(json.dumps(found))


def second_owner(run):
    """What the first of two sinks for one stream gets to hear when it writes."""
    first, second = run.sink(), run.sink()
    first.open("twice")
    second.open("twice")
    try:
        first._producer.write(0, {FOUND: []})
        return None
    except KafkaError as error:
        return str(error)
    finally:
        second.close()


def late_stream(run):
    """A new checkpoint, when the topic keeps only the last word of each subscription."""
    while len(records := run.read(WISHES)) > len({record.key for record in records}) + 1:
        run.send(WISHES, [(NEVER, None)])  # the last segment is never compacted, so begin another
    pairs, rejects = [], []

    def keep(batch, notifications, refused):
        pairs.extend(pairs_of(notifications))
        rejects.extend(refused["id"].to_pylist())

    run.stream(CallbackSink(keep), "late")
    return len(records), sorted(pairs), sorted(id_ or "" for id_ in rejects)


if __name__ == "__main__":
    {"inside": inside, "after": after, "rest": rest}[sys.argv[1]](
        Run(sys.argv[2], Path(sys.argv[3]))
    )
