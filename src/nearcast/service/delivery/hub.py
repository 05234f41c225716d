"""`Hub`: wakes those who wait for events, and only those whose events have come."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from nearcast.service.delivery.pages import SECONDS_HELD_UP, Page, read_page
from nearcast.service.delivery.webhooks import Webhooks
from nearcast.service.service import Service

SECONDS_BETWEEN_LOOKS = 1.0
"""The pipeline says when it has news; a word that got lost costs no more than this."""
READING_THREADS = WRITING_THREADS = 2
LOCKS = 64

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
        self._bells: dict[str, set[asyncio.Event]] = {}
        # Shared by a few subscribers each: one per subscriber would never be forgotten.
        self._acknowledging = [threading.Lock() for _ in range(LOCKS)]
        # Their own threads, so that neither a slow disk nor anybody else keeps readers waiting.
        self._readers = ThreadPoolExecutor(READING_THREADS, "events")
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
        for subscriber in self._bells:
            self._ring(subscriber)
        await self.webhooks.stop()

    # ------------------------------------------------------------ for readers

    @contextmanager
    def bell(self, subscriber: str) -> Iterator[asyncio.Event]:
        """Rings when a subscriber may have new events, and when the hub stops.

        Clear it, look, and wait for it: so nothing slips in between.
        """
        bell = asyncio.Event()
        self._bells.setdefault(subscriber, set()).add(bell)
        try:
            yield bell
        finally:
            bells = self._bells[subscriber]
            bells.discard(bell)
            if not bells:
                del self._bells[subscriber]

    async def follow(
        self, subscriber: str, after: int, *, heartbeat: float | None = None
    ) -> AsyncGenerator[Page]:
        """The pages of a subscriber from the number `after` on, until the hub stops.

        The next one is read when it is asked for. With a `heartbeat` an empty page comes when
        nothing else has come for so many seconds.
        """
        self.streams += 1
        try:
            with self.bell(subscriber) as bell:
                while not self._is_stopping:
                    bell.clear()
                    page = await self.read(read_page, self._service, subscriber, after)
                    after = page.cursor
                    if page:
                        yield page
                    if page.has_more:
                        continue
                    if page.is_held_up:
                        await asyncio.sleep(SECONDS_HELD_UP)
                    elif not await _rings(bell, heartbeat):
                        yield Page(after, None, [])
        finally:
            self.streams -= 1

    def wake(self, subscriber: str) -> None:
        """Let the readers of a subscriber look again; from any thread."""
        self._loop.call_soon_threadsafe(self._ring, subscriber)

    async def read(self, function: Callable[P, T], *values: P.args, **more: P.kwargs) -> T:
        """Call what looks for events, in a thread that does nothing else."""
        call = functools.partial(function, *values, **more)
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    async def write(self, function: Callable[P, T], *values: P.args, **more: P.kwargs) -> T:
        """Call what waits for the disk, in a thread that nobody reads in.

        Who is cancelled waits for it all the same, so that nothing is written afterwards.
        """
        call = functools.partial(function, *values, **more)
        writing = asyncio.get_running_loop().run_in_executor(self._writers, call)
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            raise

    def acknowledge(self, subscriber: str, sequence: int) -> None:
        """All up to `sequence` has arrived; durable on return.  From any thread.

        A ValueError says that there is no such event yet.
        """
        self.check_number(sequence)
        deliveries, outbox = self._service.deliveries, self._service.outbox
        with self._acknowledging[
            hash(subscriber) % LOCKS
        ]:  # else two at a time would count the same events
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

    def _hear(self) -> None:
        """Called in a thread of the supervisor."""
        self._loop.call_soon_threadsafe(self._news.set)

    async def _listen(self) -> None:
        while True:
            try:
                self._seen, subscribers = await self.read(
                    self._service.outbox.subscribers_since, self._seen
                )
                for subscriber in subscribers:
                    self._ring(subscriber)
            except Exception:  # whatever it is: it is looked at again
                logger.exception("the outbox cannot be read")
            try:
                await asyncio.wait_for(self._news.wait(), SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                continue
            self._news.clear()

    def _ring(self, subscriber: str) -> None:
        for bell in self._bells.get(subscriber, ()):
            bell.set()


async def _rings(bell: asyncio.Event, seconds: float | None) -> bool:
    """Wait for it; False when the time was up first."""
    try:
        await asyncio.wait_for(bell.wait(), seconds)
    except TimeoutError:
        return False
    return True
