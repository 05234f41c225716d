"""Which addresses may a webhook reach?  Those of the internet, not those of the house.

A name is looked up when a connection is made, every address found is judged, and one that passed
is connected to: a name that points elsewhere a moment later gains nothing. TLS still verifies the
name.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

import httpcore
import httpx

Resolver = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a name, for a port."""

LONGEST_URL = 2_000
MOST_ADDRESSES = 4
"""Of a name are tried in turn."""

# Python's own judgement differs between its releases, so what matters is said here.
_UNICAST = IPv6Network("2000::/3")
_TRANSLATED = IPv6Network("64:ff9b::/96")  # NAT64: the last 32 bits are an IPv4 address
_REFUSED = [
    ip_network(each)
    for each in (
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # relays from IPv6
        "2001::/23",  # protocol assignments, Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address inside
        "3fff::/20",  # documentation
    )
]


class RefusedAddress(httpcore.ConnectError):
    """A webhook points to where it may not go."""


def is_public(address: str) -> bool:
    """May anybody's webhook reach it?

    >>> [is_public(each) for each in ("8.8.8.8", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    found = ip_address(address)
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped
        if inner is None and found in _TRANSLATED:
            inner = IPv4Address(int(found) & 0xFFFF_FFFF)
        if inner is None:
            return found in _UNICAST and not _is_refused(found)
        found = inner
    return found.is_global and not found.is_multicast and not _is_refused(found)


def checked_url(url: str, *, private_addresses: bool) -> str:
    """The address of a webhook, or a ValueError that says what is wrong with it.

    >>> checked_url("http://127.0.0.1/hook", private_addresses=False)
    Traceback (most recent call last):
    ValueError: webhook url: 127.0.0.1 is a private or local address; give a public one
    """
    if len(url) > LONGEST_URL:
        raise ValueError(f"webhook url has {len(url):,} letters; give at most {LONGEST_URL:,}")
    if any(letter.isspace() for letter in url):
        raise ValueError(f"webhook url {url!r} has a space; give https://host/path")
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise ValueError(f"webhook url {url!r}: {error}; give https://host/path") from None
    if parsed.scheme not in ("http", "https") or not parsed.raw_host:
        raise ValueError(f"webhook url {url!r} is not one of http or https; give https://host/path")
    if parsed.userinfo:
        raise ValueError("webhook url has a user or a password; leave it out, requests are signed")
    if parsed.port is not None and not 1 <= parsed.port <= 65_535:
        raise ValueError(f"webhook url: port {parsed.port} is outside [1, 65535]; give another")
    if not private_addresses and _is_literal(parsed.host) and not is_public(parsed.host):
        raise ValueError(
            f"webhook url: {parsed.host} is a private or local address; give a public one"
        )
    return url


async def look_up(host: str, port: int) -> list[str]:
    """By the system, in a thread of its own: one that hangs takes no place from others."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        except (OSError, UnicodeError):
            addresses = []
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_answer, answer, addresses)

    threading.Thread(target=ask, name="look-up", daemon=True).start()
    return await answer


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were judged, never to a name."""

    def __init__(self, resolve: Resolver, *, private_addresses: bool) -> None:
        self._resolve = resolve
        self._private_addresses = private_addresses
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Try the addresses of a host in turn."""
        found = [host] if _is_literal(host) else await self._resolve(host, port)
        if not found:
            raise httpcore.ConnectError(f"the name {host} is not known")
        allowed = [each for each in found if self._private_addresses or is_public(each)]
        if not allowed:
            # The address itself is not told: names of the house are nobody's business.
            raise RefusedAddress(f"{host} is at a private or local address")
        addresses = allowed[:MOST_ADDRESSES]
        share = None if timeout is None else timeout / len(addresses)
        for address in addresses[:-1]:
            try:
                return await self._network.connect_tcp(address, port, share)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.connect_tcp(addresses[-1], port, share)


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_refused(address: IPv4Address | IPv6Address) -> bool:
    return any(address in each for each in _REFUSED)


def _answer(waiting: asyncio.Future[list[str]], addresses: list[str]) -> None:
    if not waiting.done():
        waiting.set_result(addresses)
