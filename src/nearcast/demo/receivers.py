"""Those who receive: by a stream that they keep open, or by a webhook that is posted to."""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from nearcast.demo.client import Client
from nearcast.demo.event_stream import EventStream
from nearcast.demo.tally import Tally
from nearcast.service.delivery.signature import signed_headers

SECONDS_BEFORE_COMING_BACK = 0.5
WEBHOOK = "demo"


class Receiver(Protocol):
    """Gets the events of one subscriber.

    - `last`: the id of the newest one
    """

    subscriber: str
    last: int

    def acknowledge(self) -> None:
        """Tell the service what has arrived."""

    def close(self) -> None:
        """Receive no more."""


class StreamReceiver:
    """Follows the stream of a subscriber, and comes back to it when it breaks.

    `acknowledged` is the id of the last event that an earlier run received.
    """

    def __init__(self, subscriber: str, client: Client, tally: Tally, acknowledged: int) -> None:
        self.subscriber = subscriber
        self.last = self._acknowledged = acknowledged
        self._client = client
        self._tally = tally
        self._closing = threading.Event()
        self._stream: EventStream | None = None
        self._thread = threading.Thread(
            target=self._follow, name=f"stream {subscriber}", daemon=True
        )
        self._thread.start()

    def acknowledge(self) -> None:
        last = self.last
        if last > self._acknowledged:
            self._client.acknowledge(last)
            self._acknowledged = last

    def close(self) -> None:
        self._closing.set()
        stream = self._stream
        if stream is not None:
            stream.close()
        self._thread.join()

    def _follow(self) -> None:
        while not self._closing.is_set():
            # ValueError: what a closed file says.
            with suppress(OSError, HTTPException, ValueError), self._open() as stream:
                for event in stream:
                    self._tally.note(self.subscriber, "stream", event)
                    self.last = event["up_to"] if event["kind"] == "gap" else event["id"]
            self._closing.wait(SECONDS_BEFORE_COMING_BACK)

    @contextmanager
    def _open(self) -> Iterator[EventStream]:
        with closing(self._client.stream(self.last)) as stream:
            self._stream = stream
            if self._closing.is_set():  # `close` may have looked for the stream before
                stream.close()
            yield stream


class WebhookReceiver:
    """A small web server that the service posts to; it takes nothing that is not signed."""

    def __init__(self, subscriber: str, client: Client, tally: Tally) -> None:
        self.subscriber = subscriber
        self._client = client
        self._tally = tally
        self._secret = ""  # told in a moment; what is posted before is posted again
        self._server = _server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="webhook", daemon=True
        )
        self._thread.start()
        try:
            port = self._server.server_address[1]
            url = f"http://127.0.0.1:{port}/"
            self._secret, self.last = client.create_webhook(WEBHOOK, url)
        except BaseException:
            self._end()
            raise

    def acknowledge(self) -> None:
        pass  # the answer to each post does

    def close(self) -> None:
        with suppress(OSError, HTTPException):  # the service may be gone
            self._client.remove_webhook(WEBHOOK)
        self._end()

    def take(self, id: str, timestamp: str, signature: str, body: bytes) -> bool:
        """Events that were posted; False if they are not from the service."""
        if not timestamp.isdecimal():
            return False
        expected = signed_headers(self._secret, id, int(timestamp), body)["webhook-signature"]
        if not hmac.compare_digest(expected.encode(), signature.encode()):
            return False
        for event in json.loads(body)["events"]:
            self._tally.note(self.subscriber, "webhook", event)
            self.last = event["up_to"] if event["kind"] == "gap" else event["id"]
        return True

    def _end(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _server(receiver: WebhookReceiver) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            names = ("webhook-id", "webhook-timestamp", "webhook-signature")
            id, timestamp, signature = (self.headers.get(name, "") for name in names)
            self.send_response(204 if receiver.take(id, timestamp, signature, body) else 401)
            self.end_headers()

        def log_message(self, *words: Any) -> None:
            pass  # the terminal is for people

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)
