"""What the sink writes, without Kafka."""

import json

import pyarrow as pa

from nearcast.pipeline.kafka.sink import notification_records, reject_records
from nearcast.pipeline.rows import REJECTS


def test_a_notification_has_the_subscription_as_its_key():
    table = pa.table({"subscription_id": [7], "message_id": ["é"], "time": [0.5], "position": [3]})
    [(key, value)] = notification_records(table, 4)
    assert key == b"7"
    assert json.loads(value) == {
        "kind": "match",
        "subscription_id": 7,
        "message_id": "é",
        "time": 0.5,
        "position": 3,
        "batch": 4,
    }


def test_what_is_null_is_not_written():
    table = pa.table({"subscription_id": ["s"], "message_id": [None], "kind": ["trend"]})
    [(_, value)] = notification_records(table, 4)
    assert json.loads(value) == {"kind": "trend", "subscription_id": "s", "batch": 4}


def test_no_reject_is_too_large_for_kafka():
    huge = chr(1) * 1_000_000  # JSON needs six letters for it
    rows = [{"side": "message", "id": id_, "reason": huge, "row": huge} for id_ in (huge, None)]
    (key, value), (no_key, _) = reject_records(pa.Table.from_pylist(rows, REJECTS), 4)
    assert len(key) + len(value) < 1_000_000
    assert no_key is None
    assert json.loads(value)["reason"] == huge[:20_000]
