"""The panel of top-k subscriptions: make them, and see their lists change."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from fastapi import HTTPException
from nicegui import background_tasks, ui

from nearcast.model import TopKSubscription
from nearcast.service.delivery.pages import RenderedEvent
from nearcast.service.page.best_form import BestForm
from nearcast.service.page.elements import BestLists, LiveMap, Match
from nearcast.service.page.following import Following
from nearcast.service.page.my_subscriptions import COLOURS, SHOWN
from nearcast.service.page.places import point_of
from nearcast.service.page.sampler import said
from nearcast.service.page.visit import Visit
from nearcast.service.page.why import WhyCard
from nearcast.service.ranking import scoring_of

TICKS_BETWEEN_LOOKS = 8
"""Subscriptions may change in another tab, or by the API."""


class BestMessages:
    """Form and lists of one visit; `start` and `close` with its connection."""

    def __init__(self, visit: Visit, live_map: LiveMap, why: WhyCard) -> None:
        self._visit = visit
        self._map = live_map
        self._why = why
        self._ticks = 0
        self._is_stale = False
        self._mine: dict[str, TopKSubscription] = {}
        self._colours: dict[str, str] = {}
        self._entered: dict[str, set[str]] = {}  # by subscription: by its latest change
        self._messages: dict[str, dict[str, Any]] = {}  # of the lists that are shown
        self._following = Following(
            visit, visit.service.outbox.last_sequence, self._refresh, self._take
        )
        with ui.element("section").classes("section"):
            ui.html("<h2>New list of the best messages</h2>", sanitize=False)
            BestForm(visit, live_map, self._refresh)
        with ui.element("section").classes("matches"):
            ui.html("<h2>My lists</h2>", sanitize=False)
            self._lists = BestLists(
                self._choose,
                self._remove,
                self._locate,
                empty="None yet. Type words, click a point, then subscribe.",
            )

    def start(self) -> None:
        """Begin to follow the lists; a connection that comes back goes on."""
        self._following.start()

    def close(self) -> None:
        """Let go of everything."""
        self._following.close()

    def tick(self) -> list[Match]:
        """Show lists that changed."""
        self._ticks += 1
        if self._is_stale or self._ticks % TICKS_BETWEEN_LOOKS == 0:
            self._is_stale = False
            background_tasks.create(self._refresh(), name="page lists")
        return []

    def unchoose(self) -> None:
        """Nothing is marked here."""

    def _take(self, events: Sequence[RenderedEvent]) -> None:
        for event in events:
            if event.kind == "top":
                self._note_change(event)

    def _note_change(self, event: RenderedEvent) -> None:
        change = json.loads(event.text)
        # All of a first list is new, which need not be said.
        entered = change["entered"] if change["cause"] is not None else ()
        self._entered[event.subscription] = set(entered)
        self._is_stale = True

    async def _refresh(self) -> None:
        mine, results, messages = await asyncio.to_thread(self._read)
        if self._lists.is_deleted:
            return
        self._mine, self._messages = mine, messages
        self._colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(mine)}
        self._lists.show(
            [
                {
                    "name": name,
                    "colour": self._colours[name],
                    "about": about(each),
                    "items": [self._item(name, id, score) for id, score in results[name]],
                }
                for name, each in mine.items()
            ]
        )
        points = [(name, self._colours[name], each.at) for name, each in mine.items()]
        self._map.set_shapes(points, of="lists")

    def _read(
        self,
    ) -> tuple[
        dict[str, TopKSubscription], dict[str, list[tuple[str, float]]], dict[str, dict[str, Any]]
    ]:
        """Subscriptions, oldest first, their lists, and what the messages of these said."""
        service, owner = self._visit.service, self._visit.owner
        found = service.subscriptions.page(owner, SHOWN)
        mine = {
            each.id: each.subscription
            for each in sorted(found, key=lambda each: (each.created, each.id))
            if isinstance(each.subscription, TopKSubscription)
        }
        results = {name: service.outbox.result(owner, name) for name in mine}
        messages: dict[str, dict[str, Any]] = {}
        for id in {id for ranked in results.values() for id, _ in ranked}:
            document = self._messages.get(id) or service.messages.get(id)
            if document is not None:
                messages[id] = document
        return mine, results, messages

    def _item(self, name: str, id: str, score: float) -> dict[str, Any]:
        message = self._messages.get(id)
        return {
            "id": id,
            "score": score,
            "text": "(no longer kept)" if message is None else said(message),
            "entered": id in self._entered.get(name, ()),
        }

    # ------------------------------------------------------------ what a person does

    def _locate(self, name: str) -> None:
        if name in self._mine:
            self._map.show(self._mine[name].at)

    def _choose(self, name: str, id: str) -> None:
        if name not in self._mine or id not in self._messages:
            return
        message = self._messages[id]
        service = self._visit.service
        ranked = [(each, score) for each, score in service.outbox.result(self._visit.owner, name)]
        colour, scoring = self._colours[name], scoring_of(service.settings)
        self._why.show_rank(name, colour, self._mine[name], message, tuple(ranked), scoring)
        self._map.select(*point_of(message))

    async def _remove(self, name: str) -> None:
        remove = self._visit.service.subscriptions.remove
        try:
            await self._visit.act(remove, self._visit.owner, [name])
        except HTTPException as error:
            ui.notify(error.detail)
            return
        except OSError as error:
            ui.notify(f"not removed: {error.strerror}; try again")
            return
        self._entered.pop(name, None)
        await self._refresh()


def about(subscription: TopKSubscription) -> str:
    """What a list is of, for people.

    >>> from nearcast.model import Point
    >>> about(TopKSubscription("lunch", "ramen noodles", Point(0, 0), k=3, alpha=0.25))
    'ramen noodles · best 3 · 75% words, 25% nearness'
    """
    near = round(100 * subscription.alpha)
    words = " ".join(subscription.keywords)
    return f"{words} · best {subscription.k} · {100 - near}% words, {near}% nearness"
