"""Subscriptions and messages as GeoJSON, the way the API takes and gives them.

    {"type": "Feature", "id": "cafe",
     "geometry": {"type": "Polygon", "coordinates": [...]},
     "properties": {"keywords": "coffee AND (cake OR breakfast)"}}

The region of a subscription is a Polygon; a Point with a property `radius`, in metres; a `bbox`
(west, south, east, north; west > east crosses the antimeridian) beside `"geometry": null`; or
neither, which is everywhere. A message is at a Point or in a `bbox`.

A subscription of another kind says so: a top-k one and one for the terms around are at a Point, one
for the terms of a region and one that moves have a region:

    {"type": "Feature", "id": "lunch", "geometry": {"type": "Point", "coordinates": [139.7, 35.7]},
     "properties": {"kind": "top", "keywords": "ramen noodles", "k": 20, "alpha": 0.5}}
    {"type": "Feature", "id": "talk", "geometry": null, "bbox": [139, 35, 140, 36],
     "properties": {"kind": "trending", "k": 10}}
    {"type": "Feature", "id": "around", "geometry": {"type": "Point", "coordinates": [139.7, 35.7]},
     "properties": {"kind": "nearby", "k": 10}}
    {"type": "Feature", "id": "walk", "geometry": {"type": "Point", "coordinates": [139.7, 35.7]},
     "properties": {"kind": "moving", "keywords": "ramen", "radius": 500}}

A position is a Feature with the id of a subscription and the place where it is now:

    {"type": "Feature", "id": "walk", "geometry": {"type": "Point", "coordinates": [139.8, 35.7]},
     "properties": {"radius": 500, "time": 1731662000.5}}
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from nearcast.model import (
    ANY,
    Box,
    Circle,
    Message,
    MovingSubscription,
    NearbyTrendingSubscription,
    Place,
    Point,
    Region,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.pipeline.log.rows import AnySubscription
from nearcast.space import region_from_geojson, region_to_geojson
from nearcast.text import ANYTHING

LONGEST_ID = 200

MATCH, TOP, MOVING, TRENDING, NEARBY = KINDS = ("match", "top", "moving", "trending", "nearby")
"""What a subscription is told of: each message that matches, or how its result changes."""

# The last three are of the answer to a GET, which can be put as it is.
_OF_ALL = {"kind", "lifetime", "expires", "created", "delivery"}
_KNOWN = {
    MATCH: _OF_ALL | {"keywords", "radius"},
    MOVING: _OF_ALL | {"keywords", "radius", "moved"},
    TOP: _OF_ALL | {"keywords", "k", "alpha", "moved"},
    TRENDING: _OF_ALL | {"radius", "k", "moved"},
    NEARBY: _OF_ALL | {"k", "moved"},
}
_BAD_IN_ID = re.compile(r"[/\x00-\x1f\x7f]")


class Position(NamedTuple):
    """Where a subscription is now; when, if its sender says so; does it ask how far it may go?"""

    id: str
    place: Region | Point
    time: float | None = None
    wants_safe: bool = False


def subscription_from(document: Mapping[str, Any], id: str) -> AnySubscription:
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
        at = _point(document, owner, "a top-k subscription")
        k, alpha = properties.get("k", 20), properties.get("alpha", 0.5)
        return TopKSubscription(id, keywords or "", at, k, alpha)
    if kind == NEARBY:
        at = _point(document, owner, "a subscription of kind 'nearby'")
        return NearbyTrendingSubscription(id, at, properties.get("k", 10))
    region = _region(document, properties)
    if kind == TRENDING:
        if region is None:
            raise ValueError(
                f"{owner}: no region whose terms these are; give a Polygon, a Point with a radius, "
                "or a bbox"
            )
        return TrendingSubscription(id, region, properties.get("k", 10))
    of_kind = MovingSubscription if kind == MOVING else Subscription
    return of_kind(id, ANY if keywords is None else keywords, region)


def position_from(document: Mapping[str, Any]) -> Position:
    """The position that a Feature describes.

    >>> position_from({"type": "Feature", "id": "walk", "properties": {"time": 7},
    ...                "geometry": {"type": "Point", "coordinates": [2, 48]}})
    Position(id='walk', place=Point(lon=2.0, lat=48.0, space=Space.EARTH), time=7.0,
             wants_safe=False)
    """
    if not isinstance(document, Mapping):
        raise ValueError(f"{document!r} is not a position; give a GeoJSON Feature")
    id = checked_id(document.get("id"), "subscription")
    owner = f"position of {id!r}"
    properties = _properties(document, owner, {"radius", "time", "safe"})
    time, wants_safe = properties.get("time"), properties.get("safe", False)
    if time is not None and (type(time) not in (int, float) or not math.isfinite(time)):
        raise ValueError(f"{owner}: time {time!r} is not a number of seconds; give one, or none")
    if type(wants_safe) is not bool:
        raise ValueError(f"{owner}: safe {wants_safe!r} is neither true nor false; give one")
    geometry = document.get("geometry")
    kind = geometry.get("type") if isinstance(geometry, Mapping) else None
    is_point = kind == "Point" and "radius" not in properties
    place = _place(document, owner) if is_point else _region(document, properties)
    if place is None:
        raise ValueError(f"{owner}: no place; give a Point, a Polygon or a bbox")
    return Position(id, place, None if time is None else float(time), wants_safe)


def moved_to(subscription: AnySubscription, place: Region | Point) -> AnySubscription:
    """The same subscription elsewhere; a ValueError where it cannot be there.

    >>> moved_to(NearbyTrendingSubscription("around", Point(0, 0)), Point(1, 2)).at.lon
    1.0
    """
    id = subscription.id
    match subscription:
        case TopKSubscription() | NearbyTrendingSubscription():
            if not isinstance(place, Point):
                raise ValueError(f"subscription {id!r} is at a Point; give one without a radius")
            if isinstance(subscription, NearbyTrendingSubscription):
                return NearbyTrendingSubscription(id, place, subscription.k)
            words, k, alpha = subscription.keywords, subscription.k, subscription.alpha
            return TopKSubscription(id, words, place, k, alpha)
        case MovingSubscription() | TrendingSubscription():
            if isinstance(place, Point):
                raise ValueError(
                    f"subscription {id!r} has a region; give a radius, a Polygon or a bbox"
                )
            if isinstance(subscription, TrendingSubscription):
                return TrendingSubscription(id, place, subscription.k)
            return MovingSubscription(id, subscription.expression, place)
    raise ValueError(f"subscription {id!r} stands still; put it with kind 'moving'")


def named(subscription: AnySubscription, id: str) -> AnySubscription:
    """The same subscription under another id."""
    match subscription:
        case TopKSubscription(keywords=words, at=at, k=k, alpha=alpha):
            return TopKSubscription(id, words, at, k, alpha)
        case TrendingSubscription(region=region, k=k):
            return TrendingSubscription(id, region, k)
        case NearbyTrendingSubscription(at=at, k=k):
            return NearbyTrendingSubscription(id, at, k)
        case MovingSubscription(expression=expression, region=region):
            return MovingSubscription(id, expression, region)
    return Subscription(id, subscription.expression, subscription.region)


def _kind(document: object, owner: str) -> str:
    properties = document.get("properties") if isinstance(document, Mapping) else None
    kind = properties.get("kind", MATCH) if isinstance(properties, Mapping) else MATCH
    if kind not in KINDS:
        raise ValueError(f"{owner}: kind {kind!r} is not one of {', '.join(KINDS)}; give one")
    of_lists = {"k", "alpha"} & set(properties) if isinstance(properties, Mapping) else set()
    if kind == MATCH and of_lists:
        name = min(of_lists)
        kinds = " or ".join(repr(each) for each in KINDS if name in _KNOWN[each])
        raise ValueError(f"{owner}: {name} is of kind {kinds}; give that kind, or leave it out")
    return str(kind)


def subscription_document(subscription: AnySubscription, **more: Any) -> dict[str, Any]:
    """The Feature of a subscription; `more` goes into its properties.

    >>> subscription_document(Subscription("tea", "tea", Circle(Point(1, 2), 50)))["properties"]
    {'keywords': 'tea', 'radius': 50.0}
    """
    properties: dict[str, Any] = {}
    place: Region | Point | None
    match subscription:
        case TopKSubscription(keywords=words, at=place, k=k, alpha=alpha):
            properties = {"kind": TOP, "keywords": " ".join(words), "k": k, "alpha": alpha}
        case NearbyTrendingSubscription(at=place, k=k):
            properties = {"kind": NEARBY, "k": k}
        case TrendingSubscription(region=place, k=k):
            properties = {"kind": TRENDING, "k": k}
        case Subscription(region=place, expression=expression):
            if isinstance(subscription, MovingSubscription):
                properties["kind"] = MOVING
            if expression != ANYTHING:
                properties["keywords"] = str(expression)
    if isinstance(place, Circle):
        properties["radius"] = place.radius
    return _feature(str(subscription.id), _place_members(place), {**properties, **more})


def _place_members(place: Region | Point | None) -> dict[str, Any]:
    """`geometry` and `bbox` of a Feature; the radius of a circle is a property."""
    if isinstance(place, Box):
        return {"geometry": None, "bbox": _bbox(place)}
    if isinstance(place, Point):
        return {"geometry": {"type": "Point", "coordinates": [place.lon, place.lat]}}
    if isinstance(place, Circle):
        return {"geometry": region_to_geojson(place)["geometry"]}
    return {"geometry": None if place is None else region_to_geojson(place)}


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
    return _feature(str(message.id), _place_members(message.at), properties)


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


def _point(document: Mapping[str, Any], owner: str, what: str) -> Point:
    at = _place(document, owner)
    if not isinstance(at, Point):
        raise ValueError(f"{owner}: {what} is at a Point; give one as geometry")
    return at


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
