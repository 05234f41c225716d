"""What the records of a topic say: rows with the contract's columns, or the reason why not.

A value is a JSON object, as a line of a JSON Lines file or as a GeoJSON Feature:

    {"keywords": "ipad AND sale", "region": {"type": "Polygon", "coordinates": [...]}}
    {"id": "m1", "text": "iPad sale!", "lon": 2.36, "lat": 48.85, "time": 1731662000.5}
    {"type": "Feature", "geometry": {"type": "Point", "coordinates": [2.36, 48.85]},
     "properties": {"keywords": "ipad AND sale", "radius": 5000}}

The key of a subscription event is the id of the subscription, so that a compacted topic keeps the
last word of each; a null value, Kafka's tombstone, unsubscribes. Its `kind` is `match`, or one of
`result_values`. The id of a message is in its value, or else its key.
"""

from __future__ import annotations

import re
from functools import partial

import pyarrow as pa

from nearcast.pipeline.files.columns import Row, record_batch, row_or_problem, schema_of
from nearcast.pipeline.files.feature_records import feature_record
from nearcast.pipeline.files.json_records import json_record
from nearcast.pipeline.files.records import Record, RowProblem
from nearcast.pipeline.kafka.result_values import ROW_KINDS, result_record
from nearcast.pipeline.log.schema import SUBSCRIBE, UNSUBSCRIBE_HOSTED
from nearcast.pipeline.rows import PROBLEM

MATCH = "match"
"""The kind of a subscription that is told of each match."""

# A compacted topic may have lost the subscription that a tombstone ends, and keeps the tombstone
# for a while: that is no mistake, so it is a withdrawal that asks for no such subscription.
WITHDRAW = UNSUBSCRIBE_HOSTED

_INTEGER = re.compile("0|-?[1-9][0-9]{0,18}")


def event_schema(id_type: pa.DataType) -> pa.Schema:
    """The columns of subscription events."""
    own = [pa.field("kind", pa.string()), pa.field("offset", pa.int64())]
    return pa.schema([*own, *schema_of("subscription", id_type)])


def message_schema(id_type: pa.DataType) -> pa.Schema:
    """The columns of messages."""
    return schema_of("message", id_type)


def event_rows(records: pa.RecordBatch, id_type: pa.DataType) -> pa.RecordBatch:
    """Subscription events out of records with the columns of Spark's connector.

    >>> records = pa.RecordBatch.from_pydict({
    ...     "key": [b"ada", b"bob"], "value": [b'{"keywords": "tea"}', None],
    ...     "topic": ["wishes"] * 2, "partition": [0, 0], "offset": [7, 8]})
    >>> for row in event_rows(records, pa.string()).to_pylist():
    ...     print(row["offset"], row["kind"], row["id"], row["keywords"])
    7 subscribe ada tea
    8 unsubscribe_hosted bob None
    """
    rows = [_event(record, id_type) for record in records.to_pylist()]
    return record_batch(rows, event_schema(id_type))


def message_rows(records: pa.RecordBatch, id_type: pa.DataType) -> pa.RecordBatch:
    """Messages out of records with the columns of Spark's connector."""
    rows = [
        row_or_problem(_message(record, id_type), "message", id_type, partial(_place, record))
        for record in records.to_pylist()
    ]
    return record_batch(rows, message_schema(id_type))


def _event(record: Record, id_type: pa.DataType) -> Row:
    said = _subscription(record, id_type)
    row = row_or_problem(said, "subscription", id_type, partial(_place, record))
    # A record that cannot be read is rejected where boolean ones are read.
    is_read = PROBLEM not in row and not isinstance(said, RowProblem)
    row["kind"] = said["kind"] if is_read else SUBSCRIBE  # type: ignore[index]
    row["offset"] = record["offset"]
    return row


def _subscription(record: Record, id_type: pa.DataType) -> Record | RowProblem:
    try:
        id = _id_in_key(record["key"], id_type)
    except RowProblem as problem:
        return problem
    if id is None:
        return RowProblem("the key is null; it is the id of the subscription, give it")
    if record["value"] is None:
        return {"id": id, "kind": WITHDRAW}
    said = _said(record["value"], "subscription")
    if isinstance(said, RowProblem):
        return RowProblem(str(said), id)
    if said.get("id") not in (None, id):
        return RowProblem(f"id {said['id']!r} is not the key, {id!r}; make them equal", id)
    return {**said, "id": id}


def _message(record: Record, id_type: pa.DataType) -> Record | RowProblem:
    if record["value"] is None:
        return RowProblem("the value is null; a message cannot be taken back, give a JSON object")
    said = _said(record["value"], "message")
    if isinstance(said, RowProblem) or said.get("id") is not None:
        return said
    try:
        return {**said, "id": _id_in_key(record["key"], id_type)}
    except RowProblem as problem:
        return problem


def _said(value: bytes, side: str) -> Record | RowProblem:
    said = json_record(value)
    if isinstance(said, RowProblem):
        return said
    is_feature = said.get("type") == "Feature"
    try:
        if side == "message":
            return feature_record(said, side) if is_feature else said
        kind = _kind(said.get("properties") if is_feature else said)
        if kind in ROW_KINDS:
            return {**result_record(kind, said), "kind": ROW_KINDS[kind]}
        return {**(feature_record(said, side) if is_feature else said), "kind": SUBSCRIBE}
    except RowProblem as problem:
        return problem


def _kind(properties: object) -> str:
    kind = properties.get("kind", MATCH) if isinstance(properties, dict) else MATCH
    if kind != MATCH and (not isinstance(kind, str) or kind not in ROW_KINDS):
        known = ", ".join((MATCH, *ROW_KINDS))
        raise RowProblem(f"kind {kind!r} is not one of {known}; give one, or none for {MATCH}")
    return kind


def _id_in_key(key: bytes | None, id_type: pa.DataType) -> str | int | None:
    if key is None:
        return None
    try:
        text = key.decode()
    except UnicodeDecodeError:
        raise RowProblem(f"key {key!r} is not UTF-8; write it in that encoding") from None
    if not pa.types.is_integer(id_type):
        return text
    # 7 and 007 might be in different partitions, and then have no order.
    if not _INTEGER.fullmatch(text):
        raise RowProblem(f"key {text!r} is not an integer like 7 or -7; give one, or ids='string'")
    return int(text)


def _place(record: Record) -> str:
    return f"{record['topic']}, partition {record['partition']}, offset {record['offset']}"
