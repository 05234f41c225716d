"""`Hub`: wakes those who wait for events, and only those whose events have come."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from nearcast.service.delivery.pages import Page, read_page
from nearcast.service.delivery.webhooks import Webhooks
from nearcast.service.service import Service

SECONDS_BETWEEN_LOOKS = 1.0
"""The pipeline says when it has news; a word that got lost costs no more than this."""
SECONDS_HELD_UP = 0.05
WRITING_THREADS = 4

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)


class Hub:
    """Between the outbox and all who read it.  It belongs to one event loop.

    - `webhooks`: at work while the hub is
    - `streams`: how many readers follow a subscriber's events
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._acknowledging = threading.Lock()
        # Their own threads, so that a slow disk takes none from those who read.
        self._writers = ThreadPoolExecutor(WRITING_THREADS, "deliveries")
        self._is_stopping = False
        self._task: asyncio.Task[None] | None = None
        self.webhooks = Webhooks(service, self)
        self.streams = 0

    async def start(self) -> None:
        """Begin to listen; from now on the running loop is its own."""
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._seen = await asyncio.to_thread(self._service.outbox.last_sequence)
        self._service.on_events = self._hear
        self._task = asyncio.create_task(self._listen(), name="hub")
        await self.webhooks.start()

    async def stop(self) -> None:
        """End all streams and webhooks; any number of times.

        A server waits for its open streams before it ends, so it calls this as the first thing.
        """
        self._is_stopping = True
        self._service.on_events = lambda: None
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None
        for subscriber in list(self._waiting):
            self._wake(subscriber)
        await self.webhooks.stop()

    # ------------------------------------------------------------ for readers

    async def changed(self, subscriber: str, after: int, seconds: float | None = None) -> None:
        """Wait for events of a subscriber beyond the number `after`, no longer than `seconds`.

        It may return early: look, and wait again.
        """
        woken = asyncio.get_running_loop().create_future()
        # Waiting begins before the look, so that nothing slips in between.
        waiting = self._waiting.setdefault(subscriber, set())
        waiting.add(woken)
        try:
            if not self._is_stopping and not await self._has_events(subscriber, after):
                await asyncio.wait([woken], timeout=seconds)
        finally:
            waiting.discard(woken)
            if not waiting and self._waiting.get(subscriber) is waiting:
                del self._waiting[subscriber]

    async def follow(
        self, subscriber: str, after: int, *, heartbeat: float | None = None
    ) -> AsyncGenerator[Page]:
        """The pages of a subscriber from the number `after` on, until the hub stops.

        The next one is read when it is asked for. With a `heartbeat` an empty page comes when
        nothing else has come for so many seconds.
        """
        self.streams += 1
        try:
            while not self._is_stopping:
                page = await asyncio.to_thread(read_page, self._service, subscriber, after)
                if page:
                    after = page.cursor
                    yield page
                elif page.is_held_up:
                    await asyncio.sleep(SECONDS_HELD_UP)
                elif not await self._is_woken(subscriber, after, heartbeat):
                    yield page
        finally:
            self.streams -= 1

    def wake(self, subscriber: str) -> None:
        """Let the readers of a subscriber look again; from any thread."""
        self._loop.call_soon_threadsafe(self._wake, subscriber)

    async def write(self, function: Callable[P, T], *values: P.args, **more: P.kwargs) -> T:
        """Call what waits for the disk, in a thread that nobody reads in."""
        call = functools.partial(function, *values, **more)
        return await asyncio.get_running_loop().run_in_executor(self._writers, call)

    def acknowledge(self, subscriber: str, sequence: int) -> None:
        """All up to `sequence` has arrived; durable on return.  From any thread.

        A ValueError says that there is no such event yet.
        """
        self.check_number(sequence)
        deliveries, outbox = self._service.deliveries, self._service.outbox
        with self._acknowledging:  # else two at a time would count the same events
            cursor = deliveries.cursor(subscriber)
            if sequence > cursor:
                delivered = outbox.counts_between(subscriber, cursor, sequence)
                deliveries.acknowledge(subscriber, sequence, delivered)

    def check_number(self, sequence: int) -> None:
        """Refuse the number of an event that is yet to come."""
        newest = self._service.outbox.last_sequence()
        if not 0 <= sequence <= newest:
            raise ValueError(
                f"event id {sequence} is not one of 0 to {newest}; give the id of an event received"
            )

    # ------------------------------------------------------------ inside

    async def _is_woken(self, subscriber: str, after: int, seconds: float | None) -> bool:
        """False when the time was up first."""
        begin = self._loop.time()
        await self.changed(subscriber, after, seconds)
        return seconds is None or self._loop.time() - begin < seconds

    async def _has_events(self, subscriber: str, after: int) -> bool:
        return bool(await asyncio.to_thread(self._service.outbox.events, subscriber, after, 1))

    def _hear(self) -> None:
        """Called in a thread of the supervisor."""
        self._loop.call_soon_threadsafe(self._news.set)

    async def _listen(self) -> None:
        while True:
            try:
                self._seen, subscribers = await asyncio.to_thread(
                    self._service.outbox.subscribers_since, self._seen
                )
                for subscriber in subscribers:
                    self._wake(subscriber)
            except Exception:  # whatever it is: it is looked at again
                logger.exception("the outbox cannot be read")
            try:
                await asyncio.wait_for(self._news.wait(), SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                continue
            self._news.clear()

    def _wake(self, subscriber: str) -> None:
        for woken in self._waiting.pop(subscriber, ()):
            if not woken.done():
                woken.set_result(None)
