"""A stream from Kafka to Kafka; started by `test_kafka.py`, several times with the same folder.

- `inside`: everybody subscribes, messages flow; killed when a batch is sent and not committed
- `after`: goes on; killed when Kafka has committed a batch and Spark has not
- `rest`: goes on to the end; then subscriptions change and more messages come; then the topic of
  subscriptions is compacted and a new stream begins with what is left of it

- `results_inside`, `results_rest`: the same of a stream with every kind of subscription; later some
  of them are elsewhere, and some leave

A `rest` prints one JSON object: what was found, and what the definitions say.
"""

import json
import os
import random
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from nearcast.model import (
    Circle,
    Message,
    MovingSubscription,
    NearbyTrendingSubscription,
    Point,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.pipeline import (
    CallbackSink,
    KafkaSink,
    ResultSettings,
    kafka_events,
    kafka_messages,
    spark_session,
    stream,
)
from nearcast.pipeline.kafka.client import KafkaError
from nearcast.pipeline.log.hosted_rows import hosted_row
from nearcast.pipeline.log.rows import message_rows, subscribe_rows
from nearcast.pipeline.log.schema import LOG_SCHEMA
from nearcast.space import region_to_geojson
from nearcast.topk import CountWindow
from tests.pipeline.histories import Oracle, random_message, random_subscription
from tests.pipeline.hosted_histories import WORDS, OneBroker
from tests.pipeline.in_process import pairs_of
from tests.pipeline.kafka.broker import connector_jars

WISHES, SAID, FOUND = "wishes", "said", "found"
RESULT_WISHES, RESULT_SAID, RESULTS = "all-wishes", "all-said", "results"
MESSAGES_PER_BATCH = 20
WINDOW = CountWindow(20)
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

    def make_topic(self, name, **configs):
        """With one partition: there is one order."""
        kafka = self.spark._jvm.org.apache.kafka.clients.admin
        properties = self.spark._jvm.java.util.Properties()
        properties.put("bootstrap.servers", self.servers)
        admin = kafka.AdminClient.create(properties)
        topic = kafka.NewTopic(name, 1, 1).configs(configs)
        admin.createTopics(self.spark._jvm.java.util.Collections.singleton(topic)).all().get()
        admin.close()

    def send(self, topic, records):
        frame = self.spark.createDataFrame(records, "key string, value string").coalesce(1)
        options = {"kafka.bootstrap.servers": self.servers, "topic": topic}
        frame.write.format("kafka").options(**options).save()

    def subscribe_all_kinds(self, subscriptions):
        self.send(RESULT_WISHES, [(each.id, as_feature(each)) for each in subscriptions])

    def subscribe(self, subscriptions):
        rows = subscribe_rows(subscriptions, LOG_SCHEMA).to_pylist()
        self.send(WISHES, [(row.pop("id"), _value(row)) for row in rows])

    def publish(self, said, topic=SAID):
        rows = message_rows(said, LOG_SCHEMA).to_pylist()
        self.send(topic, [(None, _value(row)) for row in rows])

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

    def stream_results(self, sink):
        running = stream(
            kafka_events(self.spark, self.servers, RESULT_WISHES),
            kafka_messages(
                self.spark, self.servers, RESULT_SAID, rows_per_batch=MESSAGES_PER_BATCH
            ),
            sink=sink,
            checkpoint=self.folder / "results",
            trigger={"availableNow": True},
            results=ResultSettings(WINDOW),
        )
        running.await_termination()

    def sink(self):
        return KafkaSink(self.spark, self.servers, FOUND)

    def killed(self, batch, inside):
        sink = Killed(self.spark, self.servers, FOUND, batch=batch, inside=inside)
        self.stream(sink)


def _value(row):
    del row["kind"]
    return json.dumps({name: value for name, value in row.items() if value is not None})


def as_feature(subscription):
    """As a GeoJSON Feature, of whatever kind."""
    if isinstance(subscription, Subscription) and not isinstance(subscription, MovingSubscription):
        feature = region_to_geojson(subscription.region)
        feature["properties"]["keywords"] = str(subscription.expression)
        return json.dumps(feature)
    row = hosted_row(subscription)
    feature = json.loads(row["region"])
    feature["properties"]["kind"] = row["kind"].removeprefix("subscribe_")
    if "keywords" in row:
        feature["properties"]["keywords"] = row["keywords"]
    return json.dumps(feature)


def inside(run):
    run.make_topic(
        WISHES,
        **{
            "cleanup.policy": "compact",
            "segment.ms": "100",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "86400000",
        },
    )
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


def all_kinds(seed, count):
    """Subscriptions of every kind; those of one number have the same id and kind."""
    draw, made = random.Random(seed), []
    for number in range(count):
        at, words = _place(draw), draw.sample(WORDS, 2)
        around = Circle(at, draw.uniform(2e4, 8e4))
        made.append(
            [
                TopKSubscription(f"r{number}", words, at, 3, 0.5),
                MovingSubscription(f"r{number}", " OR ".join(words), around),
                TrendingSubscription(f"r{number}", around, 3),
                NearbyTrendingSubscription(f"r{number}", at, 3),
                Subscription(f"r{number}", " OR ".join(words), around),
            ][number % 5]
        )
    return made


def timed_messages(seed):
    draw = random.Random(seed)
    for number in range(100 * seed, 100 * seed + 50):
        yield Message(
            f"m{number}",
            keywords=draw.sample(WORDS, 2),
            at=_place(draw),
            time=float(number),
            expires=number + draw.choice([5.0, 90.0]),
        )


def _place(draw):
    return Point(draw.uniform(0, 1), draw.uniform(0, 1))


def results_inside(run):
    run.make_topic(RESULT_WISHES, **{"cleanup.policy": "compact"})
    run.make_topic(RESULT_SAID)
    run.subscribe_all_kinds(all_kinds(1, 15))
    run.publish(timed_messages(1), RESULT_SAID)
    run.stream_results(Killed(run.spark, run.servers, RESULTS, batch=1, inside=True))


def results_rest(run):
    sink = KafkaSink(run.spark, run.servers, RESULTS)
    run.stream_results(sink)
    run.subscribe_all_kinds(all_kinds(2, 8))
    run.send(RESULT_WISHES, [(id_, None) for id_ in ("r8", "r9", "r10", "r11")])
    run.publish(timed_messages(2), RESULT_SAID)
    run.stream_results(sink)
    said = [json.loads(record.value) for record in run.read(RESULTS)]
    broker, expected = OneBroker(WINDOW), []
    gone = [("unsubscribe_hosted", id_) for id_ in ("r8", "r9", "r10", "r11")]
    for event in [
        *all_kinds(1, 15), *timed_messages(1), *all_kinds(2, 8), *gone, *timed_messages(2)
    ]:  # fmt: skip
        expected += broker.apply(event)
    found = {
        "kinds": sorted({each["kind"] for each in said}),
        "said": sorted(
            (each["subscription_id"], each["kind"], each.get("message_id", ""), _entered(each))
            for each in said
        ),
        "expected": sorted(
            (each.subscription_id, each.kind, each.message_id or "", _entered(asdict(each)))
            for each in expected
        ),
        "rejects": len(run.read(f"{RESULTS}-rejects")),
        "a list": next(each for each in said if each["kind"] == "top" and each["left"]),
    }
    print(json.dumps(found))


def _entered(notification):
    return list(notification["entered"]) if notification["kind"] == "top" else []


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
    parts = (inside, after, rest, results_inside, results_rest)
    {part.__name__: part for part in parts}[sys.argv[1]](Run(sys.argv[2], Path(sys.argv[3])))
