"""`Visit`: somebody has the page open."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from nearcast.model import Subscription
from nearcast.service.delivery.hub import Hub
from nearcast.service.estimate import Estimate
from nearcast.service.page.places import point_of
from nearcast.service.service import Service
from nearcast.service.stores.tokens import Token

FITTED = 500
"""The first view has so many of the newest messages."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Who looks, and at what.

    - `owner`: the subscriber whose subscriptions and matches are shown
    - `token`: None for a visitor of an open page, who alone is that subscriber
    """

    service: Service
    hub: Hub
    estimate: Callable[[Subscription], Estimate]
    owner: str
    token: Token | None

    @property
    def is_visitor(self) -> bool:
        """Is there no token?"""
        return self.token is None


def recent_corners(service: Service) -> list[tuple[float, float]] | None:
    """South-west and north-east, latitude first, of where the newest messages are."""
    points = [point_of(json.loads(body)) for _, body in service.messages.recent(FITTED)]
    if not points:
        return None
    lons, lats = sorted(lon for lon, _ in points), sorted(lat for _, lat in points)
    out = len(points) // 50  # a few far away would make the rest a speck
    return [(lats[out], lons[out]), (lats[-1 - out], lons[-1 - out])]
