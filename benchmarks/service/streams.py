"""Clients that cost next to nothing, so that the service is what is measured."""

import asyncio
import re
import time
from collections.abc import Callable
from urllib.parse import urlsplit

_SENT = re.compile(rb'"id": "(\d+)-')


class EventStream:
    """A server-sent event stream, read off the socket.

    A message's id begins with the nanoseconds at which it was sent; `on_event(now, sent)` is told
    both, by the same clock.
    """

    def __init__(self, address: str, token: str, on_event: Callable[[int, int], None]) -> None:
        self._address = urlsplit(address)
        self._token = token
        self._on_event = on_event
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> None:
        """Connect and wait for the head of the answer."""
        host, port = self._address.hostname, self._address.port
        reader, self._writer = await asyncio.open_connection(host, port, limit=2**20)
        request = (
            f"GET /v1/events/stream HTTP/1.1\r\nHost: {host}\r\n"
            f"Authorization: Bearer {self._token}\r\nAccept: text/event-stream\r\n\r\n"
        )
        self._writer.write(request.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.splitlines()[0]:
            raise ConnectionError(head.splitlines()[0].decode())
        self._reader = reader

    async def read(self) -> None:
        """Until the service or the caller ends it."""
        while line := await self._reader.readline():
            if line.startswith(b"data:"):
                found = _SENT.search(line)
                if found:
                    self._on_event(time.time_ns(), int(found[1]))

    def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()


class Receiver:
    """A webhook receiver on a free port: it hangs, or answers at once."""

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs
        self._never = asyncio.Event()
        self.posts = 0
        self.url = ""

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/"

    def stop(self) -> None:
        """Listen no more."""
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                found = re.search(rb"content-length: (\d+)", head.lower())
                await reader.readexactly(int(found[1]) if found else 0)
                self.posts += 1
                if self._hangs:
                    await self._never.wait()
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # hung up, by either side
        finally:
            writer.close()
