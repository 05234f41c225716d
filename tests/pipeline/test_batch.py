"""`match` of two DataFrames is the join that the definitions describe."""

import datetime
import json
import random
from functools import partial

import pyarrow as pa
import pytest
import shapely
from pyspark.sql import functions as sf

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import APTree, RarestWordTree, ScanIndex, TrieQuadtree
from nearcast.model import Box, Message, Point, Space, Subscription
from nearcast.pipeline import Hash, Keyword, Location, match, plan
from nearcast.pipeline.partitioning import hash_ids
from tests.pipeline.histories import random_message, random_subscription
from tests.pipeline.in_process import log_table, pairs_of

SUBSCRIPTION_NAMES = ["id", "keywords", "region", "west", "south", "east", "north"]
MESSAGE_NAMES = ["id", "text", "lon", "lat", "west", "south", "east", "north", "time", "expires"]


def workload(seed, size=80):
    draw = random.Random(seed)
    subscriptions = [random_subscription(draw, f"s{n}") for n in range(size)]
    messages = [random_message(draw, f"m{n}") for n in range(size)]
    edges = [Point(180, 90), Point(-180, -90), Point(0, 90), Point(180, 0), Box(170, -5, -170, 5)]
    messages += [Message(f"edge{n}", text="tea cake jam bus", at=at) for n, at in enumerate(edges)]
    return subscriptions, messages


def expected_pairs(subscriptions, messages, space=Space.EARTH):
    """What the oracle says, each row standing for itself."""
    index = ScanIndex(space=space)
    for row, each in enumerate(subscriptions):
        index.insert(Subscription(row, each.expression, each.region))
    return sorted(
        (subscriptions[row].id, message.id) for message in messages for row in index.match(message)
    )


def frames(spark, subscriptions, messages, ids="string"):
    """Messages and subscriptions as DataFrames of two partitions each."""
    tables = (
        log_table(messages, ids=ids).select(MESSAGE_NAMES),
        log_table(subscriptions, ids=ids).select(SUBSCRIPTION_NAMES),
    )
    return tuple(spark.createDataFrame(table).repartition(2) for table in tables)


def frame(spark, schema, *rows):
    return spark.createDataFrame(list(rows), schema)


def found_by(matched):
    return pairs_of(matched.toArrow())


def planned(kind, subscriptions, messages, shards):
    if kind is Hash:
        return Hash(shards)
    batch = SubscriptionBatch.from_subscriptions(subscriptions)
    sample = MessageBatch.from_messages(messages)
    return kind.plan(batch, hash_ids(batch.ids), sample, shards)


@pytest.fixture(scope="module")
def rows():
    return workload(1)


@pytest.fixture(scope="module")
def both(spark, rows):
    return tuple(each.cache() for each in frames(spark, *rows))


@pytest.fixture(scope="module")
def expected(rows):
    pairs = expected_pairs(*rows)
    assert len(pairs) > 300
    return pairs


@pytest.mark.parametrize(
    "shards",
    [pytest.param(1, marks=pytest.mark.thorough), 3, pytest.param(7, marks=pytest.mark.thorough)],
)
@pytest.mark.parametrize("kind", [Hash, Location, Keyword])
def test_every_partitioning_equals_the_oracle(both, rows, expected, kind, shards):
    matched = match(*both, partitioning=planned(kind, *rows, shards))
    assert matched.columns == ["subscription_id", "message_id"]
    assert matched.rdd.getNumPartitions() == shards
    assert found_by(matched) == expected


@pytest.mark.parametrize("name", ["hash", "location", "keyword", "auto"])
def test_a_plan_is_made_where_none_is_given(both, expected, name):
    matched = match(*both, partitioning=name)
    assert matched.plan.partitioning.shards == 2  # one a core
    if name != "auto":
        assert matched.plan.partitioning.name == name
    else:
        assert set(matched.plan.predicted) == {"hash", "location", "keyword"}
    assert matched.plan.partitioning.name in matched.plan.why
    assert found_by(matched) == expected


def test_a_plan_may_be_asked_for(both):
    chosen = plan(*both, partitioning="keyword", shards=7)
    assert (chosen.partitioning.name, chosen.partitioning.shards) == ("keyword", 7)
    with pytest.raises(ValueError, match="0 shards hold nothing"):
        plan(*both, shards=0)


