"""`SubscriptionForm`: words, a place drawn or typed, a name; and how much it would bring."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape

from fastapi import HTTPException
from nicegui import ui

from nearcast.model import ANY, Region, Subscription
from nearcast.service.api.subscription_limits import checked_entry
from nearcast.service.documents import subscription_document
from nearcast.service.estimate import Estimate
from nearcast.service.page.elements import Drawing, LiveMap
from nearcast.service.page.form_parts import SubmitRow, Tools, text_field
from nearcast.service.page.places import HINT, region_from_text
from nearcast.service.page.visit import Visit
from nearcast.service.stores.subscriptions import Entry
from nearcast.text import ExpressionError, parse

VISITOR_SECONDS = 86_400.0
"""A visitor may never come back, so what a visitor subscribes to ends after a day."""
TOOLS = {"box": "Box", "circle": "Circle", "polygon": "Polygon"}


class SubscriptionForm:
    """The form; `on_subscribed` is told the name of a new subscription."""

    def __init__(
        self, visit: Visit, live_map: LiveMap, on_subscribed: Callable[[str], Awaitable[None]]
    ) -> None:
        self._visit = visit
        self._map = live_map
        self._on_subscribed = on_subscribed
        self._asked = 0
        with ui.element("form").on("submit.prevent", self._subscribe):
            self._words = text_field("Words", "coffee AND (cake OR breakfast)", self._changed)
            self._tools = Tools("Draw", "Draw it on the map", TOOLS, self._draw)
            self._place = text_field("Place", "everywhere", self._changed).props(
                f'hint="{HINT}" hide-hint clearable'
            )
            self._name = text_field("Name", "made from the words", self._changed)
            self._submit = SubmitRow("Subscribe")
        self._say_nothing()

    # ------------------------------------------------------------ drawing

    def _draw(self, kind: str) -> None:
        drawing = Drawing(self._drawn, lambda: self._tools.press(None), self._drawing)
        self._map.draw(kind, drawing)
        self._tools.press(kind)

    def _drawn(self, place: str) -> None:
        self._place.value = place

    async def _drawing(self, place: str) -> None:
        await self._show_estimate(place)

    # ------------------------------------------------------------ what would it bring?

    async def _changed(self) -> None:
        region = self._region_or_problem()
        self._map.set_draft(region)
        await self._show_estimate(self._place.value or "")

    def _region_or_problem(self) -> Region | None:
        try:
            region = region_from_text(self._place.value or "")
        except ValueError as error:
            self._place.error = str(error)
            return None
        self._place.error = None
        return region

    async def _show_estimate(self, place: str) -> None:
        self._asked += 1
        asked = self._asked
        self._words.error = None
        if not (self._words.value or "").strip() and not place.strip():
            self._say_nothing()
            return
        try:
            if (self._words.value or "").strip():
                parse(self._words.value)
            subscription = self._entry(place).subscription
            assert isinstance(subscription, Subscription)
        except ExpressionError as error:
            self._words.error = in_words(error)
            self._submit.say("")
            return
        except ValueError as error:
            self._submit.say("" if self._place.error else escape(str(error)), is_problem=True)
            return
        try:
            estimate = await self._visit.act(self._visit.estimate, subscription)
        except HTTPException as error:
            self._submit.say(escape(str(error.detail)), is_problem=True)
            return
        if asked == self._asked and not self._words.is_deleted:  # else the person has gone on
            self._submit.say(estimate_words(estimate))

    def _say_nothing(self) -> None:
        self._submit.say("Type words, or draw a place.")

    # ------------------------------------------------------------ subscribing

    def _entry(self, place: str) -> Entry:
        words = (self._words.value or "").strip()
        name = (self._name.value or "").strip() or words[:40].replace("/", " ") or "this place"
        region = region_from_text(place)
        if not words:
            document = subscription_document(Subscription(name, ANY, region))
        else:
            # The words as they were typed, so that limits and mistakes are of what was typed.
            document = subscription_document(Subscription(name, "words", region))
            document["properties"]["keywords"] = words
        if self._visit.is_visitor:
            document["properties"]["lifetime"] = VISITOR_SECONDS
        return checked_entry(document, name, self._visit.service.settings)

    async def _subscribe(self) -> None:
        service, owner = self._visit.service, self._visit.owner
        try:
            entry = self._entry(self._place.value or "")
            await self._visit.act(
                service.subscriptions.put, owner, [entry], service.settings.most_subscriptions
            )
        except ExpressionError as error:
            self._words.error = in_words(error)
            return
        except ValueError as error:
            self._submit.say(escape(str(error)), is_problem=True)
            return
        except HTTPException as error:
            self._submit.say(escape(str(error.detail)), is_problem=True)
            return
        except OSError as error:
            self._submit.say(
                escape(f"not subscribed: {error.strerror}; try again"), is_problem=True
            )
            return
        name = str(entry.subscription.id)
        for field in (self._words, self._place, self._name):
            field.value = ""
        await self._on_subscribed(name)
        self._submit.say(f"Subscribed: <b>{escape(name)}</b>")
        self._words.run_method("focus")


def in_words(error: ExpressionError) -> str:
    """What is wrong with an expression, beside the field that it is in.

    >>> from nearcast.text import parse
    >>> try:
    ...     parse("coffee AND")
    ... except ExpressionError as error:
    ...     print(in_words(error))
    column 11: a word is missing here, at the end; add one
    """
    return f"column {error.column}: {error.problem}"


def estimate_words(estimate: Estimate) -> str:
    """An estimate as HTML.

    >>> estimate_words(Estimate(1234.5, 20, 5000, 7200.0, ()))
    'about <b>1,200</b> messages a day, going by the last 2 hours'
    >>> estimate_words(Estimate(None, 0, 0, 0.0, ()))
    'no messages yet to estimate from'
    """
    if not estimate.messages:
        return "no messages yet to estimate from"
    if estimate.per_day is None:
        return f"<b>{estimate.matches:,}</b> of the last {estimate.messages:,} messages"
    if not estimate.matches:
        return f"<b>none</b> of the last {estimate.messages:,} messages"
    return (
        f"about <b>{_rounded(estimate.per_day)}</b> messages a day, "
        f"going by the last {_span(estimate.seconds)}"
    )


def _rounded(number: float) -> str:
    """Two digits: more would promise too much."""
    if number < 1:
        return "1"
    return f"{float(f'{number:.2g}'):,.0f}"


def _span(seconds: float) -> str:
    for length, name in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= 1.5 * length or length == 1:
            return f"{seconds / length:.0f} {name}s"
    raise AssertionError("the last one always fits")
