"""Subscriptions and messages as GeoJSON, the way the API takes and gives them.

    {"type": "Feature", "id": "cafe",
     "geometry": {"type": "Polygon", "coordinates": [...]},
     "properties": {"keywords": "coffee AND (cake OR breakfast)"}}

The region of a subscription is a Polygon; a Point with a property `radius`, in metres; a `bbox`
(west, south, east, north; west > east crosses the antimeridian) beside `"geometry": null`; or
neither, which is everywhere. A message is at a Point or in a `bbox`.

A top-k subscription says so, and is at a Point:

    {"type": "Feature", "id": "lunch", "geometry": {"type": "Point", "coordinates": [139.7, 35.7]},
     "properties": {"kind": "top", "keywords": "ramen noodles", "k": 20, "alpha": 0.5}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from nearcast.model import (
    ANY,
    Box,
    Circle,
    Message,
    Place,
    Point,
    Polygon,
    Region,
    Subscription,
    TopKSubscription,
)
from nearcast.space import region_from_geojson, region_to_geojson
from nearcast.text import ANYTHING

LONGEST_ID = 200

MATCH, TOP = KINDS = ("match", "top")
"""What a subscription is told of: each message that matches, or the list of the best."""

# The last three are of the answer to a GET, which can be put as it is.
_OF_BOTH = {"kind", "keywords", "lifetime", "expires", "created", "delivery"}
_KNOWN = {MATCH: _OF_BOTH | {"radius"}, TOP: _OF_BOTH | {"k", "alpha"}}
_BAD_IN_ID = re.compile(r"[/\x00-\x1f\x7f]")


def subscription_from(document: Mapping[str, Any], id: str) -> Subscription | TopKSubscription:
    """The subscription that a Feature describes, under the given id.

    >>> subscription_from({"type": "Feature", "geometry": None, "bbox": [170, -10, -170, 10],
    ...                    "properties": {"keywords": "whale"}}, "pacific").region
    Box(west=170.0, south=-10.0, east=-170.0, north=10.0, space=Space.EARTH)
    """
    owner = f"subscription {id!r}"
    kind = _kind(document, owner)
    properties = _properties(document, owner, _KNOWN[kind])
    keywords = properties.get("keywords")
    if keywords is not None and not isinstance(keywords, str | list):
        raise ValueError(
            f"subscription {id!r}: keywords {keywords!r} is neither a text nor a list of words"
        )
    if kind == TOP:
        at = _place(document, owner)
        if not isinstance(at, Point):
            raise ValueError(f"{owner}: a top-k subscription is at a Point; give one as geometry")
        k, alpha = properties.get("k", 20), properties.get("alpha", 0.5)
        return TopKSubscription(id, keywords or "", at, k, alpha)
    return Subscription(id, ANY if keywords is None else keywords, _region(document, properties))


def _kind(document: object, owner: str) -> str:
    properties = document.get("properties") if isinstance(document, Mapping) else None
    kind = properties.get("kind", MATCH) if isinstance(properties, Mapping) else MATCH
    if kind not in KINDS:
        raise ValueError(f"{owner}: kind {kind!r} is not one of {', '.join(KINDS)}; give one")
    of_top = {"k", "alpha"} & set(properties) if isinstance(properties, Mapping) else set()
    if kind == MATCH and of_top:
        raise ValueError(
            f"{owner}: {min(of_top)} is of kind 'top'; give that kind, or leave it out"
        )
    return str(kind)


def subscription_document(
    subscription: Subscription | TopKSubscription, **more: Any
) -> dict[str, Any]:
    """The Feature of a subscription; `more` goes into its properties.

    >>> subscription_document(Subscription("tea", "tea", Circle(Point(1, 2), 50)))["properties"]
    {'keywords': 'tea', 'radius': 50.0}
    """
    if isinstance(subscription, TopKSubscription):
        at = {
            "geometry": {"type": "Point", "coordinates": [subscription.at.lon, subscription.at.lat]}
        }
        words = " ".join(subscription.keywords)
        about = {"kind": TOP, "keywords": words, "k": subscription.k, "alpha": subscription.alpha}
        return _feature(str(subscription.id), at, {**about, **more})
    properties: dict[str, Any] = {}
    if subscription.expression != ANYTHING:
        properties["keywords"] = str(subscription.expression)
    region = subscription.region
    place: dict[str, Any] = {"geometry": None}
    if isinstance(region, Box):
        place["bbox"] = _bbox(region)
    elif isinstance(region, Circle):
        place["geometry"] = region_to_geojson(region)["geometry"]
        properties["radius"] = region.radius
    elif isinstance(region, Polygon):
        place["geometry"] = region_to_geojson(region)
    return _feature(str(subscription.id), place, {**properties, **more})


def message_from(document: Mapping[str, Any], now: float) -> Message:
    """The message that a Feature describes; it is of `now` unless it says when.

    >>> message_from({"type": "Feature", "id": "m1", "properties": {"text": "Whale!"},
    ...               "geometry": {"type": "Point", "coordinates": [179.9, 1.5]}}, now=7.0).time
    7.0
    """
    if not isinstance(document, Mapping):
        raise ValueError(f"{document!r} is not a message; give a GeoJSON Feature")
    id = checked_id(document.get("id"), "message")
    owner = f"message {id!r}"
    properties = _properties(document, owner, {"text", "keywords", "time", "expires"})
    for name in ("text", "keywords"):
        if not isinstance(properties.get(name), str | list | None):
            raise ValueError(f"{owner}: {name} {properties[name]!r} is not text")
    time = properties.get("time")
    return Message(
        id,
        text=properties.get("text"),
        keywords=properties.get("keywords"),
        at=_place(document, owner),
        time=now if time is None else time,
        expires=properties.get("expires"),
    )


def message_document(message: Message) -> dict[str, Any]:
    """The Feature of a message."""
    properties: dict[str, Any] = {"time": message.time}
    if message.text is not None:
        properties["text"] = message.text
    else:
        properties["keywords"] = list(message.keywords)
    if message.expires is not None:
        properties["expires"] = message.expires
    place: dict[str, Any]
    if isinstance(message.at, Point):
        place = {"geometry": {"type": "Point", "coordinates": [message.at.lon, message.at.lat]}}
    else:
        place = {"geometry": None, "bbox": _bbox(message.at)}
    return _feature(str(message.id), place, properties)


def checked_id(id: object, kind: str) -> str:
    """An id that fits into an address and a log; or a ValueError that says why not.

    >>> checked_id("a/b", "subscription")
    Traceback (most recent call last):
    ValueError: subscription id 'a/b' has a slash or a control character; leave it out
    """
    if not isinstance(id, str):
        raise ValueError(f"{kind} id {id!r} is not a text; give a string")
    if not 1 <= len(id) <= LONGEST_ID:
        raise ValueError(f"{kind} id has {len(id):,} letters; give 1 to {LONGEST_ID}")
    if _BAD_IN_ID.search(id):
        raise ValueError(f"{kind} id {id!r} has a slash or a control character; leave it out")
    return id


def _properties(document: object, owner: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(document, Mapping) or document.get("type") != "Feature":
        raise ValueError(f"{owner}: this is not a GeoJSON Feature; give type, geometry, properties")
    properties = document.get("properties")
    if properties is None:
        properties = {}
    if not isinstance(properties, Mapping):
        raise ValueError(f"{owner}: properties {properties!r} is not an object")
    unknown = sorted(map(str, set(properties) - known))
    if unknown:
        raise ValueError(f"{owner}: unknown property {unknown[0]!r}; known: {sorted(known)}")
    return properties


def _region(document: Mapping[str, Any], properties: Mapping[str, Any]) -> Region | None:
    if document.get("geometry") is None:
        if "radius" in properties:
            raise ValueError("a radius needs a Point as geometry; add the centre")
        return _box_of(document) if document.get("bbox") is not None else None
    return region_from_geojson(json.loads(json.dumps(dict(document))))


def _place(document: Mapping[str, Any], owner: str) -> Place:
    geometry = document.get("geometry")
    if geometry is None and document.get("bbox") is not None:
        return _box_of(document)
    try:
        if geometry["type"] == "Point":  # type: ignore[index]
            lon, lat = geometry["coordinates"][:2]  # type: ignore[index]
            return Point(lon, lat)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ValueError) and "unpack" not in str(error):
            raise ValueError(f"{owner}: {error}") from None
    raise ValueError(f"{owner}: no place; give a Point as geometry, or a bbox and null")


def _box_of(document: Mapping[str, Any]) -> Box:
    bbox = document["bbox"]
    if not isinstance(bbox, list | tuple) or len(bbox) != 4:
        raise ValueError(f"bbox {bbox!r} is not a list of west, south, east and north")
    try:
        return Box(*bbox)
    except TypeError as error:
        raise ValueError(f"bbox {bbox!r}: {error}") from None


def _bbox(box: Box) -> list[float]:
    return [box.west, box.south, box.east, box.north]


def _feature(id: str, place: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "id": id, **place, "properties": properties}
