"""`TermsForm`: a point or a region, and how many terms."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape
from typing import Any

from nicegui import ui

from nearcast.model import (
    Box,
    Circle,
    NearbyTrendingSubscription,
    Point,
    Polygon,
    Region,
    TrendingSubscription,
)
from nearcast.service.api.subscription_limits import checked_entry
from nearcast.service.documents import subscription_document
from nearcast.service.page.elements import Drawing, LiveMap
from nearcast.service.page.places import HINT, place_from_text
from nearcast.service.page.subscribing import Refused, put
from nearcast.service.page.subscription_form import TOOLS, VISITOR_SECONDS
from nearcast.service.page.visit import Visit
from nearcast.service.stores.subscriptions import Entry

SHOWN_AT_FIRST = 10


class TermsForm:
    """The form; `on_subscribed` is called when there is a new subscription."""

    def __init__(
        self, visit: Visit, live_map: LiveMap, on_subscribed: Callable[[], Awaitable[None]]
    ) -> None:
        self._visit = visit
        self._map = live_map
        self._on_subscribed = on_subscribed
        with ui.element("form").on("submit.prevent", self._subscribe):
            with (
                ui.element("div")
                .classes("tools")
                .props('role="group" aria-label="Where, on the map"')
            ):
                ui.label("Where").classes("label")
                self._tools = {
                    kind: ui.button(name, color=None, on_click=lambda kind=kind: self._draw(kind))
                    .props('flat dense no-caps aria-pressed="false"')
                    .classes("quiet")
                    for kind, name in {"point": "Point", **TOOLS}.items()
                }
            self._place = self._field("Place", "around lon, lat; or a region")
            self._place.props("clearable")
            with ui.element("div").classes("beside"):
                most = visit.service.settings.longest_list
                first = min(SHOWN_AT_FIRST, most)
                self._k = ui.number("How many", value=first, min=1, max=most, step=1, precision=0)
                self._k.props("outlined dense stack-label").classes("few")
                self._name = self._field("Name", "made from the place")
            with ui.element("div").classes("submit"):
                self._note = (
                    ui.html("", sanitize=False)
                    .classes("estimate")
                    .props('role="status" aria-live="polite"')
                )
                subscribe = ui.button("Subscribe", color=None)
                subscribe.props("unelevated no-caps type=submit").classes("main")
        self._say("Click a point, or draw a region.")

    def _field(self, label: str, placeholder: str) -> ui.input:
        field = ui.input(label, placeholder=placeholder, on_change=self._changed)
        return field.props("outlined dense stack-label debounce=250 no-error-icon")

    def _draw(self, kind: str) -> None:
        self._map.draw(kind, Drawing(self._drawn, lambda: self._press(None)))
        self._press(kind)

    def _press(self, kind: str | None) -> None:
        for each, button in self._tools.items():
            button.props(f'aria-pressed="{"true" if each == kind else "false"}"')

    def _drawn(self, place: str) -> None:
        self._place.value = place

    def _changed(self) -> None:
        place: Region | Point | None = None
        self._place.error = None
        try:
            place = place_from_text(self._place.value or "")
        except ValueError as error:
            self._place.error = str(error)
        self._map.set_draft(place)

    def _say(self, html: str, *, is_problem: bool = False) -> None:
        self._note.content = html
        self._note.classes(add="problem" if is_problem else "", remove="problem")

    def _entry(self) -> Entry:
        place = place_from_text(self._place.value or "")
        if place is None:
            raise ValueError(f"no place yet; click or draw one, or give lon, lat; {HINT}")
        name, k = (self._name.value or "").strip() or name_of(place), int(self._k.value or 0)
        subscription: NearbyTrendingSubscription | TrendingSubscription
        if isinstance(place, Point):
            subscription = NearbyTrendingSubscription(name, place, k)
        else:
            subscription = TrendingSubscription(name, place, k)
        more: dict[str, Any] = {"lifetime": VISITOR_SECONDS} if self._visit.is_visitor else {}
        document = subscription_document(subscription, **more)
        return checked_entry(document, name, self._visit.service.settings)

    async def _subscribe(self) -> None:
        try:
            [entry] = await put(self._visit, lambda: [self._entry()])
        except Refused as error:
            self._say(escape(str(error)), is_problem=True)
            return
        for field in (self._place, self._name):
            field.value = ""
        await self._on_subscribed()
        self._say(f"Subscribed: <b>{escape(str(entry.subscription.id))}</b>")
        self._place.run_method("focus")


def name_of(place: Region | Point) -> str:
    """A name for who gives none.

    >>> name_of(Point(14.25, 40.84))
    'around 14.250, 40.840'
    """
    if isinstance(place, Point):
        return f"around {place.lon:.3f}, {place.lat:.3f}"
    match place:
        case Circle(centre=at):
            pass
        case Box(west=west, south=south):
            at = Point(west, south)
        case Polygon(rings=rings):
            at = Point(*rings[0][0])
    return f"in the region at {at.lon:.3f}, {at.lat:.3f}"
