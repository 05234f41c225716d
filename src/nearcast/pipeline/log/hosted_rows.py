"""Rows of subscriptions that have a result of their own: top-k, moving, trending.

Their column `region` is a GeoJSON Feature: a Point; a Point with a `radius`; a Polygon; a `bbox`
beside a null geometry; or neither, which is everywhere. What else there is to say of a subscription
is in its properties.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nearcast.model import (
    ANY,
    Box,
    Circle,
    MovingSubscription,
    NearbyTrendingSubscription,
    Point,
    Region,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.model.ids import Id, check_id
from nearcast.pipeline.log.schema import (
    MOVE,
    SUBSCRIBE_MOVING,
    SUBSCRIBE_NEARBY,
    SUBSCRIBE_TOP,
    SUBSCRIBE_TRENDING,
)
from nearcast.space import region_from_geojson, region_to_geojson
from nearcast.text.expression import ANYTHING

Hosted = MovingSubscription | TopKSubscription | TrendingSubscription | NearbyTrendingSubscription


def result_kind(subscription: object) -> str | None:
    """What tells of a result: `top`, `trend`, or of one that moves `enter`; None: it has none.

    >>> result_kind(NearbyTrendingSubscription("around", Point(0, 0)))
    'trend'
    """
    match subscription:
        case TopKSubscription():
            return "top"
        case TrendingSubscription() | NearbyTrendingSubscription():
            return "trend"
        case MovingSubscription():
            return "enter"
    return None


def hosted_row(subscription: Hosted) -> dict[str, Any]:
    """The row that subscribes."""
    row: dict[str, Any] = {"id": subscription.id}
    match subscription:
        case MovingSubscription():
            row |= {"kind": SUBSCRIBE_MOVING, "region": _feature(subscription.region)}
            if subscription.expression != ANYTHING:
                row["keywords"] = str(subscription.expression)
        case TopKSubscription():
            about = {"k": subscription.k, "alpha": subscription.alpha}
            row |= {"kind": SUBSCRIBE_TOP, "region": _feature(subscription.at, **about)}
            row["keywords"] = " ".join(subscription.keywords)
        case TrendingSubscription():
            row |= {"kind": SUBSCRIBE_TRENDING}
            row["region"] = _feature(subscription.region, k=subscription.k)
        case NearbyTrendingSubscription():
            row |= {"kind": SUBSCRIBE_NEARBY, "region": _feature(subscription.at, k=subscription.k)}
    return row


def hosted_subscription(row: Mapping[str, Any]) -> Hosted:
    """The subscription of such a row; a ValueError or TypeError for a bad one.

    >>> lunch = TopKSubscription("lunch", "ramen noodles", Point(139.7, 35.7), k=3)
    >>> hosted_subscription(hosted_row(lunch)) == lunch
    True
    """
    id, (place, properties) = row["id"], _read(row["region"])
    try:
        match row["kind"]:
            case "subscribe_top":
                k, alpha = properties["k"], properties["alpha"]
                return TopKSubscription(id, row.get("keywords") or "", place, k, alpha)  # type: ignore[arg-type]
            case "subscribe_trending":
                return TrendingSubscription(id, place, properties["k"])  # type: ignore[arg-type]
            case "subscribe_nearby":
                return NearbyTrendingSubscription(id, place, properties["k"])  # type: ignore[arg-type]
    except KeyError as error:
        raise ValueError(f"region {row['region']!r} has no {error}; add it") from None
    return MovingSubscription(id, row.get("keywords") or ANY, place)  # type: ignore[arg-type]


def move_row(id: Id, place: Region | Point, wants_safe: bool = False) -> dict[str, Any]:
    """The row that says where a subscription is now."""
    about = {"safe": True} if wants_safe else {}
    return {"kind": MOVE, "id": check_id(id, "subscription"), "region": _feature(place, **about)}


def place_of(row: Mapping[str, Any]) -> tuple[Region | Point, bool]:
    """Where a row of kind `move` goes to, and whether it asks for a safe distance.

    >>> place_of(move_row("walker", Point(1, 2)))
    (Point(lon=1.0, lat=2.0, space=Space.EARTH), False)
    """
    place, properties = _read(row["region"])
    if place is None:
        raise ValueError("a move to everywhere; give a region or a Point")
    return place, bool(properties.get("safe"))


def _feature(place: Region | Point | None, **properties: Any) -> str:
    feature: dict[str, Any] = {"type": "Feature", "geometry": None, "properties": properties}
    if isinstance(place, Point):
        feature["geometry"] = {"type": "Point", "coordinates": [place.lon, place.lat]}
    elif isinstance(place, Box):
        feature["bbox"] = [place.west, place.south, place.east, place.north]
    elif isinstance(place, Circle):
        feature["geometry"] = region_to_geojson(place)["geometry"]
        properties["radius"] = place.radius
    elif place is not None:
        feature["geometry"] = region_to_geojson(place)
    return json.dumps(feature)


def _read(text: str | None) -> tuple[Region | Point | None, Mapping[str, Any]]:
    try:
        feature = json.loads(text or "")
        geometry, properties = feature["geometry"], feature["properties"] or {}
        if not isinstance(properties, Mapping):
            raise TypeError("its properties are no object")
        if geometry is None:
            return (Box(*feature["bbox"]) if "bbox" in feature else None), properties
        if geometry["type"] == "Point" and "radius" not in properties:
            return Point(*geometry["coordinates"]), properties
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"region {text!r} is no Feature with a place: {error}") from None
    return region_from_geojson(feature), properties
