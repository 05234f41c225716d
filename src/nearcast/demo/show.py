"""`Show`: the city talks to a running service, and those who asked for it are told."""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from nearcast.datasets import City
from nearcast.demo.audience import FIRST_WORDS, PUBLISHER, Audience, client_of, listening
from nearcast.demo.client import Client
from nearcast.demo.failure import DemoFailed
from nearcast.demo.figures import Figures
from nearcast.demo.people import middle_of
from nearcast.demo.status import Status
from nearcast.demo.tally import Tally
from nearcast.model import Message, Point
from nearcast.service.service import Service

SEED = 22
"""A city in which something of everything happens in the first minutes."""
PEOPLE = 2_000
MESSAGES_PER_TICK = 40
BEGIN = 16 * 60 + 30
"""Minutes after midnight: shops are open, people go home, concerts begin soon."""
TICK_SECONDS = 1.0
"""In which a minute passes in the city."""
PARTS_OF_A_TICK = 4
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_TO_CATCH_UP = 10.0


class Show:
    """One run of the demo.

    - `ending`: set when it is to end at once
    """

    def __init__(
        self, service: Service, address: str, status: Status, ending: threading.Event
    ) -> None:
        self._service = service
        self._address = address
        self._status = status
        self._ending = ending
        self._city = City(seed=SEED)
        self._prefix = f"{secrets.token_hex(4)}-"  # no id comes again in a folder that is kept
        self._tally = Tally()
        self._clock = ""
        self._seconds = 0.0
        self._subscriptions = 0
        self._messages = 0
        self._first_event: int | None = None

    def run(self, seconds: float | None, on_begin: Callable[[], None]) -> Figures:
        """Until the time is up, from the first message on, or until it is asked to end."""
        with (
            listening(self._service, self._address, self._city, PEOPLE, self._tally) as audience,
            client_of(self._service, self._address, PUBLISHER, "publisher") as publisher,
        ):
            self._subscriptions = audience.subscriptions
            self._status.say(
                f"{audience.subscriptions:,} subscriptions are registered. "
                "Spark is starting, which takes some ten seconds ..."
            )
            if self._pipeline_runs() and self._first_words_arrive(publisher, audience):
                on_begin()
                self._play(publisher, audience, math.inf if seconds is None else seconds)
                self._catch_up(audience)
            return self.figures()

    def figures(self) -> Figures:
        """How it stands."""
        begin, tally = self._first_event, self._tally
        read_to = self._service.pipeline.status.progress.get("offset")
        return Figures(
            clock=self._clock,
            seconds=round(self._seconds, 1),
            subscriptions=self._subscriptions,
            messages=self._messages,
            matches=0 if begin is None else self._service.outbox.last_sequence() - begin,
            by_stream=tally.by_way["stream"],
            by_webhook=tally.by_way["webhook"],
            lag=None if read_to is None else self._service.log.end - read_to,
            median_milliseconds=tally.median_milliseconds,
            newest=tally.newest,
        )

    def _pipeline_runs(self) -> bool:
        """False if it is asked to end before."""

        def is_running() -> bool:
            status = self._service.pipeline.status
            if status.state == "failed":
                raise DemoFailed(f"Spark did not start: {status.problem}")
            return status.state == "running"

        return self._wait_until(is_running)

    def _first_words_arrive(self, publisher: Client, audience: Audience) -> bool:
        """False if it is asked to end before."""
        self._status.say(
            "Spark runs. Waiting for the first match; the first run ever compiles for a minute ..."
        )
        before = self._service.outbox.last_sequence()
        first = Message(f"first-{self._prefix}", text=FIRST_WORDS, at=middle_of(self._city))
        publisher.publish([first], time.time())
        return self._wait_until(
            lambda: (
                self._service.outbox.last_sequence() > before and audience.has_all(self._service)
            )
        )

    def _play(self, publisher: Client, audience: Audience, seconds: float) -> None:
        self._first_event = self._tally.after = self._service.outbox.last_sequence()
        begin = due = time.monotonic()
        end = begin + seconds
        for clock, where, messages in self._parts():
            self._messages += publisher.publish(messages, time.time())
            if clock != self._clock:
                audience.walk(where)
                audience.acknowledge()
            self._clock = clock
            self._status.show(self.figures())
            # A machine too slow for the pace drops behind instead of trying to catch up.
            due = min(max(due + TICK_SECONDS / PARTS_OF_A_TICK, time.monotonic()), end)
            is_over = self._ending.wait(due - time.monotonic()) or time.monotonic() >= end
            self._seconds = time.monotonic() - begin
            if is_over:
                break

    def _parts(self) -> Iterator[tuple[str, Mapping[str, Point], list[Message]]]:
        """The city's clock, who is where, and what is published at once."""
        for moment in self._city.moments(
            messages_per_tick=MESSAGES_PER_TICK, begin=BEGIN, prefix=self._prefix
        ):
            said = moment.messages
            for i in range(PARTS_OF_A_TICK):
                yield moment.clock, moment.walkers, said[i::PARTS_OF_A_TICK]

    def _catch_up(self, audience: Audience) -> None:
        """Let everything arrive that was published, unless somebody is in a hurry."""
        service = self._service
        end = service.log.end

        def is_done() -> bool:
            read_to = service.pipeline.status.progress.get("offset") or 0
            return read_to >= end and audience.has_all(service)

        self._wait_until(is_done, SECONDS_TO_CATCH_UP)
        audience.acknowledge()

    def _wait_until(self, is_so: Callable[[], bool], seconds: float = math.inf) -> bool:
        end = time.monotonic() + seconds
        while not is_so():
            if self._ending.wait(SECONDS_BETWEEN_LOOKS) or time.monotonic() >= end:
                return False
        return True
