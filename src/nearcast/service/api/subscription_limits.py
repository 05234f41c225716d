"""What of a subscription is too much, checked before anything is built from it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from nearcast.model import Subscription
from nearcast.service.documents import checked_id, subscription_from
from nearcast.service.settings import Settings
from nearcast.service.stores.subscriptions import Entry

LONGEST_LIFETIME = 100 * 365 * 86_400.0


def checked_entry(document: Mapping[str, Any], id: object, settings: Settings) -> Entry:
    """The subscription of a Feature, and when it ends; a ValueError when it breaks a limit.

    `lifetime` counts from now; without it the `expires` of a Feature that was got before is kept.
    """
    name = checked_id(id, "subscription")
    if document.get("id", name) != name:
        raise ValueError(f"the Feature has the id {document['id']!r}, the address {name!r}")
    check_size(document, name, settings)
    subscription = subscription_from(document, name)
    k = 0 if isinstance(subscription, Subscription) else subscription.k
    if k > settings.longest_list:
        raise ValueError(
            f"subscription {name!r}: k {k:,} is more than {settings.longest_list:,}; "
            "give a smaller one, or let the operator raise longest_list"
        )
    properties = document.get("properties") or {}
    return Entry(subscription, _end(properties, time.time()), properties.get("keywords"))


def check_size(document: Mapping[str, Any], id: object, settings: Settings) -> None:
    """A ValueError when a Feature has too many letters or points."""
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


def _end(properties: Mapping[str, Any], now: float) -> float | None:
    lifetime, expires = properties.get("lifetime"), properties.get("expires")
    if lifetime is not None:
        if not _is_within_reach(lifetime):
            raise ValueError(f"lifetime {lifetime!r} is not a number of seconds above 0; give one")
        return now + float(lifetime)
    if expires is None:
        return None
    if type(expires) not in (int, float) or not _is_within_reach(expires - now):
        raise ValueError(f"expires {expires!r} is not a time to come; give a lifetime, in seconds")
    return float(expires)


def _is_within_reach(seconds: object) -> bool:
    return type(seconds) in (int, float) and 0 < seconds <= LONGEST_LIFETIME  # type: ignore[operator]
