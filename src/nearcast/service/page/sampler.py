"""`Sampler`: looks at the service twice a second, once for all who watch the page."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from nicegui import background_tasks

from nearcast.service.matching.supervisor import PipelineStatus
from nearcast.service.page.elements import Dot
from nearcast.service.page.places import point_of
from nearcast.service.service import Service

SECONDS_BETWEEN_TICKS = 0.5
TICKS_BETWEEN_COUNTS = 4
DOTS_A_TICK = 100
READ_A_TICK = 5_000
LONGEST_TEXT = 200
POINTS = 120
"""Of a chart: a minute."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The service in numbers; None is not known yet.  Rates are by the second."""

    message_rate: float
    match_rate: float
    lag: int | None
    batch_milliseconds: float | None
    subscriptions: int
    matches: int
    deliveries: int


@dataclass(frozen=True, slots=True)
class Tick:
    """What a page is told twice a second.

    - `dots`: of the messages that came, some when there are many
    - `history`: the numbers of the last minute, oldest first, the last one those of now
    """

    dots: list[Dot]
    pipeline: PipelineStatus
    history: list[Numbers]


class Sampler:
    """Reads while somebody watches, and only then."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._watchers: dict[str, Callable[[Tick], None]] = {}
        self._history: deque[Numbers] = deque(maxlen=POINTS)
        self._is_running = False

    def watch(self, key: str, on_tick: Callable[[Tick], None]) -> None:
        """Call back at every tick until `unwatch`; in the loop of the page."""
        self._watchers[key] = on_tick
        if not self._is_running:
            self._is_running = True
            background_tasks.create(self._run(), name="page sampler")

    def unwatch(self, key: str) -> None:
        """No more, if it did."""
        self._watchers.pop(key, None)

    async def _run(self) -> None:
        try:
            await asyncio.to_thread(self._begin)
            while self._watchers:
                await asyncio.sleep(SECONDS_BETWEEN_TICKS)
                try:
                    tick = await asyncio.to_thread(self._read)
                except (OSError, sqlite3.Error) as error:
                    logger.error("the page cannot read the stores: %s", error)
                else:
                    self._tell(tick)
        finally:
            self._is_running = False

    def _tell(self, tick: Tick) -> None:
        for key, on_tick in list(self._watchers.items()):
            try:
                on_tick(tick)
            except Exception:  # one page must not stop the others
                logger.exception("a page failed and is told no more")
                self.unwatch(key)

    # ------------------------------------------------------------ in a thread

    def _begin(self) -> None:
        self._history.clear()
        self._offset = self._service.messages.read_to
        self._sequence = self._service.outbox.last_sequence()
        self._time = time.monotonic()
        self._ticks = 0

    def _read(self) -> Tick:
        now = time.monotonic()
        seconds = max(now - self._time, 1e-3)
        rows = self._service.messages.since(self._offset, READ_A_TICK)
        count = len(rows)
        if rows:
            next_offset = rows[-1][0] + 1
            if count == READ_A_TICK:  # more than one can look at: go on behind all of them
                next_offset = self._service.messages.read_to
                count = next_offset - self._offset
            self._offset = next_offset
        sequence = self._service.outbox.last_sequence()
        if self._ticks % TICKS_BETWEEN_COUNTS == 0:
            self._subscriptions = self._service.subscriptions.count()
            self._deliveries, _ = self._service.deliveries.totals()
        pipeline = self._service.pipeline.status
        self._history.append(
            Numbers(
                count / seconds,
                (sequence - self._sequence) / seconds,
                self._service.lag(),
                pipeline.progress.get("milliseconds"),
                self._subscriptions,
                sequence,
                self._deliveries,
            )
        )
        self._sequence, self._time = sequence, now
        self._ticks += 1
        chosen = random.sample(rows, DOTS_A_TICK) if count > DOTS_A_TICK else rows
        return Tick([dot_of(body) for _, body in chosen], pipeline, list(self._history))


def dot_of(body: str) -> Dot:
    """What the map needs of a message's JSON."""
    message = json.loads(body)
    lon, lat = point_of(message)
    return lon, lat, said(message)


def said(message: dict[str, object]) -> str:
    """The words of a Feature, not too many.

    >>> said({"properties": {"keywords": ["free", "coffee"]}})
    'free coffee'
    """
    properties = message["properties"]
    assert isinstance(properties, dict)
    text = properties.get("text") or " ".join(properties.get("keywords") or ())
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
