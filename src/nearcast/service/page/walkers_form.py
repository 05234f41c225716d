"""`WalkersForm`: words, how far around, and how many simulated people to send out."""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from html import escape
from itertools import count as numbers

from nicegui import ui

from nearcast.model import Circle, MovingSubscription, Point
from nearcast.service.api.subscription_limits import checked_entry
from nearcast.service.documents import subscription_document
from nearcast.service.page.form_parts import SubmitRow
from nearcast.service.page.places import point_of
from nearcast.service.page.subscribing import Refused, put
from nearcast.service.page.visit import Visit
from nearcast.service.stores.subscriptions import Entry

PREFIX = "walker "
"""The names of those who are simulated begin with it."""
MOST, AT_FIRST = 12, 3
METRES_AT_FIRST = 500
LIFETIME = 3_600.0
"""Seconds: nobody comes to take them home when the page is closed."""
RECENT = 200
"""So many of the newest messages are where people walk to."""


class WalkersForm:
    """The form; `on_sent` is called when people have been sent out."""

    def __init__(self, visit: Visit, on_sent: Callable[[], Awaitable[None]]) -> None:
        self._visit = visit
        self._on_sent = on_sent
        with ui.element("form").on("submit.prevent", self._send):
            self._words = ui.input("Words", placeholder="coffee OR cake")
            self._words.props("outlined dense stack-label no-error-icon")
            with ui.element("div").classes("beside"):
                self._count = ui.number("People", value=AT_FIRST, min=1, max=MOST, precision=0)
                self._metres = ui.number("Metres around", value=METRES_AT_FIRST, min=1)
                for field in (self._count, self._metres):
                    field.props("outlined dense stack-label")
            self._submit = SubmitRow("Send them out")
        self._submit.say("They walk while this page is open.")

    def _entries(self) -> list[Entry]:
        words, count = (self._words.value or "").strip(), int(self._count.value or 0)
        if not words:
            raise ValueError("no words yet; type at least one")
        if not 1 <= count <= MOST:
            raise ValueError(f"{count} people; give 1 to {MOST}")
        places = recent_places(self._visit)
        if not places:
            raise ValueError("nothing is said yet, so there is nowhere to go; try again later")
        names = (f"{PREFIX}{number}" for number in numbers(1))
        get = self._visit.service.subscriptions.get
        free = (name for name in names if get(self._visit.owner, name) is None)
        metres = float(self._metres.value or 0)
        return [self._entry(next(free), words, Circle(random.choice(places), metres))
                for _ in range(count)]  # fmt: skip

    def _entry(self, name: str, words: str, around: Circle) -> Entry:
        # The words as they were typed, so that limits and mistakes are of what was typed.
        document = subscription_document(
            MovingSubscription(name, "words", around), keywords=words, lifetime=LIFETIME
        )
        return checked_entry(document, name, self._visit.service.settings)

    async def _send(self) -> None:
        try:
            entries = await put(self._visit, self._entries)
        except Refused as error:
            self._submit.say(escape(str(error)), is_problem=True)
            return
        await self._on_sent()
        self._submit.say(f"<b>{len(entries)}</b> on the way")


def recent_places(visit: Visit) -> list[Point]:
    """Where the newest messages are."""
    found = visit.service.messages.recent(RECENT)
    return [Point(*point_of(json.loads(body))) for _, body in found]
