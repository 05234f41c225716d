"""The panel of subscriptions that want every match: make them, see them, see what they bring."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Sequence

from fastapi import HTTPException
from nicegui import background_tasks, ui

from nearcast.model import Subscription
from nearcast.service.delivery.pages import RenderedEvent
from nearcast.service.page.elements import LiveMap, Match, MatchList
from nearcast.service.page.following import Following
from nearcast.service.page.my_subscriptions import MySubscriptions
from nearcast.service.page.places import point_of
from nearcast.service.page.sampler import said
from nearcast.service.page.subscription_form import SubscriptionForm
from nearcast.service.page.visit import Visit
from nearcast.service.page.why import WhyCard

MATCHES_A_TICK = 30
MATCHES_KEPT = 100
TICKS_BETWEEN_LOOKS = 8
"""Subscriptions may change in another tab, or by the API."""


class EveryMatch:
    """Form, list and matches of one visit; `start` and `close` with its connection."""

    def __init__(self, visit: Visit, live_map: LiveMap, why: WhyCard) -> None:
        self._visit = visit
        self._map = live_map
        self._why = why
        self._arrived: deque[RenderedEvent] = deque(maxlen=MATCHES_KEPT)
        self._matches: dict[int, tuple[str, dict[str, object]]] = {}  # by event id, oldest first
        self._ticks = 0
        self._old = 0
        with ui.element("section").classes("section"):
            ui.html("<h2>New subscription</h2>", sanitize=False)
            SubscriptionForm(visit, live_map, self._subscribed)
        with ui.element("section").classes("section"):
            ui.html("<h2>My subscriptions</h2>", sanitize=False)
            self._mine = MySubscriptions(visit, live_map, self._removed)
        with ui.element("section").classes("matches"):
            ui.html("<h2>My matches</h2>", sanitize=False)
            self._list = MatchList(self._choose, empty="They appear here as messages come.")
        # Its subscriptions are shown first: matches have their colours.
        self._following = Following(visit, self._begin, self._mine.refresh, self._take)

    def start(self) -> None:
        """Begin to follow the matches; a connection that comes back goes on."""
        self._following.start()

    def close(self) -> None:
        """Let go of everything."""
        self._following.close()

    def tick(self) -> list[Match]:
        """Show what has arrived; what is new lights up on the map."""
        self._ticks += 1
        if self._ticks % TICKS_BETWEEN_LOOKS == 0:
            background_tasks.create(self._mine.refresh(), name="page subscriptions")
        arrived = [self._match(event) for event in self._arrived]
        if arrived:
            self._list.add(arrived[::-1])
            background_tasks.create(self._shown(self._arrived[-1].sequence, arrived))
            self._arrived.clear()
        return [match for match in arrived if match["id"] > self._old][-MATCHES_A_TICK:]

    def _begin(self) -> int:
        """Where to begin, so that the list is about full."""
        outbox = self._visit.service.outbox
        self._old = outbox.last_sequence()
        return outbox.before_newest(self._visit.owner, MATCHES_KEPT)

    def _take(self, events: Sequence[RenderedEvent]) -> None:
        self._arrived.extend(event for event in events if event.kind == "match")

    def _match(self, event: RenderedEvent) -> Match:
        found = json.loads(event.text)
        message = found["message"]
        self._matches[event.sequence] = event.subscription, message
        while len(self._matches) > 2 * MATCHES_KEPT:  # the list may hold some back
            del self._matches[next(iter(self._matches))]
        lon, lat = point_of(message)
        return {
            "id": event.sequence,
            "subscription": event.subscription,
            "colour": self._mine.colour_of(event.subscription),
            "time": found["time"],
            "text": said(message),
            "lon": lon,
            "lat": lat,
        }

    async def _shown(self, sequence: int, matches: list[Match]) -> None:
        await self._mine.count(match["subscription"] for match in matches)
        # The stream of somebody with a token belongs to their programs: the page only looks on.
        if self._visit.is_visitor:
            await asyncio.to_thread(self._visit.hub.acknowledge, self._visit.owner, sequence)

    # ------------------------------------------------------------ what a person does

    async def _subscribed(self, name: str) -> None:
        await self._mine.refresh()

    def _removed(self, name: str) -> None:
        self._list.forget(name)

    async def _choose(self, id: int) -> None:
        if id not in self._matches:
            return
        name, message = self._matches[id]
        get = self._visit.service.subscriptions.get
        try:
            registered = await self._visit.act(get, self._visit.owner, name)
        except HTTPException as error:
            ui.notify(error.detail)
            return
        subscription = None if registered is None else registered.subscription
        if not isinstance(subscription, Subscription):
            subscription = None  # another kind has its name now
        self._why.show(name, self._mine.colour_of(name), subscription, message)
        self._map.select(*point_of(message))

    def unchoose(self) -> None:
        """Nothing is being explained any more."""
        self._list.unchoose()
