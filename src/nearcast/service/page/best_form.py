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
from nearcast.service.page.places import POINT_HINT, point_from_text
from nearcast.service.page.subscribing import Refused, put
from nearcast.service.page.subscription_form import VISITOR_SECONDS
from nearcast.service.page.visit import Visit
from nearcast.service.stores.subscriptions import Entry

SHOWN_AT_FIRST = 10


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
            self._words = self._field("Words", "coffee cake")
            with ui.element("div").classes("beside"):
                self._place = self._field("Point", "lon, lat").props("clearable")
                self._pick = (
                    ui.button("Click on the map", color=None, on_click=self._point)
                    .props('flat dense no-caps aria-pressed="false"')
                    .classes("quiet")
                )
            with ui.element("div").classes("weight"):
                ui.label("words").props("aria-hidden=true")
                self._alpha = _Slider(min=0, max=1, step=0.05, value=0.5)
                self._alpha.props(
                    'label aria-label="What counts: words at 0, nearness at 1" color=primary'
                )
                ui.label("nearness").props("aria-hidden=true")
            with ui.element("div").classes("beside"):
                most = visit.service.settings.longest_list
                first = min(SHOWN_AT_FIRST, most)
                self._k = ui.number("How many", value=first, min=1, max=most, step=1, precision=0)
                self._k.props("outlined dense stack-label").classes("few")
                self._name = self._field("Name", "made from the words")
            with ui.element("div").classes("submit"):
                self._note = (
                    ui.html("", sanitize=False)
                    .classes("estimate")
                    .props('role="status" aria-live="polite"')
                )
                subscribe = ui.button("Subscribe", color=None)
                subscribe.props("unelevated no-caps type=submit").classes("main")
        self._say("Type words, and click a point.")

    def _field(self, label: str, placeholder: str) -> ui.input:
        field = ui.input(label, placeholder=placeholder, on_change=self._changed)
        return field.props("outlined dense stack-label debounce=250 no-error-icon")

    # ------------------------------------------------------------ the point

    def _point(self) -> None:
        drawing = Drawing(self._pointed, lambda: self._press(is_pressed=False))
        self._map.draw("point", drawing)
        self._press(is_pressed=True)

    def _press(self, *, is_pressed: bool) -> None:
        self._pick.props(f'aria-pressed="{"true" if is_pressed else "false"}"')

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
            self._say("" if point else "Click a point on the map, or type it.")

    def _say(self, html: str, *, is_problem: bool = False) -> None:
        self._note.content = html
        self._note.classes(add="problem" if is_problem else "", remove="problem")

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
            self._say(escape(str(error)), is_problem=True)
            return
        for field in (self._words, self._place, self._name):
            field.value = ""
        await self._on_subscribed()
        self._say(f"Subscribed: <b>{escape(str(entry.subscription.id))}</b>")
        self._words.run_method("focus")
