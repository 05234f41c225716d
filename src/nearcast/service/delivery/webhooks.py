"""`Webhooks`: a worker for each webhook, so that none waits for another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx

from nearcast.service.delivery.addresses import GuardedNetwork, Resolver, look_up
from nearcast.service.delivery.pace import Pace
from nearcast.service.delivery.sender import Sender
from nearcast.service.delivery.webhook_worker import WebhookState, WebhookWorker
from nearcast.service.service import Service
from nearcast.service.stores.deliveries import Webhook

if TYPE_CHECKING:
    from nearcast.service.delivery.hub import Hub

MOST_PENDING_COUNTED = 10_000

_Key = tuple[str, str]  # subscriber and name


class Webhooks:
    """The webhooks of a service, at work.  It belongs to the event loop of the hub."""

    def __init__(
        self, service: Service, hub: Hub, *, resolve: Resolver = look_up, pace: Pace | None = None
    ) -> None:
        self._service = service
        self._hub = hub
        self._pace = pace or Pace()
        self._network = GuardedNetwork(
            resolve, private_addresses=service.settings.webhook_private_addresses
        )
        self._workers: dict[_Key, WebhookWorker] = {}
        self._tasks: dict[_Key, asyncio.Task[None]] = {}
        self._changing = asyncio.Lock()
        self._is_stopping = False

    async def start(self) -> None:
        """Set all to work."""
        # Once for all of them, because reading the certificates takes a while.
        self._tls = await asyncio.to_thread(httpx.create_ssl_context)
        for webhook in await asyncio.to_thread(self._service.deliveries.webhooks):
            self._begin(webhook)

    async def stop(self) -> None:
        """Stop all, without waiting for receivers."""
        self._is_stopping = True
        for key in list(self._tasks):
            self._tasks[key].cancel()
        for key in list(self._tasks):
            await self._end(key)

    async def refresh(self, subscriber: str, name: str) -> None:
        """A webhook is new or has another address: on return this is so."""
        async with self._changing:
            await self._end((subscriber, name))
            await self._begin_known(subscriber, name)

    async def remove(self, subscriber: str, name: str) -> bool:
        """Stop it, then forget it and all it left; False if there is none."""
        remove = self._service.deliveries.remove_webhook
        async with self._changing:
            await self._end((subscriber, name))  # first: it could park something afterwards
            try:
                return await self._hub.write(remove, subscriber, name)
            finally:
                await self._begin_known(subscriber, name)  # the disk may have failed

    def ask_again(self, subscriber: str, name: str) -> None:
        """There are dead letters to be delivered again."""
        worker = self._workers.get((subscriber, name))
        if worker is not None:
            worker.ask_again()

    def describe(self, webhook: Webhook) -> dict[str, Any]:
        """How a webhook is: everything but its secret.  From any thread."""
        who = webhook.subscriber, webhook.name
        worker = self._workers.get(who)
        state = WebhookState() if worker is None else worker.state
        cursor = self._service.deliveries.cursor(*who)
        pending = self._service.outbox.events(who[0], cursor, MOST_PENDING_COUNTED)
        return {
            "name": webhook.name,
            "url": webhook.url,
            "created": webhook.created,
            "cursor": cursor,
            "pending": len(pending),
            "oldest_undelivered": pending[0].written if pending else None,
            "attempts": state.attempts,
            "last_attempt": state.last_attempt,
            "last_error": state.last_error,
            "next_attempt": state.next_attempt,
        }

    async def _begin_known(self, subscriber: str, name: str) -> None:
        webhook = await self._hub.read(self._service.deliveries.webhook, subscriber, name)
        if webhook is not None and not self._is_stopping:
            self._begin(webhook)

    def _begin(self, webhook: Webhook) -> None:
        seconds = self._service.settings.webhook_seconds
        sender = Sender(webhook.url, seconds, self._network, self._tls)
        worker = WebhookWorker(self._service, self._hub, webhook, sender, self._pace)
        key = webhook.subscriber, webhook.name
        self._workers[key] = worker
        self._tasks[key] = asyncio.create_task(worker.run(), name=f"webhook {'/'.join(key)}")

    async def _end(self, key: _Key) -> None:
        task = self._tasks.pop(key, None)
        self._workers.pop(key, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
