"""`Client`: what the demo says to the service, over HTTP, as anybody could."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from nearcast.demo.event_stream import EventStream
from nearcast.demo.failure import DemoFailed
from nearcast.model import Message
from nearcast.pipeline.log.rows import AnySubscription
from nearcast.service.documents import message_document, subscription_document

SECONDS_FOR_AN_ANSWER = 30.0


class Refused(DemoFailed):
    """The service said no; the text is its reason."""


class Client:
    """Speaks for one token.  Any thread, because each request has a connection of its own.

    - `address`: such as `http://127.0.0.1:8080`
    """

    def __init__(self, address: str, token: str) -> None:
        self._server = urlsplit(address).netloc
        self._headers = {"Authorization": f"Bearer {token}"}

    def subscribe(self, subscriptions: Iterable[AnySubscription]) -> None:
        """Register or replace them, all or none."""
        lines = (json.dumps(subscription_document(each)) for each in subscriptions)
        self._ask("POST", "/v1/subscriptions", "\n".join(lines))

    def move(self, subscriptions: Iterable[AnySubscription]) -> None:
        """Say where they are now."""
        lines = []
        for each in subscriptions:
            document = subscription_document(each)
            about = document["properties"]
            document["properties"] = {"radius": about["radius"]} if "radius" in about else {}
            lines.append(json.dumps(document))
        self._ask("POST", "/v1/positions", "\n".join(lines))

    def publish(self, messages: Iterable[Message], now: float) -> int:
        """Publish them as of `now`.  How many were accepted?"""
        lines = []
        for message in messages:
            document = message_document(message)
            document["properties"]["time"] = now
            lines.append(json.dumps(document))
        answer = self._ask("POST", "/v1/messages/bulk", "\n".join(lines))
        accepted: int = answer["accepted"]
        return accepted

    def acknowledge(self, id: int) -> None:
        """All events up to this one have arrived."""
        self._ask("POST", "/v1/events/ack", json.dumps({"id": id}))

    def create_webhook(self, name: str, url: str) -> tuple[str, int]:
        """Have events posted to `url`: the secret that signs them, and the id they come behind.

        The secret is told on creation alone.
        """
        self.remove_webhook(name)  # of an earlier run
        answer = self._ask("PUT", f"/v1/webhooks/{name}", json.dumps({"url": url}))
        return answer["secret"], answer["cursor"]

    def remove_webhook(self, name: str) -> None:
        """Have nothing posted any more, if anything was."""
        self._ask("DELETE", f"/v1/webhooks/{name}", accept_missing=True)

    def stream(self, after: int) -> EventStream:
        """Events as they come, behind the one of this id."""
        headers = {**self._headers, "Last-Event-ID": str(after)}
        return EventStream(self._server, "/v1/events/stream", headers)

    def _ask(
        self, method: str, path: str, body: str | None = None, *, accept_missing: bool = False
    ) -> Any:
        with closing(HTTPConnection(self._server, timeout=SECONDS_FOR_AN_ANSWER)) as connection:
            kind = {} if body is None else {"Content-Type": _kind_of(path)}
            encoded = None if body is None else body.encode()
            connection.request(method, path, encoded, {**self._headers, **kind})
            response = connection.getresponse()
            text = response.read()
        if response.status == 404 and accept_missing:
            return None
        if response.status >= 300:
            raise Refused(f"{method} {path}: {response.status}: {text.decode(errors='replace')}")
        return json.loads(text) if text else None


def _kind_of(path: str) -> str:
    lines = path in ("/v1/subscriptions", "/v1/messages/bulk", "/v1/positions")
    return "application/x-ndjson" if lines else "application/json"
