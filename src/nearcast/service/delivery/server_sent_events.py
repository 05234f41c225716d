"""Pages of events in the format of server-sent events, which browsers read as `EventSource`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Send

from nearcast.service.delivery.pages import Page

FIRST_WORDS = "retry: 1000\n\n"
"""Who loses the connection comes back after so many milliseconds."""
HEARTBEAT = ": still here\n\n"


def as_server_sent_events(page: Page) -> str:
    """A page as it goes over the wire; an empty one is a heartbeat.

    >>> print(as_server_sent_events(Page(5, 17, [])), end="")
    event: gap
    id: 17
    data: {"kind": "gap", "after": 5, "up_to": 17}
    <BLANKLINE>
    """
    if not page:
        return HEARTBEAT
    gap = page.gap
    parts = [] if gap is None else [f"event: gap\nid: {page.lost_up_to}\ndata: {gap}\n\n"]
    parts += [f"id: {event.sequence}\ndata: {event.text}\n\n" for event in page.events]
    return "".join(parts)


class EventStream(StreamingResponse):
    """A stream that lets go of its reader as soon as the connection ends."""

    media_type = "text/event-stream"

    def __init__(self, content: AsyncGenerator[str]) -> None:
        # The second one is for nginx, which would collect the events first.
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(content, headers=headers)
        self._content = content

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._content):
            await super().stream_response(send)
