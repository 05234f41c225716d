"""What of a subscription is too much, checked before anything is built from it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import HTTPException

from nearcast.model import Subscription
from nearcast.service.documents import checked_id, subscription_from
from nearcast.service.service import Service
from nearcast.service.settings import Settings

LONGEST_LIFETIME = 100 * 365 * 86_400.0

Entry = tuple[Subscription, float | None]


def checked_entry(document: Mapping[str, Any], id: object, settings: Settings) -> Entry:
    """The subscription of a Feature, and when it ends; a ValueError when it breaks a limit."""
    name = checked_id(id, "subscription")
    if document.get("id", name) != name:
        raise ValueError(f"the Feature has the id {document['id']!r}, the address {name!r}")
    _check_size(document, name, settings)
    subscription = subscription_from(document, name)
    lifetime = (document.get("properties") or {}).get("lifetime")
    return subscription, None if lifetime is None else time.time() + _seconds(lifetime)


def check_room(service: Service, owner: str, ids: Iterable[str]) -> None:
    """Refuse with 409 when these would be more subscriptions than one subscriber may have."""
    most, wanted = service.settings.most_subscriptions, set(ids)
    count = service.subscriptions.count(owner)
    if count + len(wanted) <= most:
        return
    new = sum(service.subscriptions.get(owner, id) is None for id in wanted)
    if count + new > most:
        raise HTTPException(
            409,
            f"{owner!r} has {count:,} subscriptions, {new:,} more would exceed {most:,}; "
            "delete some, or let the operator raise most_subscriptions",
        )


def _check_size(document: Mapping[str, Any], id: str, settings: Settings) -> None:
    properties = document.get("properties")
    keywords = properties.get("keywords") if isinstance(properties, Mapping) else None
    words = keywords if isinstance(keywords, list) else [keywords or ""]
    letters = sum(len(word) for word in words if isinstance(word, str)) + len(words) - 1
    if letters > settings.longest_expression:
        raise ValueError(
            f"subscription {id!r}: keywords have {letters:,} letters; "
            f"give at most {settings.longest_expression:,}"
        )
    geometry = document.get("geometry")
    rings = geometry.get("coordinates") if isinstance(geometry, Mapping) else None
    if not isinstance(rings, list):
        return
    points = sum(len(ring) for ring in rings if isinstance(ring, list))
    if points > settings.most_polygon_points:
        raise ValueError(
            f"subscription {id!r}: the polygon has {points:,} points; "
            f"give at most {settings.most_polygon_points:,}"
        )


def _seconds(lifetime: object) -> float:
    is_number = isinstance(lifetime, int | float) and not isinstance(lifetime, bool)
    if not is_number or not 0 < lifetime <= LONGEST_LIFETIME or math.isnan(lifetime):  # type: ignore[operator, arg-type]
        raise ValueError(f"lifetime {lifetime!r} is not a number of seconds above 0; give one")
    return float(lifetime)  # type: ignore[arg-type]
