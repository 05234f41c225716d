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
from nearcast.service.page.form_parts import SubmitRow, Tools, how_many, text_field
from nearcast.service.page.places import HINT, place_from_text
from nearcast.service.page.subscribing import Refused, put
from nearcast.service.page.subscription_form import TOOLS, VISITOR_SECONDS
from nearcast.service.page.visit import Visit
from nearcast.service.stores.subscriptions import Entry


class TermsForm:
    """The form; `on_subscribed` is called when there is a new subscription."""

    def __init__(
        self, visit: Visit, live_map: LiveMap, on_subscribed: Callable[[], Awaitable[None]]
    ) -> None:
        self._visit = visit
        self._map = live_map
        self._on_subscribed = on_subscribed
        with ui.element("form").on("submit.prevent", self._subscribe):
            names = {"point": "Point", **TOOLS}
            self._tools = Tools("Where", "Where, on the map", names, self._draw)
            self._place = text_field("Place", "around lon, lat; or a region", self._changed)
            self._place.props("clearable")
            with ui.element("div").classes("beside"):
                self._k = how_many(visit.service.settings.longest_list)
                self._name = text_field("Name", "made from the place", self._changed)
            self._submit = SubmitRow("Subscribe")
        self._submit.say("Click a point, or draw a region.")

    def _draw(self, kind: str) -> None:
        self._map.draw(kind, Drawing(self._drawn, lambda: self._tools.press(None)))
        self._tools.press(kind)

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
            self._submit.say(escape(str(error)), is_problem=True)
            return
        for field in (self._place, self._name):
            field.value = ""
        await self._on_subscribed()
        self._submit.say(f"Subscribed: <b>{escape(str(entry.subscription.id))}</b>")
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
