"""Rows of the log from what people create.

Values keep every bit: numbers are numbers, in GeoJSON the shortest text that reads back the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from nearcast.model import Box, Message, Point, Subscription, TopKSubscription
from nearcast.model.ids import Id, check_id
from nearcast.pipeline.log.schema import MESSAGE, SUBSCRIBE, SUBSCRIBE_TOP, UNSUBSCRIBE
from nearcast.space import region_to_geojson
from nearcast.text.expression import ANYTHING


def subscribe_rows(
    subscriptions: Iterable[Subscription | TopKSubscription], schema: pa.Schema
) -> pa.Table:
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


def message_rows(messages: Iterable[Message], schema: pa.Schema) -> pa.Table:
    """A row for each message; one made of keywords has them as its text, which means the same."""
    return _table((_message(each) for each in messages), schema)


def top_subscription(row: Mapping[str, Any]) -> TopKSubscription:
    """The subscription of a row of kind `subscribe_top`; a ValueError or TypeError for a bad one.

    >>> from nearcast.pipeline.log.schema import LOG_SCHEMA
    >>> lunch = TopKSubscription("lunch", "ramen noodles", Point(139.7, 35.7), k=3)
    >>> top_subscription(subscribe_rows([lunch], LOG_SCHEMA).to_pylist()[0]) == lunch
    True
    """
    try:
        place = json.loads(row["region"])
        lon, lat = place["geometry"]["coordinates"]
        k, alpha = place["properties"]["k"], place["properties"]["alpha"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"region {row['region']!r} is no Point with k and alpha: {error}"
        ) from None
    return TopKSubscription(row["id"], row["keywords"] or "", Point(lon, lat), k, alpha)


def message_of(row: Mapping[str, Any]) -> Message:
    """The message of a row."""
    at: Point | Box
    if row["lon"] is not None:
        at = Point(row["lon"], row["lat"])
    else:
        at = Box(row["west"], row["south"], row["east"], row["north"])
    return Message(row["id"], text=row["text"], at=at, time=row["time"], expires=row["expires"])


def _subscription(subscription: Subscription | TopKSubscription) -> dict[str, Any]:
    if isinstance(subscription, TopKSubscription):
        return _top(subscription)
    if not isinstance(subscription, Subscription):
        raise TypeError(
            f"{subscription!r} is neither a Subscription nor a TopKSubscription; "
            "the log takes no other kind"
        )
    row: dict[str, Any] = {"kind": SUBSCRIBE, "id": subscription.id}
    if subscription.expression != ANYTHING:
        row["keywords"] = str(subscription.expression)
    if isinstance(subscription.region, Box):
        row |= _box(subscription.region)
    elif subscription.region is not None:
        row["region"] = json.dumps(region_to_geojson(subscription.region))
    return row


def _top(subscription: TopKSubscription) -> dict[str, Any]:
    at = subscription.at
    place = {
        "type": "Feature",
        "geometry": {"type": "Point", "coordinates": [at.lon, at.lat]},
        "properties": {"k": subscription.k, "alpha": subscription.alpha},
    }
    return {
        "kind": SUBSCRIBE_TOP,
        "id": subscription.id,
        "keywords": " ".join(subscription.keywords),
        "region": json.dumps(place),
    }


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
