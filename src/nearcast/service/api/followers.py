"""What all ways to read events share: where to begin, and when to end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, cast

from fastapi import Query
from starlette.requests import HTTPConnection

from nearcast.service.api.access import service_of
from nearcast.service.api.errors import reading_input
from nearcast.service.delivery.hub import Hub
from nearcast.service.delivery.pages import Page
from nearcast.service.stores.tokens import Token

HEARTBEAT_SECONDS = 15.0
"""A quiet stream says that it lives, and one of a revoked token ends, after so long."""

After = Annotated[
    int | None,
    Query(ge=0, description="Events beyond this id; without it, those not acknowledged."),
]


def hub_of(connection: HTTPConnection) -> Hub:
    """The hub behind a request or a WebSocket."""
    return cast(Hub, connection.app.state.hub)


async def pages_of(
    connection: HTTPConnection, token: Token, secret: str, after: int
) -> AsyncGenerator[Page]:
    """Pages from the number `after` on, until the service stops or the token is revoked."""
    tokens, now = service_of(connection).tokens, asyncio.get_running_loop().time
    checked = now()
    following = hub_of(connection).follow(token.name, after, heartbeat=HEARTBEAT_SECONDS)
    async with aclosing(following) as pages:
        async for page in pages:
            if now() - checked >= HEARTBEAT_SECONDS:
                checked = now()
                if await asyncio.to_thread(tokens.find, secret) is None:
                    return
            yield page


def first_number(connection: HTTPConnection, token: Token, after: int | None) -> int:
    """The number behind which to begin: as asked for, or the durable cursor."""
    if after is None:
        return service_of(connection).deliveries.cursor(token.name)
    with reading_input():
        hub_of(connection).check_number(after)
    return after


def acknowledge(connection: HTTPConnection, token: Token, number: int) -> None:
    """All events up to this number have arrived; durable on return."""
    hub = hub_of(connection)
    with reading_input():
        hub.check_number(number)
    hub.acknowledge(token.name, number)
