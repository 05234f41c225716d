"""`read_page`: the next events of a subscriber, with what their messages said.

An event as it is delivered:

    {"id": 17, "kind": "match", "subscription": "cafe", "time": 1731662000.5,
     "message": {"type": "Feature", …}}

of a top-k subscription:

    {"id": 18, "kind": "top", "subscription": "lunch", "time": 1731662000.5, "cause": "m1",
     "results": [{"message": "m1", "score": 0.93}, …], "entered": ["m1"], "left": []}

of one for trending terms, which have `entered` the list, `left` it or `moved` to another place:

    {"id": 19, "kind": "trend", "subscription": "here", "time": 1731662000.5, "cause": "m1",
     "terms": [{"term": "jazz", "score": 3.2}, …], "entered": ["jazz"], "left": [], "moved": []}

of one that moves, a message that has come into its result (`message` is null when it is no longer
kept) or has left it (then there is no `message`), and how far it may go unseen:

    {"id": 20, "kind": "enter", "subscription": "walk", "time": 1731662000.5, "cause": null,
     "message_id": "m1", "message": {"type": "Feature", …}}
    {"id": 21, "kind": "safe", "subscription": "walk", "time": 1731662000.5, "metres": 250.0}

and what a reader is told who fell behind what is kept:

    {"kind": "gap", "after": 5, "up_to": 17}
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from nearcast.service.service import Service
from nearcast.service.stores.outbox import Event

MOST_EVENTS = 100
"""Of a page: readers take one at a time, so that nothing piles up in between."""
LARGEST_PAGE = 1_000_000
"""Letters of a page; one event alone may have more."""
SECONDS_HELD_UP = 0.05
"""When to look again at a page that is held up."""


@dataclass(frozen=True, slots=True)
class RenderedEvent:
    """An event and its JSON text."""

    sequence: int
    subscription: str
    offset: int
    text: str
    kind: str = "match"


@dataclass(frozen=True, slots=True)
class Page:
    """What follows the event number `after`.

    - `lost_up_to`: events up to this number are no longer kept; they come before `events`
    - `has_more`: the next page can be read at once
    - `is_held_up`: more is there, but what the messages said is not at hand yet
    """

    after: int
    lost_up_to: int | None
    events: list[RenderedEvent]
    has_more: bool = False
    is_held_up: bool = False

    def __bool__(self) -> bool:
        """Is there something to tell?"""
        return bool(self.events) or self.lost_up_to is not None

    @property
    def cursor(self) -> int:
        """The number from which to go on."""
        if self.events:
            return self.events[-1].sequence
        return self.after if self.lost_up_to is None else self.lost_up_to

    @property
    def gap(self) -> str | None:
        """The JSON that tells of what is lost.

        >>> Page(5, 17, []).gap
        '{"kind": "gap", "after": 5, "up_to": 17}'
        """
        if self.lost_up_to is None:
            return None
        return json.dumps({"kind": "gap", "after": self.after, "up_to": self.lost_up_to})

    @property
    def texts(self) -> list[str]:
        """The JSON of everything, in order."""
        gap = self.gap
        return ([] if gap is None else [gap]) + [event.text for event in self.events]


def read_page(service: Service, subscriber: str, after: int, limit: int = MOST_EVENTS) -> Page:
    """Read on behind the event number `after`; some milliseconds at most."""
    # In this order: the pipeline may drop events between the two, and then the gap tells.
    events = service.outbox.events(subscriber, after, limit)
    has_more = len(events) == limit
    lost_up_to = service.outbox.gap(subscriber, after)
    if lost_up_to is not None:
        events = [event for event in events if event.sequence > lost_up_to]
    # In this order: what is not said below `read_to` is forgotten, beyond it is yet to come.
    read_to = service.messages.read_to
    bodies = service.messages.bodies(event.offset for event in events if event.kind is None)
    rendered: list[RenderedEvent] = []
    letters = 0
    for event in events:
        body = event.body or bodies.get(event.offset)
        if event.kind == "enter" and body is not None:
            body = _with_message(service, body, is_known=event.offset < read_to)
        if body is not None:
            rendered.append(_render(event, body))
            letters += len(body)
            if letters > LARGEST_PAGE:
                has_more = True
                break
        elif event.offset >= read_to:
            return Page(after, lost_up_to, rendered, is_held_up=True)
        elif rendered:
            has_more = True  # the next page begins with this gap
            break
        else:
            lost_up_to = event.sequence
    return Page(after, lost_up_to, rendered, has_more)


def _with_message(service: Service, body: str, *, is_known: bool) -> str | None:
    """What entered, with what it said; None while the catalogue may yet get it."""
    message = service.messages.get(json.loads(body)["message_id"])
    if message is None and not is_known:
        return None
    return f'{body[:-1]}, "message": {json.dumps(message)}}}'


def _render(event: Event, body: str) -> RenderedEvent:
    # The body is JSON already; reading it to write it again would cost more than all the rest.
    rest = f'"message": {body}}}' if event.kind is None else body[1:]
    kind = event.kind or "match"
    text = (
        f'{{"id": {event.sequence}, "kind": "{kind}", "subscription": '
        f'{json.dumps(event.subscription)}, "time": {event.written}, {rest}'
    )
    return RenderedEvent(event.sequence, event.subscription, event.offset, text, kind)
