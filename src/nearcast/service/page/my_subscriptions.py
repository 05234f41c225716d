"""`MySubscriptions`: what one has subscribed to every match of, in colours, listed and mapped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from nicegui import ui

from nearcast.model import Subscription
from nearcast.service.page.elements import LiveMap
from nearcast.service.page.subscribing import remove
from nearcast.service.page.visit import Visit
from nearcast.service.stores.subscriptions import Registered
from nearcast.text import ANYTHING

SHOWN = 200
COLOURS = (
    "#d9480f",
    "#1971c2",
    "#2b8a3e",
    "#a61e8f",
    "#c08a00",
    "#6741d9",
    "#0b8793",
    "#e03158",
)
NO_COLOUR = "#868e96"


class MySubscriptions:
    """The list; `on_removed` is told the name of one that is gone."""

    def __init__(self, visit: Visit, live_map: LiveMap, on_removed: Callable[[str], None]) -> None:
        self._visit = visit
        self._map = live_map
        self._on_removed = on_removed
        self._colours: dict[str, str] = {}
        self._shown: list[Registered] | None = None
        self._counts: dict[str, ui.label] = {}
        self._list = ui.element("div").classes("mine")
        self._note = ui.label().classes("note")

    def colour_of(self, name: str) -> str:
        """The colour of a subscription."""
        return self._colours.get(name, NO_COLOUR)

    async def refresh(self) -> None:
        """Show how it is now."""
        service, owner = self._visit.service, self._visit.owner
        found = await asyncio.to_thread(service.subscriptions.page, owner, SHOWN)
        count = await asyncio.to_thread(service.subscriptions.count, owner)
        if found == self._shown or self._list.is_deleted:
            return
        self._shown = found
        mine = {
            each.id: each.subscription
            for each in sorted(found, key=lambda each: (each.created, each.id))
            if type(each.subscription) is Subscription  # those that move have a panel of their own
        }
        self._give_colours(list(mine))
        self._list.clear()
        self._counts.clear()
        with self._list:
            for name in sorted(mine):
                self._row(name, mine[name])
        more = count - len(found) if len(found) == SHOWN else 0
        self._note.text = self._note_text(len(mine), more)
        self._map.set_shapes(
            [
                (name, self.colour_of(name), each.region)
                for name, each in mine.items()
                if each.region is not None
            ]
        )
        await self.count(mine)

    async def count(self, names: Iterable[str]) -> None:
        """Show how many messages these have matched by now."""
        for name in set(names) & self._counts.keys():
            count = await asyncio.to_thread(
                self._visit.service.outbox.matched, self._visit.owner, name
            )
            if name in self._counts and not self._list.is_deleted:
                self._counts[name].text = f"{count:,}"

    def _row(self, name: str, subscription: Subscription) -> None:
        region, expression = subscription.region, subscription.expression
        words = "any words" if expression == ANYTHING else str(expression)
        with ui.element("div").classes("one"):
            ui.element("span").classes("swatch").style(f"background: {self.colour_of(name)}")
            with ui.element("button").classes("text").props("type=button") as text:
                ui.label(name).classes("name")
                ui.label(words if region else f"{words}, everywhere").classes("words")
            text.tooltip(words)
            if region is not None:
                text.on("click", lambda: self._map.show(region))
            self._counts[name] = ui.label("0").classes("count").props("title=matches")
            remove = ui.button(icon="close", color=None, on_click=lambda: self._remove(name))
            remove.props("flat round dense size=sm")
            remove.props["aria-label"] = f"Remove {name}"

    async def _remove(self, name: str) -> None:
        if await remove(self._visit, name):
            self._on_removed(name)
            await self.refresh()

    def _give_colours(self, names: list[str]) -> None:
        """A colour stays with its subscription; the one used least goes to a new one."""
        self._colours = {name: self._colours[name] for name in names if name in self._colours}
        for name in names:
            if name not in self._colours:
                used = list(self._colours.values())
                self._colours[name] = min(COLOURS, key=used.count)

    def _note_text(self, count: int, more: int) -> str:
        if more:
            return f"and {more:,} more"
        if not count:
            return "None yet. Draw a place or type words, then subscribe."
        return "A visitor's subscriptions end after a day." if self._visit.is_visitor else ""
