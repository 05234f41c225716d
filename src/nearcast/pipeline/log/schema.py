"""The columns of the log, and what a table must be to be appended."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from nearcast.pipeline.log.columns import conformed

Ids = Literal["string", "int64"]

SUBSCRIBE, UNSUBSCRIBE, MESSAGE = "subscribe", "unsubscribe", "message"
SUBSCRIBE_TOP, SUBSCRIBE_MOVING = "subscribe_top", "subscribe_moving"
SUBSCRIBE_TRENDING, SUBSCRIBE_NEARBY = "subscribe_trending", "subscribe_nearby"
UNSUBSCRIBE_HOSTED, MOVE, ADVANCE = "unsubscribe_hosted", "move", "advance"

SUBSCRIBE_HOSTED = (SUBSCRIBE_TOP, SUBSCRIBE_MOVING, SUBSCRIBE_TRENDING, SUBSCRIBE_NEARBY)
"""Subscriptions with a result of their own; see `nearcast.pipeline.hosted`."""
BOOLEAN_KINDS = (SUBSCRIBE, UNSUBSCRIBE, UNSUBSCRIBE_HOSTED, MESSAGE)
"""Those of a stream without results. `unsubscribe_hosted` ends whatever has the id, if anything
has: so does a record of Kafka without a value."""
KINDS = (*BOOLEAN_KINDS, *SUBSCRIBE_HOSTED, MOVE, ADVANCE)

_TYPES = {"string": pa.string(), "int64": pa.int64()}
_TEXTS = ("keywords", "region", "text")
_NUMBERS = ("lon", "lat", "west", "south", "east", "north", "time", "expires")


def log_schema(ids: Ids = "string") -> pa.Schema:
    """What `Log.read` gives.

    | column | meaning |
    |---|---|
    | `offset` | the place in the one order of the log: 0, 1, 2, … |
    | `kind` | `subscribe`, `unsubscribe` or `message` |
    | | `subscribe_top`, `subscribe_moving`, `subscribe_trending`, `subscribe_nearby`, |
    | | `unsubscribe_hosted`, `move`: of subscriptions that have a result of their own |
    | | `advance`: time passes, up to `time` |
    | `id` | of the subscription, or of the message |
    | `keywords` | the expression of a subscription; null: any words |
    | `region` | of a subscription, as GeoJSON: a Polygon, or a circle as a Feature with a radius |
    | | of one with a result, and of a move, always a Feature: see `hosted_rows` |
    | `text` | the words of a message |
    | `lon`, `lat` | where a message is |
    | `west`, `south`, `east`, `north` | the box of a subscription, or of a range message |
    | `time`, `expires` | of a message, in seconds |

    A subscription without region and box is everywhere.
    """
    if ids not in _TYPES:
        raise ValueError(f"ids {ids!r} is no type of ids; give one of {', '.join(_TYPES)}")
    return pa.schema(
        [
            ("offset", pa.int64()),
            ("kind", pa.string()),
            ("id", _TYPES[ids]),
            *((name, pa.string()) for name in _TEXTS),
            *((name, pa.float64()) for name in _NUMBERS),
        ]
    )


LOG_SCHEMA = log_schema()
"""The columns of a log with string ids."""


def log_rows(table: pa.Table | pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    """The table with the columns of `schema`, missing ones null; or an error that says why not.

    Only types and kinds are looked at: whether a row makes sense is for its reader to judge.
    """
    rows = conformed(table, schema, "log row")
    known = pc.is_in(rows["kind"], pa.array(KINDS))
    if not pc.all(known, min_count=0).as_py():
        row = pc.index(known, False).as_py()
        kind = rows["kind"][row].as_py()
        raise ValueError(f"row {row}: kind {kind!r} is not one of {', '.join(KINDS)}; use these")
    return rows
