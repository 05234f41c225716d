"""`BestForm`: words, a point, how many, and what counts more: the words or the nearness."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape
from typing import Any

from nicegui import ui

from nearcast.model import Point
from nearcast.service.api.subscription_limits import checked_entry
from nearcast.service.documents import TOP
from nearcast.service.page.elements import Drawing, LiveMap
from nearcast.service.page.form_parts import SubmitRow, how_many, pressed, text_field, tool
from nearcast.service.page.places import POINT_HINT, point_from_text
from nearcast.service.page.subscribing import Refused, put
from nearcast.service.page.subscription_form import VISITOR_SECONDS
from nearcast.service.page.visit import Visit
from nearcast.service.stores.subscriptions import Entry


class _Slider(ui.slider):
    """Its value is not sent back: an echo that is late would undo the keys pressed since."""

    LOOPBACK = False


class BestForm:
    """The form; `on_subscribed` is called when there is a new subscription."""

    def __init__(
        self, visit: Visit, live_map: LiveMap, on_subscribed: Callable[[], Awaitable[None]]
    ) -> None:
        self._visit = visit
        self._map = live_map
        self._on_subscribed = on_subscribed
        with ui.element("form").on("submit.prevent", self._subscribe):
            self._words = text_field("Words", "coffee cake", self._changed)
            with ui.element("div").classes("beside"):
                self._place = text_field("Point", "lon, lat", self._changed).props("clearable")
                self._pick = tool("Click on the map", self._point)
            with ui.element("div").classes("weight"):
                ui.label("words").props("aria-hidden=true")
                self._alpha = _Slider(min=0, max=1, step=0.05, value=0.5)
                self._alpha.props(
                    'label aria-label="What counts: words at 0, nearness at 1" color=primary'
                )
                ui.label("nearness").props("aria-hidden=true")
            with ui.element("div").classes("beside"):
                self._k = how_many(visit.service.settings.longest_list)
                self._name = text_field("Name", "made from the words", self._changed)
            self._submit = SubmitRow("Subscribe")
        self._submit.say("Type words, and click a point.")

    # ------------------------------------------------------------ the point

    def _point(self) -> None:
        drawing = Drawing(self._pointed, lambda: pressed(self._pick, False))
        self._map.draw("point", drawing)
        pressed(self._pick, True)

    def _pointed(self, place: str) -> None:
        self._place.value = place

    def _changed(self) -> None:
        point: Point | None = None
        self._place.error = None
        try:
            point = point_from_text(self._place.value or "")
        except ValueError as error:
            self._place.error = str(error)
        self._map.set_draft(point)
        if (self._words.value or "").strip():
            self._submit.say("" if point else "Click a point on the map, or type it.")

    # ------------------------------------------------------------ subscribing

    def _entry(self) -> Entry:
        words = (self._words.value or "").strip()
        name = (self._name.value or "").strip() or words[:40].replace("/", " ")
        at = point_from_text(self._place.value or "")
        if not words:
            raise ValueError("no words yet; type at least one")
        if at is None:
            raise ValueError(f"no point yet; click one on the map, or give {POINT_HINT}")
        properties: dict[str, Any] = {
            "kind": TOP,
            "keywords": words,
            "k": int(self._k.value or 0),
            "alpha": float(self._alpha.value),
        }
        if self._visit.is_visitor:
            properties["lifetime"] = VISITOR_SECONDS
        document = {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [at.lon, at.lat]},
            "properties": properties,
        }
        return checked_entry(document, name, self._visit.service.settings)

    async def _subscribe(self) -> None:
        try:
            [entry] = await put(self._visit, lambda: [self._entry()])
        except Refused as error:
            self._submit.say(escape(str(error)), is_problem=True)
            return
        for field in (self._words, self._place, self._name):
            field.value = ""
        await self._on_subscribed()
        self._submit.say(f"Subscribed: <b>{escape(str(entry.subscription.id))}</b>")
        self._words.run_method("focus")