def test_integers_lists_wkb_and_timestamps(spark):
    square = shapely.to_wkb(shapely.box(0, 0, 10, 10))
    subscriptions = frame(
        spark,
        "id int, keywords array<string>, region binary, note string",
        (7, ["Tea", "cake"], bytearray(square), "ignored"),
        (-(2**31), ["tea"], None, None),
        (9, ["été"], bytearray(square), None),
    )
    at = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    messages = frame(
        spark,
        "id bigint, keywords array<string>, lon float, lat int, time timestamp",
        (2**62, ["tea", "CAKE"], 10.0, 5, at),
        (-5, ["ÉTÉ", "tea"], 11.0, 5, at),
        (6, [], 1.0, 1, at),
    )
    messages = messages.withColumn("lat", sf.col("lat").cast("decimal(9,3)")).withColumn(
        "expires", sf.expr("timestamp_ntz'2021-01-01 00:00:00'")
    )
    matched = match(messages, subscriptions, partitioning=Hash(2))
    assert [field.dataType.simpleString() for field in matched.schema] == ["bigint", "bigint"]
    assert found_by(matched) == [(-(2**31), -5), (-(2**31), 2**62), (7, 2**62)]


def test_rows_with_equal_ids_are_matched_each_by_itself(spark):
    subscriptions = frame(spark, "id string, keywords string", ("a", "tea"), ("a", "tea OR cake"))
    messages = frame(
        spark,
        "id int, text string, lon int, lat int",
        (1, "tea", 0, 0),
        (1, "tea", 0, 0),
        (2, "cake", 0, 0),
    )
    matched = match(messages, subscriptions, partitioning=Hash(3))
    assert found_by(matched) == [("a", 1)] * 4 + [("a", 2)]


@pytest.mark.parametrize("empty", ["messages", "subscriptions", "both", "bad"])
def test_empty_sides(spark, both, empty):
    messages, subscriptions = both
    if empty in ("messages", "both"):
        messages = spark.createDataFrame([], messages.schema)
    if empty in ("subscriptions", "both"):
        subscriptions = spark.createDataFrame([], subscriptions.schema)
    if empty == "bad":
        subscriptions = subscriptions.withColumn("id", sf.lit(None).cast("string"))
    matched = match(messages, subscriptions)
    assert found_by(matched) == []
    assert matched.plan.why == "hash, because one side has no good rows"


def test_bad_rows_are_left_out_and_told(spark):
    subscriptions = frame(
        spark,
        "id string, keywords string, region string",
        ("good", "tea", None),
        ("open", "tea AND (cake", None),
        (None, "tea", None),
        ("multi", "tea", '{"type": "MultiPolygon", "coordinates": []}'),
        ("every", None, None),
    )
    bad_text = sf.when(sf.col("id") == 5, sf.expr("cast(x'74ff6561' as string)"))
    messages = frame(
        spark,
        "id int, text string, lon double, lat double",
        (1, "tea", 0.0, 0.0),
        (2, "tea", 0.0, 95.2),
        (3, None, 0.0, 0.0),
        (4, "tea", float("nan"), None),
        (5, "tea", 0.0, 0.0),
    ).withColumn("text", bad_text.otherwise(sf.col("text")))
    matched = match(messages, subscriptions, partitioning=Hash(2))
    assert found_by(matched) == [("good", 1)]
    rejects = matched.rejects.toArrow().sort_by([("side", "ascending"), ("id", "ascending")])
    assert rejects.column_names == ["side", "id", "reason", "row"]
    assert rejects["id"].to_pylist() == ["2", "3", "4", "5", "every", "multi", "open", None]
    reasons = dict(zip(rejects["id"].to_pylist(), rejects["reason"].to_pylist(), strict=True))
    assert "did you swap longitude and latitude?" in reasons["2"]
    assert "not UTF-8" in reasons["5"]
    assert "MultiPolygon" in reasons["multi"]
    assert json.loads(rejects["row"][0].as_py()) == {"id": 2, "text": "tea", "lon": 0, "lat": 95.2}


