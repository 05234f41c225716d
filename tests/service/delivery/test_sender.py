import asyncio
import ssl
from contextlib import suppress

import pytest

from nearcast.service.delivery.addresses import GuardedNetwork, look_up
from nearcast.service.delivery.pace import Pace
from nearcast.service.delivery.sender import Sender

TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"


async def wait_for_ever(reader, writer):
    await reader.read()


async def answer_for_ever(reader, writer):
    await reader.readuntil(b"{}")
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
        await writer.drain()


async def answer_slowly(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nSlow: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


def saying(words):
    async def say(reader, writer):
        await reader.readuntil(b"{}")
        writer.write(words)
        await writer.drain()

    return say


async def answer_all(reader, writer):
    while await reader.readuntil(b"{}"):
        writer.write(TAKEN)


def posts(handle, count=1, seconds=60.0):
    """What came of some posts to a receiver, and how many connections it saw."""
    seen = []

    async def serve(reader, writer):
        seen.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await handle(reader, writer)
        writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        network = GuardedNetwork(look_up, private_addresses=True)
        sender = Sender(url, seconds, network, ssl.create_default_context())
        answers = [await sender.post({}, b"{}") for _ in range(count)]
        await sender.close()
        server.close()
        for writer in seen:
            with suppress(ConnectionError):
                await writer.wait_closed()
        return answers

    return asyncio.run(main()), len(seen)


def test_a_connection_is_used_again():
    answers, connections = posts(answer_all, 3)
    assert all(answer.is_taken for answer in answers)
    assert connections == 1


def test_a_connection_that_was_closed_is_made_anew():
    words = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    answers, connections = posts(saying(words), 3)
    assert all(answer.is_taken for answer in answers)
    assert connections == 3


def test_an_answer_without_end_is_not_read():
    [answer], _ = posts(answer_for_ever)
    assert answer.is_taken


@pytest.mark.parametrize("handle", [wait_for_ever, answer_slowly])
def test_an_answer_has_its_time(handle):
    [answer], _ = posts(handle, seconds=0.1)
    assert (answer.status, str(answer)) == (None, "no answer within 0.1 s")


@pytest.mark.parametrize(
    "words",
    [b"nonsense\r\n\r\n", b"", b"HTTP/1.1 20", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000],
)
def test_nonsense_is_not_an_exception(words):
    [answer], _ = posts(saying(words))
    assert not answer.is_taken
    assert "ProtocolError" in answer.problem or "ReadError" in answer.problem


def test_the_status_tells():
    answers = [
        posts(saying(f"HTTP/1.1 {code} X\r\nRetry-After: 7\r\n\r\n".encode()))[0][0]
        for code in (302, 410, 503)
    ]
    assert [str(answer) for answer in answers] == ["HTTP 302", "HTTP 410", "HTTP 503"]
    assert not any(answer.is_taken for answer in answers)
    assert [answer.is_gone for answer in answers] == [False, True, False]
    assert answers[0].retry_after == "7"


def test_pauses_grow_up_to_a_limit_and_are_spread():
    longest = [Pace(chance=lambda: 1.0).pause(attempts) for attempts in (1, 2, 3, 9, 10, 1000)]
    assert longest == [1, 2, 4, 256, 300, 300]
    assert Pace(chance=lambda: 0.0).pause(5) == 0
    assert Pace(chance=lambda: 0.0).pause(5, retry_after=1e9) == 300
    assert Pace(chance=lambda: 1.0).pause(5, retry_after=2) == 16
    assert len({Pace().pause(5) for _ in range(10)}) > 1


@pytest.mark.parametrize("words", ["", "soon", "-1", "1.5", "٣", "Thu, 99 Foo 1970"])
def test_a_retry_after_that_says_nothing(words):
    assert Pace().seconds_of(words) is None


def test_a_retry_after_in_the_past_is_now():
    assert Pace().seconds_of("Thu, 01 Jan 1970 00:00:07 GMT") == 0
    assert Pace().seconds_of("120") == 120
