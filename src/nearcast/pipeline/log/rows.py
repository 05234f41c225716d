"""Rows of the log from what people create.

Values keep every bit: numbers are numbers, in GeoJSON the shortest text that reads back the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from nearcast.model import Box, Message, Point, Subscription
from nearcast.model.ids import Id, check_id
from nearcast.pipeline.log.schema import MESSAGE, SUBSCRIBE, UNSUBSCRIBE
from nearcast.space import region_to_geojson
from nearcast.text.expression import ANYTHING


def subscribe_rows(subscriptions: Iterable[Subscription], schema: pa.Schema) -> pa.Table:
    """A row for each subscription.

    >>> from nearcast.pipeline.log.schema import LOG_SCHEMA
    >>> table = subscribe_rows([Subscription("cafe", "tea OR coffee", Box(0, 1, 2, 3))], LOG_SCHEMA)
    >>> {name: value for name, value in table.to_pylist()[0].items() if value is not None}
    {'kind': 'subscribe', 'id': 'cafe', 'keywords': 'coffee OR tea',
     'west': 0.0, 'south': 1.0, 'east': 2.0, 'north': 3.0}
    """
    return _table((_subscription(each) for each in subscriptions), schema)


def unsubscribe_rows(ids: Iterable[Id], schema: pa.Schema) -> pa.Table:
    """A row for each id."""
    if isinstance(ids, str):
        raise TypeError(f"ids {ids!r} is one string; give a list of ids")
    return _table(
        ({"kind": UNSUBSCRIBE, "id": check_id(each, "subscription")} for each in ids), schema
    )


def message_rows(messages: Iterable[Message], schema: pa.Schema) -> pa.Table:
    """A row for each message; one made of keywords has them as its text, which means the same."""
    return _table((_message(each) for each in messages), schema)


def _subscription(subscription: Subscription) -> dict[str, Any]:
    if not isinstance(subscription, Subscription):
        raise TypeError(f"{subscription!r} is not a Subscription; the log takes no other kind")
    row: dict[str, Any] = {"kind": SUBSCRIBE, "id": subscription.id}
    if subscription.expression != ANYTHING:
        row["keywords"] = str(subscription.expression)
    if isinstance(subscription.region, Box):
        row |= _box(subscription.region)
    elif subscription.region is not None:
        row["region"] = json.dumps(region_to_geojson(subscription.region))
    return row


def _message(message: Message) -> dict[str, Any]:
    if not isinstance(message, Message):
        raise TypeError(f"{message!r} is not a Message; give Message objects")
    at = message.at
    place = {"lon": at.lon, "lat": at.lat} if isinstance(at, Point) else _box(at)
    text = " ".join(message.keywords) if message.text is None else message.text
    times = {"time": message.time, "expires": message.expires}
    return {"kind": MESSAGE, "id": message.id, "text": text, **place, **times}


def _box(box: Box) -> dict[str, float]:
    return {"west": box.west, "south": box.south, "east": box.east, "north": box.north}


def _table(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    columns: dict[str, list[Any]] = {name: [] for name in schema.names if name != "offset"}
    wanted = int if schema.field("id").type == pa.int64() else str
    for row in rows:
        if not isinstance(row["id"], wanted):
            raise TypeError(
                f"id {row['id']!r} is a {type(row['id']).__name__}, the ids of this log are "
                f"{wanted.__name__}; give such an id, or make a log with other ids"
            )
        for name, column in columns.items():
            column.append(row.get(name))
    return pa.table(
        [pa.array(column, schema.field(name).type) for name, column in columns.items()],
        names=list(columns),
    )
