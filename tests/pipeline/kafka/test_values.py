"""What the records of a topic say."""

import json

import pyarrow as pa
import pytest

from nearcast.model import (
    Box,
    Circle,
    MovingSubscription,
    NearbyTrendingSubscription,
    Point,
    Polygon,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.pipeline.kafka.values import event_rows, message_rows
from nearcast.pipeline.log.hosted_rows import hosted_row, hosted_subscription

STRING = pa.string()
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
CIRCLE = {
    "type": "Feature",
    "geometry": {"type": "Point", "coordinates": [2, 48]},
    "properties": {"keywords": "tea", "radius": 500},
}


def read(rows, key, value, id_type=STRING):
    if value is not None and not isinstance(value, bytes):
        value = json.dumps(value).encode()
    records = pa.RecordBatch.from_pydict(
        {"key": [key], "value": [value], "topic": ["t"], "partition": [3], "offset": [17]},
        pa.schema(
            [
                ("key", pa.binary()),
                ("value", pa.binary()),
                ("topic", pa.string()),
                ("partition", pa.int32()),
                ("offset", pa.int64()),
            ]
        ),
    )
    [row] = rows(records, id_type).to_pylist()
    return {name: value for name, value in row.items() if value is not None}


def test_an_event_is_a_json_object_and_its_key():
    row = read(event_rows, b"ada", {"keywords": "tea OR jam", "region": SQUARE})
    assert json.loads(row.pop("region")) == SQUARE
    assert row == {"id": "ada", "kind": "subscribe", "keywords": "tea OR jam", "offset": 17}


def test_an_event_is_a_feature_and_its_key():
    row = read(event_rows, b"ada", CIRCLE)
    region = json.loads(row["region"])
    assert (row["id"], row["keywords"], region["properties"]) == ("ada", "tea", {"radius": 500})


def test_the_box_of_a_feature_is_its_region():
    box = {"type": "Feature", "geometry": None, "bbox": [170, -1, -170, 1], "properties": {}}
    row = read(event_rows, b"ada", box)
    assert [row[name] for name in ("west", "south", "east", "north")] == [170, -1, -170, 1]


def test_a_null_value_unsubscribes():
    assert read(event_rows, b"7", None, pa.int64()) == {
        "id": 7,
        "kind": "unsubscribe_hosted",
        "offset": 17,
    }


def test_the_id_of_a_message_is_in_its_value_or_else_its_key():
    tea = {"text": "tea", "lon": 1, "lat": 2}
    expected = {"text": "tea", "lon": 1.0, "lat": 2.0, "time": 0.0}
    assert read(message_rows, b"key", {"id": "m", **tea}) == {"id": "m", **expected}
    assert read(message_rows, b"key", tea) == {"id": "key", **expected}


HERE = Point(2.5, 48.5)


@pytest.mark.parametrize(
    ("value", "subscription"),
    [
        (
            {"kind": "top", "keywords": ["tea", "jam"], "lon": 2.5, "lat": 48.5, "k": 3},
            TopKSubscription("ada", "tea jam", HERE, k=3),
        ),
        (
            {
                "type": "Feature",
                "geometry": {"type": "Point", "coordinates": [2.5, 48.5]},
                "properties": {"kind": "top", "keywords": "tea", "alpha": 0.25},
            },
            TopKSubscription("ada", "tea", HERE, alpha=0.25),
        ),
        ({"kind": "nearby", "lon": 2.5, "lat": 48.5}, NearbyTrendingSubscription("ada", HERE, 10)),
        (
            {"kind": "nearby", "region": {**CIRCLE, "properties": {}}, "k": 2},
            NearbyTrendingSubscription("ada", Point(2, 48), 2),
        ),
        (
            {"kind": "trending", "west": 2, "south": 48, "east": 3, "north": 49, "k": 4},
            TrendingSubscription("ada", Box(2, 48, 3, 49), 4),
        ),
        (
            {"kind": "moving", "keywords": "tea OR jam", "region": SQUARE},
            MovingSubscription("ada", "tea OR jam", Polygon([[(0, 0), (1, 0), (1, 1), (0, 0)]])),
        ),
        (
            {**CIRCLE, "properties": {**CIRCLE["properties"], "kind": "moving"}},
            MovingSubscription("ada", "tea", Circle(Point(2, 48), 500)),
        ),
        (
            {"kind": "moving", "keywords": ["tea", "jam"], "region": CIRCLE},
            MovingSubscription("ada", "tea AND jam", Circle(Point(2, 48), 500)),
        ),
    ],
)
def test_an_event_may_be_a_subscription_with_a_result(value, subscription):
    row = read(event_rows, b"ada", value)
    assert row["kind"] == hosted_row(subscription)["kind"]
    assert hosted_subscription(row) == subscription


@pytest.mark.parametrize(
    ("rows", "key", "value", "reason"),
    [
        (event_rows, None, {}, "the key is null; it is the id of the subscription"),
        (event_rows, None, None, "the key is null; it is the id of the subscription"),
        (event_rows, b"\xff", None, r"key b'\xff' is not UTF-8"),
        (event_rows, b"a", b"\xff", "not JSON: "),
        (event_rows, b"a", [1], "not a JSON object, but '[1]'"),
        (event_rows, b"a", {"id": "b", "keywords": "tea"}, "id 'b' is not the key, 'a'"),
        (event_rows, b"a", {"kind": "best"}, "kind 'best' is not one of match, top, trending, "),
        (event_rows, b"a", {"kind": ["top"]}, "kind ['top'] is not one of match, top"),
        (event_rows, b"a", {"kind": "nearby", "keywords": "x"}, "keywords 'x': lists of terms ask"),
        (event_rows, b"a", {"kind": "top", "keywords": 7}, "keywords 7 is not a string"),
        (event_rows, b"a", {"keywords": 7}, "keywords 7 is not a string"),
        (event_rows, b"a", {**CIRCLE, "geometry": 7}, "geometry 7 is not a GeoJSON geometry"),
        (message_rows, b"a", None, "the value is null"),
        (message_rows, b"\xff", {"text": "tea"}, r"key b'\xff' is not UTF-8"),
        (message_rows, b"a", {"text": "tea", "lon": "1"}, "lon '1' is not a number"),
    ],
)
def test_a_record_that_cannot_be_read_says_why_and_where(rows, key, value, reason):
    row = read(rows, key, value)
    assert row["_problem"].startswith(f"t, partition 3, offset 17: {reason}")
    assert row.get("kind") != "unsubscribe_hosted"


@pytest.mark.parametrize("key", [b"a", b"", b"007", b"1_0", b" 7", b"-0", b"9" * 5000])
def test_a_key_that_is_no_integer_is_refused_where_ids_are(key):
    row = read(event_rows, key, {"keywords": "tea"}, pa.int64())
    assert "is not an integer like 7 or -7; give one, or ids='string'" in row["_problem"]


def test_an_integer_that_is_too_large_is_refused():
    row = read(event_rows, b"9999999999999999999", {"keywords": "tea"}, pa.int64())
    assert "9999999999999999999" in row["_problem"]
