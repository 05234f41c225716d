"""`Sender`: posts to one webhook, one request at a time."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass

import httpcore
import httpx

from nearcast.service.delivery.addresses import GuardedNetwork

MOST_OF_AN_ANSWER = 4_096
"""Bytes that are read, so that the connection can be used again; nobody looks at them."""
SECONDS_IDLE = 30.0
SECONDS_TO_CLOSE = 1.0
_LONGEST_PROBLEM = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request.

    - `status`: of HTTP; None if no answer came, then `problem` says why
    - `retry_after`: the header, if there was one
    """

    status: int | None
    problem: str | None = None
    retry_after: str | None = None

    @property
    def is_taken(self) -> bool:
        """Did the receiver say that it has it?"""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """Did the receiver say that it will never take it?"""
        return self.status == 410

    def __str__(self) -> str:
        return f"HTTP {self.status}" if self.problem is None else self.problem


class Sender:
    """A connection that is kept open while it is used; redirects and proxies are not followed."""

    def __init__(
        self, url: str, seconds: float, network: GuardedNetwork, tls: ssl.SSLContext
    ) -> None:
        parsed = httpx.URL(url)
        self._host = parsed.netloc
        self._url = httpcore.URL(
            scheme=parsed.raw_scheme,
            host=parsed.raw_host,
            port=parsed.port,
            target=parsed.raw_path,
        )
        self._seconds = seconds
        self._network = network
        self._tls = tls
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def post(self, headers: dict[str, str], body: bytes) -> Answer:
        """Post, and say how it went; nothing that a receiver does is an exception here."""
        try:
            # Over all: a receiver that sends a byte now and then is late as well.
            async with asyncio.timeout(self._seconds):
                return await self._post(headers, body)
        except TimeoutError:
            problem = f"no answer within {self._seconds:g} s"
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"[:_LONGEST_PROBLEM]
        await self.close()  # a connection in an unknown state is not used again
        return Answer(None, problem)

    async def close(self) -> None:
        """Let go of the connection."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with suppress(Exception):
                async with asyncio.timeout(SECONDS_TO_CLOSE):
                    await pool.aclose()

    async def _post(self, headers: dict[str, str], body: bytes) -> Answer:
        if self._pool is None:
            self._pool = httpcore.AsyncConnectionPool(
                ssl_context=self._tls,
                max_connections=1,
                keepalive_expiry=SECONDS_IDLE,
                network_backend=self._network,
            )
        sent = [(b"Host", self._host)] + [(k.encode(), v.encode()) for k, v in headers.items()]
        timeout = dict.fromkeys(("connect", "read", "write", "pool"), self._seconds)
        async with self._pool.stream(
            "POST", self._url, headers=sent, content=body, extensions={"timeout": timeout}
        ) as response:
            read = 0
            async for part in response.aiter_stream():
                read += len(part)
                if read > MOST_OF_AN_ANSWER:
                    break
            found = {name.lower(): value for name, value in response.headers}
            retry_after = found.get(b"retry-after")
            return Answer(
                response.status,
                retry_after=None if retry_after is None else retry_after.decode("latin-1"),
            )
