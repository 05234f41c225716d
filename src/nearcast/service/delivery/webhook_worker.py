"""`WebhookWorker`: brings the events of one subscriber to one webhook, in order."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nearcast.service.delivery.pace import Pace
from nearcast.service.delivery.pages import (
    LARGEST_PAGE,
    MOST_EVENTS,
    SECONDS_HELD_UP,
    Page,
    read_page,
)
from nearcast.service.delivery.sender import Answer, Sender
from nearcast.service.delivery.signature import signed_headers
from nearcast.service.service import Service
from nearcast.service.stores.dead_letters import DeadLetter
from nearcast.service.stores.deliveries import Webhook

if TYPE_CHECKING:
    from nearcast.service.delivery.hub import Hub

SECONDS_AFTER_A_FAULT = 5.0
"""Of our own: a full disk, say."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class WebhookState:
    """How it goes, since the service started.

    - `attempts`: how often the events at hand were tried, 0 when none are
    - `last_attempt`, `next_attempt`: when, by the clock of the machine
    """

    attempts: int = 0
    last_attempt: float | None = None
    last_error: str | None = None
    next_attempt: float | None = None


class WebhookWorker:
    """Reads a page, posts it until it is taken or given up, reads the next; for ever."""

    def __init__(
        self, service: Service, hub: Hub, webhook: Webhook, sender: Sender, pace: Pace
    ) -> None:
        self._service = service
        self._hub = hub
        self._webhook = webhook
        self._sender = sender
        self._pace = pace
        self._is_asked = True  # perhaps before the service started
        self.state = WebhookState()

    def ask_again(self) -> None:
        """There are dead letters to be delivered again."""
        self._is_asked = True
        self._hub.wake(self._webhook.subscriber)

    async def run(self) -> None:
        """Until it is cancelled; a post in flight then counts as not delivered."""
        try:
            with self._hub.bell(self._webhook.subscriber) as bell:
                while True:
                    try:
                        await self._deliver_next(bell)
                    except Exception:
                        logger.exception("webhook %s: delivery failed here", self._webhook.name)
                        await self._pace.sleep(SECONDS_AFTER_A_FAULT)
        finally:
            await self._sender.close()

    async def _deliver_next(self, bell: asyncio.Event) -> None:
        """One post of dead letters at most, then one page: neither keeps the other waiting."""
        bell.clear()
        webhook, deliveries = self._webhook, self._service.deliveries
        if self._is_asked:
            self._is_asked = False  # before the look: somebody may ask meanwhile
            self._is_asked |= await self._redeliver()
        cursor = await self._hub.read(deliveries.cursor, webhook.subscriber, webhook.name)
        page = await self._hub.read(read_page, self._service, webhook.subscriber, cursor)
        if page:
            await self._deliver(page)
        elif page.is_held_up:
            await self._pace.sleep(SECONDS_HELD_UP)
        elif not self._is_asked:
            await bell.wait()

    async def _deliver(self, page: Page) -> None:
        first = page.events[0].sequence if page.lost_up_to is None else page.lost_up_to
        id = f"{first}-{page.cursor}"
        body = f'{{"events": [{", ".join(page.texts)}]}}'
        for attempt in range(1, self._service.settings.webhook_attempts + 1):
            self.state.attempts = attempt
            answer = await self._post(id, body)
            if answer.is_taken:
                await self._acknowledge(page)
                break
            if answer.is_gone or attempt == self._service.settings.webhook_attempts:
                await self._park(page, str(answer), attempt)
                break
            await self._pause(attempt, answer)
        self.state.attempts = 0

    async def _post(self, id: str, body: str) -> Answer:
        now = self._pace.now()
        content = body.encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "nearcast",
            **signed_headers(self._webhook.secret, id, int(now), content),
        }
        self.state.last_attempt, self.state.next_attempt = now, None
        answer = await self._sender.post(headers, content)
        self.state.last_error = None if answer.is_taken else str(answer)
        return answer

    async def _pause(self, attempts: int, answer: Answer) -> None:
        wanted = answer.retry_after
        least = None if wanted is None else self._pace.seconds_of(wanted)
        seconds = self._pace.pause(attempts, least)
        self.state.next_attempt = self._pace.now() + seconds
        await self._pace.sleep(seconds)
        self.state.next_attempt = None

    async def _acknowledge(self, page: Page) -> None:
        await self._hub.write(
            self._service.deliveries.acknowledge,
            self._webhook.subscriber,
            page.cursor,
            Counter(event.subscription for event in page.events),
            self._webhook.name,
        )

    async def _park(self, page: Page, reason: str, attempts: int) -> None:
        """Put the page aside, what it tells of a gap too, and go on behind it."""
        bodies = [(event.sequence, event.subscription, event.text) for event in page.events]
        if page.lost_up_to is not None and page.gap is not None:
            bodies.insert(0, (page.lost_up_to, "", page.gap))
        subscriber, name, now = self._webhook.subscriber, self._webhook.name, self._pace.now()
        letters = [
            DeadLetter(subscriber, name, number, subscription, text, reason, attempts, now)
            for number, subscription, text in bodies
        ]
        await self._hub.write(self._service.deliveries.park, letters)
        logger.warning(
            "webhook %s of %s: %d events parked after %d attempts: %s",
            name,
            subscriber,
            len(letters),
            attempts,
            reason,
        )

    async def _redeliver(self) -> bool:
        """Post dead letters that were asked for, once.  Might there be more?"""
        letters = await self._hub.read(self._wanted_letters)
        if not letters:
            return False
        numbers = ",".join(str(letter.sequence) for letter in letters)
        id = f"again-{hashlib.sha256(numbers.encode()).hexdigest()[:16]}"
        bodies = ", ".join(letter.body for letter in letters)
        answer = await self._post(id, f'{{"redelivered": true, "events": [{bodies}]}}')
        await self._hub.write(self._settle, letters, answer)
        return True

    def _wanted_letters(self) -> list[DeadLetter]:
        who = self._webhook.subscriber, self._webhook.name
        found = self._service.deliveries.dead_letters(*who, limit=MOST_EVENTS, wanted=True)
        size, count = 0, 0
        while count < len(found) and (count == 0 or size < LARGEST_PAGE):
            size += len(found[count].body)
            count += 1
        return found[:count]

    def _settle(self, letters: list[DeadLetter], answer: Answer) -> None:
        deliveries = self._service.deliveries
        if answer.is_taken:
            for letter in letters:
                deliveries.redelivered(letter)
            return
        deliveries.park(
            [
                replace(
                    letter,
                    reason=str(answer),
                    attempts=letter.attempts + 1,
                    parked=self._pace.now(),
                    wanted=0,
                )
                for letter in letters
            ]
        )
