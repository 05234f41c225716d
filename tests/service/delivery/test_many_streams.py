"""A thousand streams that are quiet, and one that is slow."""

import asyncio
import re
import resource
import socket

from nearcast.service.delivery import hub
from tests.service.delivery.web import SAFETY_SECONDS, wait_until

STREAMS = 1_000


def request(web, secret):
    return (
        f"GET /v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\n"
        f"Authorization: Bearer {secret}\r\n\r\n"
    ).encode()


def test_a_thousand_idle_streams(web):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * STREAMS)), hard))
    clients = [web.client(f"subscriber-{number}") for number in range(10)]

    async def open_stream(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
        writer.write(request(web, clients[number % 10].secret))
        await reader.readuntil(b"retry: 1000\n\n")
        return reader, writer

    async def main():
        streams = []
        for number in range(0, STREAMS, 50):
            opening = [open_stream(each) for each in range(number, number + 50)]
            streams += await asyncio.gather(*opening)
        await asyncio.to_thread(wait_until, lambda: web.hub.streams == STREAMS)
        answer = await asyncio.to_thread(clients[0].get, "/v1/events")
        assert answer.status_code == 200
        await asyncio.to_thread(web.pipeline.match, "subscriber-3", "a")
        woken = [reader for number, (reader, _) in enumerate(streams) if number % 10 == 3]
        await asyncio.gather(*(reader.readuntil(b"id: 1\n") for reader in woken))
        for _, writer in streams:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for _, writer in streams))
        await asyncio.to_thread(wait_until, lambda: web.hub.streams == 0)

    asyncio.run(asyncio.wait_for(main(), 2 * SAFETY_SECONDS))
    assert web.hub._bells == {}


def test_a_slow_reader_takes_no_memory_and_delays_nobody(web, monkeypatch):
    """What it does not take is not even read for it."""
    furthest = {}

    def noted(service, subscriber, after, *rest):
        page = read_page(service, subscriber, after, *rest)
        furthest[subscriber] = page.cursor
        return page

    read_page = hub.read_page
    monkeypatch.setattr(hub, "read_page", noted)
    slow, quick = web.client("slow"), web.client("quick")
    offsets = web.pipeline.publish(*(f"{number} {'x' * 8_000}" for number in range(4_000)))
    pairs = [(f"{who}/cafe", each) for each in offsets for who in ("slow", "quick")]
    last = web.pipeline.commit(pairs)[-1]
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        connection.settimeout(SAFETY_SECONDS)
        connection.connect(("127.0.0.1", web.port))
        connection.sendall(request(web, slow.secret))
        with quick.stream("GET", "/v1/events/stream") as answer:
            found = 0
            for line in answer.iter_lines():
                found += line.startswith("id: ")
                if found == len(offsets):
                    break
        assert furthest["quick"] == last
        assert 0 < furthest["slow"] < last / 2
        received = bytearray()
        while f"id: {last - 1}\n".encode() not in received[-20_000:]:
            received += connection.recv(1_000_000)
    ids = [int(number) for number in re.findall(rb"\nid: (\d+)\n", received)]
    assert ids == list(range(1, last, 2))