@pytest.mark.parametrize("kind", [Location, Keyword])
def test_one_word_in_one_place_is_shared_by_all_shards(spark, kind):
    here = Box(2, 48, 3, 49)
    subscriptions = [Subscription(f"s{n}", "tea", here) for n in range(60)]
    messages = [Message(f"m{n}", text="tea", at=Point(2.5, 48.5)) for n in range(20)]
    way = planned(kind, subscriptions, messages, 3)
    batch = SubscriptionBatch.from_subscriptions(subscriptions)
    kept = way.of_subscriptions(batch, hash_ids(batch.ids))
    assert {shard: len(rows) > 10 for shard, rows in kept.by_shard()} == dict.fromkeys(
        range(3), True
    )
    matched = match(*frames(spark, subscriptions, messages), partitioning=way)
    assert found_by(matched) == expected_pairs(subscriptions, messages)


@pytest.mark.parametrize(
    "index", [ScanIndex, TrieQuadtree, pytest.param(partial(APTree, leaf_capacity=2), id="APTree")]
)
def test_any_index_answers_the_same(both, rows, expected, index):
    matched = match(*both, index=index, partitioning=planned(Location, *rows, 2))
    assert found_by(matched) == expected


def test_the_index_tells_the_space(spark):
    subscriptions = frame(
        spark,
        "id int, keywords string, west int, south int, east int, north int",
        (1, "tea", 1000, 1000, 2000, 2000),
        (2, "tea", None, None, None, None),
    )
    messages = frame(
        spark,
        "id int, text string, lon int, lat int",
        (1, "tea", 1500, 2000),
        (2, "tea", 0, -(10**6)),
    )
    plane = partial(RarestWordTree, space=Space.PLANE)
    matched = match(messages, subscriptions, index=plane, partitioning="location")
    assert found_by(matched) == [(1, 1), (2, 1), (2, 2)]
    assert matched.rejects.count() == 0
    on_earth = match(messages, subscriptions, partitioning=Hash(1))
    assert on_earth.rejects.count() == 3


def test_what_cannot_work_is_told_at_once(spark, both):
    messages, subscriptions = both
    stream = spark.readStream.format("rate").load()
    with pytest.raises(ValueError, match=r"the messages are a stream; use nearcast.pipeline.stre"):
        match(stream, subscriptions)
    with pytest.raises(ValueError, match="the subscriptions are a stream"):
        match(messages, stream)
    with pytest.raises(ValueError, match="the subscriptions have no column 'id', only keywords"):
        match(messages, subscriptions.select("keywords"))
    with pytest.raises(ValueError, match="'lat' is missing"):
        match(messages.drop("lat"), subscriptions)
    with pytest.raises(ValueError, match="'south', 'north' is missing"):
        match(messages.drop("south", "north"), subscriptions)
    with pytest.raises(ValueError, match="needs the column text or the column keywords"):
        match(messages.drop("text"), subscriptions)
    with pytest.raises(TypeError, match="'time' has type string; it must be a number"):
        match(messages.withColumn("time", sf.lit("now")), subscriptions)
    for kind in ("double", "binary", "boolean", "date"):
        wrong = subscriptions.withColumn("id", sf.lit(None).cast(kind))
        with pytest.raises(TypeError, match=f"'id' of the subscriptions has type {kind}"):
            match(messages, wrong)
    with pytest.raises(ValueError, match="partitioning 'nearest' is unknown"):
        match(messages, subscriptions, partitioning="nearest")
    with pytest.raises(ValueError, match="'prefix' is for top-k"):
        match(messages, subscriptions, partitioning="prefix")


def test_a_task_may_give_more_pairs_than_fit_one_batch(monkeypatch):
    from nearcast.pipeline import batch as module
    from nearcast.pipeline.rows import read_messages, read_subscriptions

    monkeypatch.setattr(module, "_PAIRS_TOGETHER", 10)
    subscriptions, _ = read_subscriptions(
        pa.table({"id": list(range(7)), "keywords": ["tea"] * 7}), Space.EARTH
    )
    messages, _ = read_messages(
        pa.table({"id": ["a", "b", "c"], "text": ["tea"] * 3, "lon": [0] * 3, "lat": [0] * 3}),
        Space.EARTH,
    )
    shard = module.BuiltShard(0, [subscriptions], Hash(1), RarestWordTree)
    batches = list(shard.match(messages))
    assert [batch.num_rows for batch in batches] == [10, 10, 1]
    assert batches[0].schema.types == [pa.int64(), pa.string()]
    assert len(set(pairs_of(pa.Table.from_batches(batches)))) == 21
