"""`Following`: what comes to the owner of a page, as long as the page is there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing

from nicegui import background_tasks

from nearcast.service.delivery.pages import RenderedEvent
from nearcast.service.page.visit import Visit

SECONDS_AFTER_A_FAULT = 5.0

logger = logging.getLogger(__name__)


class Following:
    """Reads the events of a visit's owner in the background; what fails is tried again.

    - `begin`: the number of the event before the first one that is wanted; asked once, in a thread
    - `prepare`: what must be on the page before events come, each time they begin to
    - `take`: gets the events, in their order
    """

    def __init__(
        self,
        visit: Visit,
        begin: Callable[[], int],
        prepare: Callable[[], Awaitable[None]],
        take: Callable[[Sequence[RenderedEvent]], None],
    ) -> None:
        self._visit = visit
        self._begin = begin
        self._prepare = prepare
        self._take = take
        self._after: int | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; a connection that comes back goes on."""
        if self._task is None:
            self._task = background_tasks.create(self._follow(), name="page events")

    def close(self) -> None:
        """Let go of everything."""
        if self._task is not None:
            self._task.cancel()

    async def _follow(self) -> None:
        """Until the hub stops."""
        while True:
            try:
                await self._follow_on()
                return
            except Exception:
                logger.exception("a page cannot read its events")
                await asyncio.sleep(SECONDS_AFTER_A_FAULT)

    async def _follow_on(self) -> None:
        if self._after is None:
            self._after = await asyncio.to_thread(self._begin)
        await self._prepare()
        async with aclosing(self._visit.hub.follow(self._visit.owner, self._after)) as pages:
            async for page in pages:
                self._take(page.events)
                self._after = page.cursor
