"""`Feed`: what is going on right now, for whoever watches; read once for all of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from nearcast.service.service import Service
from nearcast.service.stores.outbox import Event

SECONDS_BETWEEN_GLIMPSES = 0.5
MOST_ROWS = 200

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What came since the last one, at most the newest 200 of each, oldest first.

    - `messages`: offset in the log and JSON of the Feature
    - `events`: of everybody
    - `event_count`: how many events there were, shown or not
    """

    messages: list[tuple[int, str]]
    events: list[Event]
    event_count: int


class Feed:
    """Looks twice a second while somebody watches; who is slow misses glimpses, not memory."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._watchers: set[asyncio.Queue[Glimpse | None]] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False

    async def watch(self) -> AsyncGenerator[Glimpse]:
        """Glimpses from now on, until the hub stops; an empty one is left out."""
        if self._is_stopping:
            return
        queue: asyncio.Queue[Glimpse | None] = asyncio.Queue(1)
        self._watchers.add(queue)
        if self._task is None:
            self._task = asyncio.create_task(self._look(), name="feed")
        try:
            while (glimpse := await queue.get()) is not None:
                yield glimpse
        finally:
            self._watchers.discard(queue)
            if not self._watchers and self._task is not None:
                self._task.cancel()
                self._task = None

    def stop(self) -> None:
        """End every watch."""
        self._is_stopping = True
        for queue in self._watchers:
            _put(queue, None)

    async def _look(self) -> None:
        offset, sequence = await asyncio.to_thread(self._newest)
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_GLIMPSES)
            try:
                glimpse = await asyncio.to_thread(self._glimpse, offset, sequence)
            except Exception:  # whatever it is: it is looked at again
                logger.exception("messages and events cannot be read")
                continue
            if glimpse.messages:
                offset = glimpse.messages[-1][0]
            sequence += glimpse.event_count
            if glimpse.messages or glimpse.events:
                for queue in self._watchers:
                    _put(queue, glimpse)

    def _newest(self) -> tuple[int, int]:
        return self._service.messages.read_to - 1, self._service.outbox.last_sequence()

    def _glimpse(self, offset: int, sequence: int) -> Glimpse:
        recent = self._service.messages.recent(MOST_ROWS)
        newest = self._service.outbox.last_sequence()
        return Glimpse(
            [row for row in reversed(recent) if row[0] > offset],
            self._service.outbox.all_events(max(sequence, newest - MOST_ROWS), MOST_ROWS),
            newest - sequence,
        )


def _put(queue: asyncio.Queue[Glimpse | None], glimpse: Glimpse | None) -> None:
    """The newest replaces one that nobody took."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(glimpse)
