"""`ResultsPanel`: what the panels of subscriptions that have a result share."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from nicegui import background_tasks

from nearcast.model import Point, Region
from nearcast.pipeline.log.hosted_rows import result_kind
from nearcast.pipeline.log.rows import AnySubscription
from nearcast.service.delivery.pages import RenderedEvent
from nearcast.service.page.elements import LiveMap, Match
from nearcast.service.page.following import Following
from nearcast.service.page.my_subscriptions import COLOURS, SHOWN
from nearcast.service.page.subscribing import remove
from nearcast.service.page.visit import Visit

TICKS_BETWEEN_LOOKS = 8
"""Subscriptions may change in another tab, or by the API."""

Kind = TypeVar("Kind", bound=AnySubscription)


class ResultsPanel(ABC, Generic[Kind]):
    """One's subscriptions of some kind, and their results; `start` and `close` with a connection.

    - `kinds`: the classes of subscriptions that are shown
    - `events`: the kinds of events that tell of their results
    """

    kinds: ClassVar[Any]
    events: ClassVar[tuple[str, ...]]

    def __init__(self, visit: Visit, live_map: LiveMap) -> None:
        self._visit = visit
        self._map = live_map
        self._ticks = 0
        self._is_stale = False
        self._mine: dict[str, Kind] = {}
        self._colours: dict[str, str] = {}
        last = visit.service.outbox.last_sequence
        self._following = Following(visit, last, self.refresh, self._take)

    def start(self) -> None:
        """Begin to follow; a connection that comes back goes on."""
        self._following.start()

    def close(self) -> None:
        """Let go of everything."""
        self._following.close()

    def tick(self) -> list[Match]:
        """Show what changed."""
        self._ticks += 1
        if self._is_stale or self._ticks % TICKS_BETWEEN_LOOKS == 0:
            self._is_stale = False
            background_tasks.create(self.refresh(), name="page results")
        return []

    def unchoose(self) -> None:
        """Nothing is marked here."""

    async def refresh(self) -> None:
        """Show how it is now."""
        mine, results = await asyncio.to_thread(self._read)
        if self._is_gone():
            return
        self._mine = mine
        self._colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(mine)}
        self.show(results)
        shapes = [(name, self._colours[name], place_of(each)) for name, each in mine.items()]
        drawn = [(name, colour, at) for name, colour, at in shapes if at is not None]
        self._map.set_shapes(drawn, of=type(self).__name__)

    def _read(self) -> tuple[dict[str, Kind], dict[str, list[Any]]]:
        """Subscriptions, oldest first, and their results; in a thread."""
        service, owner = self._visit.service, self._visit.owner
        found = service.subscriptions.page(owner, SHOWN)
        mine: dict[str, Any] = {
            each.id: each.subscription
            for each in sorted(found, key=lambda each: (each.created, each.id))
            if isinstance(each.subscription, self.kinds)
        }
        result = service.outbox.result
        return mine, {name: result(owner, name, result_kind(mine[name])) for name in mine}

    def _take(self, events: Sequence[RenderedEvent]) -> None:
        for event in events:
            if event.kind in self.events:
                self.note(event.subscription, json.loads(event.text))
                self._is_stale = True

    # ------------------------------------------------------------ of each kind

    @abstractmethod
    def _is_gone(self) -> bool:
        """Has the page gone while something was read?"""

    @abstractmethod
    def show(self, results: dict[str, list[Any]]) -> None:
        """Show the results of `_mine`."""

    @abstractmethod
    def note(self, name: str, event: dict[str, Any]) -> None:
        """A result has changed."""

    def forget(self, name: str) -> None:
        """A subscription is gone."""

    # ------------------------------------------------------------ what a person does

    def locate(self, name: str) -> None:
        """Go where a subscription is."""
        at = place_of(self._mine[name]) if name in self._mine else None
        if at is not None:
            self._map.show(at)

    async def remove(self, name: str) -> None:
        """End a subscription."""
        if await remove(self._visit, name):
            self.forget(name)
            await self.refresh()


def place_of(subscription: AnySubscription) -> Region | Point | None:
    """Where a subscription is; None: everywhere."""
    at: Region | Point | None = getattr(subscription, "at", None)
    return at if at is not None else getattr(subscription, "region", None)
