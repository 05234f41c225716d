"""`put`: what a form asks for, or what is wrong with it; `remove`: no more of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from fastapi import HTTPException
from nicegui import ui

from nearcast.service.page.visit import Visit
from nearcast.service.stores.subscriptions import Entry


class Refused(Exception):
    """It was not subscribed to; the text says why, for people."""


async def put(visit: Visit, make: Callable[[], Sequence[Entry]]) -> Sequence[Entry]:
    """Make the entries of a form and subscribe to all of them, or to none: `Refused`."""
    service = visit.service
    try:
        entries = await asyncio.to_thread(make)
        most = service.settings.most_subscriptions
        await visit.act(service.subscriptions.put, visit.owner, entries, most)
    except ValueError as error:
        raise Refused(str(error)) from error
    except HTTPException as error:
        raise Refused(str(error.detail)) from error
    except OSError as error:
        raise Refused(f"not subscribed: {error.strerror}; try again") from error
    return entries


async def remove(visit: Visit, name: str) -> bool:
    """End a subscription; where that is not possible the person is told why: False."""
    try:
        await visit.act(visit.service.subscriptions.remove, visit.owner, [name])
    except HTTPException as error:
        ui.notify(error.detail)
        return False
    except OSError as error:
        ui.notify(f"not removed: {error.strerror}; try again")
        return False
    return True
