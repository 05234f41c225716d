"""A stream with subscriptions that live gives what the definitions say, each once."""

import json
import os
import shutil
from contextlib import contextmanager

import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

from nearcast.boolean import ScanIndex
from nearcast.model import Box, Message, Point, Subscription
from nearcast.pipeline import (
    CallbackSink,
    FilesSink,
    Hash,
    Keyword,
    Location,
    Log,
    NotificationStore,
    StoreSink,
    read_log,
    stream,
)
from nearcast.pipeline.state import BadCheckpoint
from tests.pipeline.histories import Oracle, append_to, random_history
from tests.pipeline.in_process import log_table, pairs_of, planned

EVENT_SCHEMA = """offset bigint, kind string, id string, keywords string, region string,
    text string, lon double, lat double, west double, south double, east double, north double,
    time double"""
TEA = {"kind": "message", "id": "m", "text": "tea", "lon": 0.0, "lat": 0.0, "time": 0.0}


@contextmanager
def running(*arguments, **options):
    """A stream that is stopped, whatever happens."""
    it = stream(*arguments, **options)
    try:
        yield it
    finally:
        it.stop()


def oracle_of(events):
    oracle = Oracle()
    for event in events:
        oracle.apply(event)
    return oracle


def in_integers(events):
    """The same history with ids that are numbers."""

    def number(id_):
        return int(id_[1:]) * (-1 if id_[0] == "s" else 1)

    for event in events:
        if isinstance(event, Subscription):
            yield Subscription(number(event.id), event.expression, event.region)
        elif isinstance(event, Message):
            yield Message(number(event.id), text=event.text, at=event.at, time=event.time)
        else:
            yield "unsubscribe", number(event[1])


class Collected:
    """A callback that keeps what it gets, by batch."""

    def __init__(self):
        self.notifications = {}
        self.rejects = {}

    def __call__(self, batch, notifications, rejects):
        self.notifications[batch] = notifications
        self.rejects[batch] = rejects

    def pairs(self):
        return sorted(pair for table in self.notifications.values() for pair in pairs_of(table))

    def refused(self):
        rows = [row for table in self.rejects.values() for row in table.to_pylist()]
        return {row["id"]: row["reason"] for row in rows}


def write_json(folder, name, rows):
    """A file that appears whole, as a source of files needs it."""
    folder.mkdir(exist_ok=True)
    temporary = folder / f".{name}"
    temporary.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(temporary, (0, len(list(folder.iterdir()))))  # files are read in this order
    temporary.rename(folder / name)


def files(spark, folder, schema=EVENT_SCHEMA):
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(folder))


@pytest.mark.parametrize(
    ("kind", "shards"),
    [pytest.param(Hash, 2, marks=pytest.mark.thorough), (Location, 3), (Keyword, 2)],
)
def test_interleaved_changes_equal_the_oracle(spark, tmp_path, kind, shards):
    events = list(random_history(21, 240))
    oracle = oracle_of(events)
    log = Log(tmp_path / "log")
    append_to(log, events)
    with running(
        read_log(spark, log.path, rows_per_batch=60),
        sink=StoreSink(tmp_path / "out"),
        checkpoint=tmp_path / "checkpoint",
        partitioning=planned(kind, shards),
        snapshot_after=10,
    ) as it:
        it.process_all_available()
        assert it.is_active
        summary, recent = it.summary, it.recent
    store = NotificationStore(tmp_path / "out")
    found = store.read()
    assert pairs_of(found) == sorted(oracle.notifications)
    assert found["position"].to_pylist() == sorted(found["position"].to_pylist())
    assert sorted(store.rejects()["id"].to_pylist()) == sorted(oracle.unknown)
    assert (summary.batches, summary.rows, summary.lag) == (4, 240, 0)
    assert summary.changes == sum(not isinstance(event, Message) for event in events)
    assert summary.notifications == len(oracle.notifications)
    assert summary.rejects == len(oracle.unknown)
    assert summary.problem is None
    assert [each.batch for each in recent] == [0, 1, 2, 3]
    assert sum(each.messages for each in recent) == summary.rows - summary.changes
    assert 1 <= recent[0].restored <= shards  # a worker that had one step may have two
    assert all(each.milliseconds > 0 for each in recent)


