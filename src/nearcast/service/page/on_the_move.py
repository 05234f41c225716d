"""The panel of moving subscriptions: people on the map, and the messages around each of them."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from typing import Any

from nicegui import background_tasks, ui

from nearcast.model import Circle, MovingSubscription
from nearcast.service.documents import Position
from nearcast.service.page.elements import LiveMap, Match, Walks
from nearcast.service.page.places import point_of
from nearcast.service.page.results_panel import ResultsPanel
from nearcast.service.page.sampler import said
from nearcast.service.page.strolling import Stroller
from nearcast.service.page.visit import Visit
from nearcast.service.page.walkers_form import PREFIX, WalkersForm, recent_places
from nearcast.service.page.why import WhyCard
from nearcast.text import ANYTHING

ITEMS, LEFT = 5, 2
"""Messages of each that are shown, the newest first, and of those that are gone."""
CHANGES_SHOWN = 8
TICKS_A_STEP = 2
"""A step a second."""

logger = logging.getLogger(__name__)


class OnTheMove(ResultsPanel[MovingSubscription]):
    """Form and results of one visit; simulated people walk as long as it lasts."""

    kinds = MovingSubscription
    events = ("enter", "leave")

    def __init__(self, visit: Visit, live_map: LiveMap, why: WhyCard) -> None:
        super().__init__(visit, live_map)
        self._why = why
        self._strollers: dict[str, Stroller] = {}
        self._recent: dict[str, deque[tuple[str, str]]] = {}  # by name: message and change
        self._messages: dict[str, dict[str, Any]] = {}
        self._glow: list[Match] = []
        self._is_stepping = False
        with ui.element("section").classes("section"):
            ui.html("<h2>Send people out</h2>", sanitize=False)
            WalkersForm(visit, self.refresh)
        with ui.element("section").classes("matches"):
            with ui.element("div").classes("heading"):
                ui.html("<h2>On the way</h2>", sanitize=False)
                self._walk = ui.switch("Walk", value=True).props("dense size=sm")
            self._walks = Walks(
                self.remove,
                self.locate,
                self._choose,
                empty="Nobody yet. Type words, then send people out.",
            )

    def tick(self) -> list[Match]:
        """Show what changed; simulated people take a step now and then."""
        super().tick()
        if self._ticks % TICKS_A_STEP == 0 and self._walk.value and not self._is_stepping:
            background_tasks.create(self._step(), name="page walkers")
        glow, self._glow = self._glow, []
        return glow

    def _is_gone(self) -> bool:
        return self._walks.is_deleted

    def note(self, name: str, event: dict[str, Any]) -> None:
        id, has_entered = event["message_id"], event["kind"] == "enter"
        changes = self._recent.setdefault(name, deque(maxlen=CHANGES_SHOWN))
        for change in [each for each in changes if each[0] == id]:
            changes.remove(change)
        changes.appendleft((id, "entered" if has_entered else "left"))
        if has_entered and event["message"] is not None and name in self._mine:
            self._messages[id] = message = event["message"]
            lon, lat = point_of(message)
            colour = self._colours[name]
            self._glow.append(
                {"id": event["id"], "subscription": name, "colour": colour, "lon": lon, "lat": lat,
                 "time": event["time"], "text": said(message)}
            )  # fmt: skip

    def forget(self, name: str) -> None:
        self._recent.pop(name, None)
        self._strollers.pop(name, None)

    def _read(self) -> tuple[dict[str, MovingSubscription], dict[str, list[Any]]]:
        mine, results = super()._read()
        wanted = {id for found in results.values() for id in found[-ITEMS:]}
        wanted |= {id for changes in list(self._recent.values()) for id, _ in list(changes)}
        messages: dict[str, dict[str, Any]] = {}
        for id in wanted:
            document = self._messages.get(id) or self._visit.service.messages.get(id)
            if document is not None:
                messages[id] = document
        self._messages = messages
        return mine, results

    def show(self, results: dict[str, list[Any]]) -> None:
        self._walks.show(
            [
                {
                    "name": name,
                    "colour": self._colours[name],
                    "about": about(each),
                    "count": len(results[name]),
                    "items": self._items(name, results[name]),
                }
                for name, each in self._mine.items()
            ]
        )

    def _items(self, name: str, found: list[str]) -> list[dict[str, Any]]:
        """What has entered last, what else is there, and what has left last."""
        there, changes = set(found), dict(self._recent.get(name, ()))
        shown = [(id, "entered") for id, change in changes.items() if id in there]
        shown += [(id, "") for id in reversed(found) if id not in changes]
        left = [(id, "left") for id, change in changes.items() if id not in there]
        return [
            {"id": id, "text": said(self._messages[id]), "change": change}
            for id, change in [*shown[:ITEMS], *left[:LEFT]]
            if id in self._messages
        ]

    # ------------------------------------------------------------ walking

    async def _step(self) -> None:
        walking = [name for name in self._mine if name.startswith(PREFIX)]
        if not walking:
            return
        self._is_stepping = True
        try:
            await asyncio.to_thread(self._walk_on, walking)
            if not self._is_gone():
                await self.refresh()
        except OSError as error:  # a full disk, say: they wait
            logger.error("the page cannot move its walkers: %s", error)
        finally:
            self._is_stepping = False

    def _walk_on(self, names: list[str]) -> None:
        places = recent_places(self._visit)
        positions = []
        for name in names:
            around = self._mine[name].region if name in self._mine else None
            if not isinstance(around, Circle):
                continue
            stroller = self._strollers.setdefault(name, Stroller(around, random.Random(name)))
            stroller.step(places)
            positions.append(Position(name, stroller.around))
        self._visit.service.subscriptions.move(self._visit.owner, positions)

    # ------------------------------------------------------------ what a person does

    def _choose(self, name: str, id: str) -> None:
        if name in self._mine and id in self._messages:
            message = self._messages[id]
            self._why.show(name, self._colours[name], self._mine[name], message)
            self._map.select(*point_of(message))


def about(subscription: MovingSubscription) -> str:
    """What somebody looks for, for people.

    >>> from nearcast.model import Point
    >>> about(MovingSubscription("walker 1", "tea", Circle(Point(0, 0), 500)))
    'tea · 500 m around'
    """
    expression, region = subscription.expression, subscription.region
    words = "any words" if expression == ANYTHING else str(expression)
    return f"{words} · {region.radius:,.0f} m around" if isinstance(region, Circle) else words
