"""`Visit`: somebody has the page open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from fastapi import HTTPException

from nearcast.model import Subscription
from nearcast.service.api.rates import RateLimit
from nearcast.service.delivery.hub import Hub
from nearcast.service.estimate import Estimate
from nearcast.service.page.places import point_of
from nearcast.service.service import Service
from nearcast.service.stores.tokens import Token

FITTED = 500
"""The first view has so many of the newest messages."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Visit:
    """Who looks, and at what.

    - `owner`: the subscriber whose subscriptions and matches are shown
    - `token`: None for a visitor of an open page, who alone is that subscriber
    - `rate`: how often an owner may do something
    """

    service: Service
    hub: Hub
    estimate: Callable[[Subscription], Estimate]
    owner: str
    token: Token | None
    rate: RateLimit

    @property
    def is_visitor(self) -> bool:
        """Is there no token?"""
        return self.token is None

    def is_welcome(self) -> bool:
        """Is the token, if any, still good?  It looks in the store."""
        return self.token is None or self.token in self.service.tokens.all()

    async def act(self, function: Callable[P, T], *values: P.args, **more: P.kwargs) -> T:
        """Do what a person asks for, in a thread; an HTTPException says why it is refused."""
        self.rate.take(self.owner)
        if not await asyncio.to_thread(self.is_welcome):
            raise HTTPException(401, "the token was revoked; sign in with another")
        return await asyncio.to_thread(function, *values, **more)


def recent_corners(service: Service) -> list[tuple[float, float]] | None:
    """South-west and north-east, latitude first, of where the newest messages are."""
    points = [point_of(json.loads(body)) for _, body in service.messages.recent(FITTED)]
    if not points:
        return None
    lons, lats = sorted(lon for lon, _ in points), sorted(lat for _, lat in points)
    out = len(points) // 50  # a few far away would make the rest a speck
    return [(lats[out], lons[out]), (lats[-1 - out], lons[-1 - out])]