def test_it_goes_on_from_its_checkpoint(spark, tmp_path):
    events = list(in_integers(random_history(22, 150)))
    oracle = oracle_of(events)
    log = Log(tmp_path / "log", "int64")
    options = {
        "sink": FilesSink(tmp_path / "out"),
        "checkpoint": tmp_path / "checkpoint",
        "trigger": {"availableNow": True},
        "snapshot_after": 20,
    }
    for part in (events[:50], events[50:100], [], events[100:]):
        append_to(log, part)
        with running(read_log(spark, log.path), **options) as it:
            assert it.await_termination()
            assert it.summary.rows == len(part)
    found = spark.read.parquet(str(tmp_path / "out")).toArrow()
    assert set(found["batch"].to_pylist()) <= {0, 1, 2}
    assert pairs_of(found) == sorted(oracle.notifications)
    refused = [
        id_
        for path in (tmp_path / "out" / "_rejects").iterdir()
        for id_ in pq.read_table(path)["id"].to_pylist()
    ]
    assert sorted(refused) == sorted(map(str, oracle.unknown))

    check_that_facts_are_fixed(spark, log, options)
    check_that_both_checkpoints_are_needed(spark, log, options)


def check_that_facts_are_fixed(spark, log, options):
    rows = read_log(spark, log.path)
    for name, other in [
        ("index", {"index": ScanIndex}),
        ("shards", {"partitioning": Hash(3)}),
        ("partitioning", {"partitioning": planned(Keyword, 2)}),
        ("ordered", {"messages": rows.drop("keywords")}),
    ]:
        with pytest.raises(BadCheckpoint, match=f"was made with {name} "):
            stream(rows, **{**options, **other})
    as_text = rows.withColumn("id", rows.id.cast("string"))
    with pytest.raises(BadCheckpoint, match="with subscription_ids 'bigint', now it is 'string'"):
        stream(as_text, **options)


def check_that_both_checkpoints_are_needed(spark, log, options):
    checkpoint = options["checkpoint"]
    shutil.move(checkpoint / "spark", checkpoint / "away")
    with pytest.raises(BadCheckpoint, match="the two belong together"):
        stream(read_log(spark, log.path), **options)
    shutil.move(checkpoint / "away", checkpoint / "spark")
    shutil.move(checkpoint / "nearcast", checkpoint / "away")
    with pytest.raises(BadCheckpoint, match="the two belong together"):
        stream(read_log(spark, log.path), **options)


def test_two_streams_have_their_changes_first(spark, tmp_path):
    events = list(random_history(23, 120, ids=10))
    oracle, batches = Oracle(), [events[:60], [], events[60:]]
    for number, batch in enumerate(batches):
        rows = log_table(batch).to_pylist()
        changes = [row for row in rows if row["kind"] != "message"]
        messages = [row for row in rows if row["kind"] == "message"]
        for event in sorted(batch, key=lambda event: isinstance(event, Message)):
            oracle.apply(event)
        for row in rows:
            del row["offset"]
        write_json(tmp_path / "events", f"{number}.json", changes)
        write_json(tmp_path / "messages", f"{number}.json", messages)
    collected = Collected()
    with running(
        files(spark, tmp_path / "events", EVENT_SCHEMA.replace("offset bigint,", "")),
        files(
            spark,
            tmp_path / "messages",
            "id string, text string, lon double, lat double, "
            "west double, south double, east double, north double, time double",
        ),
        sink=CallbackSink(collected),
        checkpoint=tmp_path / "a check point, é%20",
        partitioning=planned(Location, 2),
    ) as it:
        it.process_all_available()
        assert it.summary.lag is None  # files do not say
        assert it.summary.rows == len(events)
    assert collected.pairs() == sorted(oracle.notifications)
    assert len(collected.notifications) == 3
    refused = [id_ for table in collected.rejects.values() for id_ in table["id"].to_pylist()]
    assert sorted(refused) == sorted(oracle.unknown)


def test_without_kinds_all_events_subscribe(spark, tmp_path):
    write_json(tmp_path / "events", "0.json", [{"id": 7, "keywords": ["tea", "cake"]}])
    write_json(tmp_path / "messages", "0.json", [{**TEA, "keywords": ["cake", "tea", "jam"]}])
    collected = Collected()
    with running(
        files(spark, tmp_path / "events", "id int, keywords array<string>"),
        files(
            spark,
            tmp_path / "messages",
            "id string, keywords array<string>, lon double, lat double",
        ),
        sink=CallbackSink(collected),
        checkpoint=tmp_path / "checkpoint",
        trigger={"availableNow": True},
    ) as it:
        it.await_termination()
    assert collected.pairs() == [(7, "m")]


