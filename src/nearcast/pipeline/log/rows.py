"""Rows of the log from what people create.

Values keep every bit: numbers are numbers, in GeoJSON the shortest text that reads back the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from nearcast.model import Box, Message, Point, Region, Subscription
from nearcast.model.ids import Id, check_id
from nearcast.pipeline.log.hosted_rows import Hosted, hosted_row, move_row
from nearcast.pipeline.log.schema import MESSAGE, SUBSCRIBE, UNSUBSCRIBE
from nearcast.space import region_to_geojson
from nearcast.text.expression import ANYTHING

AnySubscription = Subscription | Hosted


def subscribe_rows(subscriptions: Iterable[AnySubscription], schema: pa.Schema) -> pa.Table:
    """A row for each subscription.

    >>> from nearcast.pipeline.log.schema import LOG_SCHEMA
    >>> table = subscribe_rows([Subscription("cafe", "tea OR coffee", Box(0, 1, 2, 3))], LOG_SCHEMA)
    >>> {name: value for name, value in table.to_pylist()[0].items() if value is not None}
    {'kind': 'subscribe', 'id': 'cafe', 'keywords': 'coffee OR tea',
     'west': 0.0, 'south': 1.0, 'east': 2.0, 'north': 3.0}
    """
    return _table((_subscription(each) for each in subscriptions), schema)


def unsubscribe_rows(ids: Iterable[Id], schema: pa.Schema, kind: str = UNSUBSCRIBE) -> pa.Table:
    """A row for each id."""
    if isinstance(ids, str):
        raise TypeError(f"ids {ids!r} is one string; give a list of ids")
    return _table(({"kind": kind, "id": check_id(each, "subscription")} for each in ids), schema)


def move_rows(moves: Iterable[tuple[Id, Region | Point, bool]], schema: pa.Schema) -> pa.Table:
    """A row for each id, where it is now, and whether it wants to know how far it may go."""
    return _table((move_row(*each) for each in moves), schema)


def message_rows(messages: Iterable[Message], schema: pa.Schema) -> pa.Table:
    """A row for each message; one made of keywords has them as its text, which means the same."""
    return _table((_message(each) for each in messages), schema)


def message_of(row: Mapping[str, Any]) -> Message:
    """The message of a row."""
    at: Point | Box
    if row["lon"] is not None:
        at = Point(row["lon"], row["lat"])
    else:
        at = Box(row["west"], row["south"], row["east"], row["north"])
    return Message(row["id"], text=row["text"], at=at, time=row["time"], expires=row["expires"])


def _subscription(subscription: AnySubscription) -> dict[str, Any]:
    if isinstance(subscription, Hosted):
        return hosted_row(subscription)
    if not isinstance(subscription, Subscription):
        raise TypeError(
            f"{subscription!r} is no subscription; give a Subscription, MovingSubscription, "
            "TopKSubscription, TrendingSubscription or NearbyTrendingSubscription"
        )
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
