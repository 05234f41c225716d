import asyncio
import sqlite3
import threading
from contextlib import aclosing

import pytest

from nearcast.service.delivery import hub
from nearcast.service.delivery.hub import Hub

SAFETY_SECONDS = 60.0


def run(scenario, service):
    """Run with a hub that has started; everything is over in time."""

    async def main():
        made = Hub(service)
        await made.start()
        try:
            await asyncio.wait_for(scenario(made), SAFETY_SECONDS)
        finally:
            await made.stop()

    asyncio.run(main())


async def settled(made, subscriber):
    while not made._bells.get(subscriber):
        await asyncio.sleep(0)


def test_only_those_with_events_are_woken(service, pipeline):
    async def scenario(made):
        with made.bell("ann") as ann, made.bell("bob") as bob:
            await asyncio.to_thread(pipeline.match, "ann", "tea")
            await ann.wait()
            assert not bob.is_set()
        assert made._bells == {}  # nobody is remembered for nothing

    run(scenario, service)


def test_who_comes_late_does_not_wait(service, pipeline):
    pipeline.match("ann", "tea")

    async def scenario(made):
        async with aclosing(made.follow("ann", 0)) as following:
            assert [event.sequence for event in (await anext(following)).events] == [1]

    run(scenario, service)


def test_a_word_that_got_lost_costs_a_moment(service, pipeline, monkeypatch):
    monkeypatch.setattr(hub, "SECONDS_BETWEEN_LOOKS", 0.01)

    async def scenario(made):
        with made.bell("ann") as ann:
            await asyncio.to_thread(pipeline.match, "ann", "tea", tell=False)
            await ann.wait()

    run(scenario, service)


def test_a_look_that_fails_is_not_the_last(service, pipeline, monkeypatch, caplog):
    look, failures = service.outbox.subscribers_since, iter([sqlite3.OperationalError("no luck")])

    def unlucky(after):
        for failure in failures:
            raise failure
        return look(after)

    monkeypatch.setattr(service.outbox, "subscribers_since", unlucky)

    async def scenario(made):
        with made.bell("ann") as ann:
            await asyncio.to_thread(pipeline.match, "ann", "tea")
            await ann.wait()

    run(scenario, service)
    assert "no luck" in caplog.text


def test_following_gives_every_event_once_in_order(service, pipeline):
    async def scenario(made):
        found = []
        writing = threading.Thread(
            target=lambda: [pipeline.match("ann", *"abc") for _ in range(100)]
        )
        writing.start()
        async with aclosing(made.follow("ann", 0)) as following:
            async for page in following:
                assert len(page.events) <= 100
                found += [event.sequence for event in page.events]
                assert made.streams == 1
                if len(found) >= 300:
                    break
        writing.join()
        assert found == list(range(1, 301))
        assert made.streams == 0

    run(scenario, service)


def test_following_waits_for_what_the_message_said(service, pipeline):
    async def scenario(made):
        pipeline.commit([("ann/cafe", 0)])
        async with aclosing(made.follow("ann", 0)) as following:
            page = asyncio.create_task(anext(following))
            await asyncio.to_thread(pipeline.publish, "late")
            assert [event.sequence for event in (await page).events] == [1]

    run(scenario, service)


def test_following_has_a_heartbeat_and_ends_with_the_hub(service):
    async def scenario(made):
        pages = []
        async for page in made.follow("ann", 0, heartbeat=0.001):
            pages.append(page)
            if len(pages) == 3:
                await made.stop()
        assert not any(pages)

    run(scenario, service)


def test_those_who_wait_are_let_go_when_the_hub_stops(service):
    async def scenario(made):
        waiting = [asyncio.create_task(anext(made.follow("ann", 0), None)) for _ in range(3)]
        await settled(made, "ann")
        await made.stop()
        assert await asyncio.gather(*waiting) == [None] * 3

    run(scenario, service)


def test_an_event_is_counted_once_however_many_acknowledge_it(service, pipeline):
    made = Hub(service)
    pipeline.match("ann", *"abcd")
    pipeline.match("ann", "e", subscription="bar")
    threads = [
        threading.Thread(target=made.acknowledge, args=("ann", number))
        for number in (2, 5, 4, 5, 3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert service.deliveries.cursor("ann") == 5
    assert service.deliveries.counts("ann", "cafe") == (4, 0)
    assert service.deliveries.counts("ann", "bar") == (1, 0)


def test_a_long_acknowledgement_keeps_no_other_subscriber_waiting(service, pipeline, monkeypatch):
    made = Hub(service)
    pipeline.match("ann", "a")
    pipeline.match("bob", "b")
    monkeypatch.setattr(hub, "hash", {"ann": 0, "bob": 1}.get, raising=False)
    count, begun, may_end = service.outbox.counts_between, threading.Event(), threading.Event()

    def slow_for_ann(subscriber, after, last):
        if subscriber == "ann":
            begun.set()
            assert may_end.wait(SAFETY_SECONDS)
        return count(subscriber, after, last)

    monkeypatch.setattr(service.outbox, "counts_between", slow_for_ann)
    slow = threading.Thread(target=made.acknowledge, args=("ann", 2))
    slow.start()
    assert begun.wait(SAFETY_SECONDS)
    made.acknowledge("bob", 2)
    assert (service.deliveries.cursor("ann"), service.deliveries.cursor("bob")) == (0, 2)
    may_end.set()
    slow.join()
    assert service.deliveries.cursor("ann") == 2


def test_who_is_cancelled_leaves_no_write_behind(service):
    async def scenario(made):
        begun, may_end, written = threading.Event(), threading.Event(), []

        def write():
            begun.set()
            assert may_end.wait(SAFETY_SECONDS)
            written.append(True)

        writing = asyncio.create_task(made.write(write))
        assert await asyncio.to_thread(begun.wait, SAFETY_SECONDS)
        writing.cancel()
        await asyncio.sleep(0)
        may_end.set()
        await asyncio.wait([writing])
        assert writing.cancelled()
        assert written == [True]

    run(scenario, service)


@pytest.mark.parametrize("number", [-1, 2, 2**80])
def test_what_does_not_exist_cannot_be_acknowledged(service, pipeline, number):
    pipeline.match("ann", "tea")
    with pytest.raises(ValueError, match=f"event id {number} is not one of 0 to 1; give the id"):
        Hub(service).acknowledge("ann", number)