def test_rows_that_break_a_rule_are_told_and_the_rest_is_answered(spark, tmp_path):
    rows = [
        {"kind": "subscribe", "id": "good", "keywords": "tea"},
        {"kind": "subscribe", "id": "open", "keywords": "tea AND ("},
        {"kind": "subscribe", "id": "twice", "keywords": "tea", "region": "{}", "west": 1.0},
        {"kind": "subscribe", "id": None, "keywords": "tea"},
        {"kind": "unsubscribe", "id": "nobody"},
        {"kind": "subscribe", "id": "ended", "keywords": "tea"},
        {"kind": "unsubscribe_hosted", "id": "ended"},
        {"kind": "unsubscribe_hosted", "id": "nobody else"},
        {"kind": "publish", "id": "unknown", "keywords": "tea"},
        {"kind": None, "id": "nothing", "keywords": "tea"},
        TEA,
        {**TEA, "id": "pole", "lat": 91.0},
        {**TEA, "id": "silent", "text": None},
        {**TEA, "id": "nowhere", "lon": None, "lat": None},
    ]
    rows = [{"offset": 10 * number, **row} for number, row in enumerate(rows)]
    rows += [{**TEA, "id": "when", "offset": None}, {**TEA, "id": "before", "offset": -1}]
    write_json(tmp_path / "events", "0.json", rows)
    collected = Collected()
    with running(
        files(spark, tmp_path / "events"),
        sink=CallbackSink(collected),
        checkpoint=tmp_path / "checkpoint",
        trigger={"availableNow": True},
    ) as it:
        it.await_termination()
        assert it.summary.rejects == 11
    assert collected.pairs() == [("good", "m")]
    [refused] = collected.rejects.values()
    sides = {row["id"]: row["side"] for row in refused.to_pylist()}
    assert {id_ for id_, side in sides.items() if side == "message"} == {
        "pole", "silent", "nowhere", "when", "before",
    }  # fmt: skip
    reasons = collected.refused()
    for id_, part in {
        "open": "missing",
        "twice": "both given",
        None: "id is null",
        "nobody": "is not subscribed",
        "unknown": "kind is not one of",
        "nothing": "kind is not one of",
        "pole": "latitude 91",
        "silent": "text is null",
        "nowhere": "lon is null",
        "when": "offset is null",
        "before": "offset is null or negative",
    }.items():
        assert part in reasons.pop(id_)
    assert not reasons


class FailsOnce(StoreSink):
    """Fails at batch 1, before or after it was taken, as a crash would."""

    def __init__(self, path, after):
        super().__init__(path)
        self.after = after
        self.failed = False

    def commit(self, output):
        fails = output.number == 1 and not self.failed
        if not fails or self.after:
            super().commit(output)
        if fails:
            self.failed = True
            raise OSError("the sink is away")


@pytest.mark.parametrize("after", [pytest.param(False, marks=pytest.mark.thorough), True])
def test_a_sink_that_fails_gets_each_notification_once(spark, tmp_path, after):
    events = list(random_history(24, 90, ids=8))
    oracle = oracle_of(events)
    log = Log(tmp_path / "log")
    append_to(log, events)
    sink = FailsOnce(tmp_path / "out", after)
    for _ in range(2):
        with running(
            read_log(spark, log.path, rows_per_batch=30),
            sink=sink,
            checkpoint=tmp_path / "checkpoint",
            trigger={"availableNow": True},
            snapshot_after=1,
        ) as it:
            if sink.failed:
                it.await_termination()
                assert [each.batch for each in it.recent] == [1, 2]
            else:
                with pytest.raises(StreamingQueryException, match="the sink is away"):
                    it.await_termination()
    store = NotificationStore(tmp_path / "out")
    assert pairs_of(store.read()) == sorted(oracle.notifications)
    assert sorted(store.rejects()["id"].to_pylist()) == sorted(oracle.unknown)


def test_what_cannot_work_is_told_at_once(spark, tmp_path):
    Log(tmp_path / "log").subscribe([Subscription("a", "tea", Box(0, 0, 1, 1))])
    Log(tmp_path / "log").publish([Message("m", text="tea", at=Point(0, 0))])
    rows = read_log(spark, tmp_path / "log")
    table = spark.read.format("nearcast-log").load(str(tmp_path / "log"))
    options = {"sink": StoreSink(tmp_path / "out"), "checkpoint": tmp_path / "checkpoint"}
    with pytest.raises(ValueError, match=r"the events are no stream; use nearcast.pipeline.match"):
        stream(table, **options)
    with pytest.raises(ValueError, match="the messages are no stream"):
        stream(rows, table, **options)
    for name in ("kind", "offset"):
        with pytest.raises(ValueError, match=f"needs the column '{name}'.*or give two streams"):
            stream(rows.drop(name), **options)
    as_text = rows.withColumn("offset", rows["offset"].cast("string"))
    for given in ((as_text,), (as_text, rows.drop("keywords"))):
        with pytest.raises(TypeError, match="'offset' has type string; it must be integer"):
            stream(*given, **options)
    with pytest.raises(ValueError, match="'lat' is missing"):
        stream(rows.drop("lat"), **options)
    with pytest.raises(TypeError, match=r"'hash' is no Partitioning; give Hash\(shards\), or"):
        stream(rows, **options, partitioning="hash")
    with pytest.raises(ValueError, match="'s3://bucket/x' is an address; give a folder"):
        stream(rows, **{**options, "checkpoint": "s3://bucket/x"})
    assert not (tmp_path / "checkpoint").exists()
