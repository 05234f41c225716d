"""The sampler shows some of many messages, and counts all of them."""

import pytest

from nearcast.model import Box, Message, Point
from nearcast.service.page.sampler import DOTS_A_TICK, READ_A_TICK, Sampler
from nearcast.service.page.visit import recent_corners
from nearcast.service.service import Service
from nearcast.service.settings import Settings


@pytest.fixture
def service(tmp_path):
    service = Service(Settings(data=str(tmp_path)))
    yield service
    service.stop()


def messages(count, first=0):
    return [Message(f"m{i}", text=f"word {i}", at=Point(1, 2)) for i in range(first, first + count)]


@pytest.mark.parametrize("count", [0, 1, DOTS_A_TICK, DOTS_A_TICK + 1, READ_A_TICK + 50])
def test_at_most_so_many_dots_and_each_message_once(service, count):
    sampler = Sampler(service)
    service.messages.publish(messages(10))  # before anybody looks
    sampler._begin()
    service.messages.publish(messages(count, first=10))
    tick = sampler._read()
    assert len(tick.dots) == min(count, DOTS_A_TICK)
    assert len({text for _, _, text in tick.dots}) == len(tick.dots)
    assert (tick.history[-1].message_rate > 0) == (count > 0)
    assert sampler._read().dots == []


def test_the_lag_is_what_was_accepted_and_is_not_processed(service):
    sampler = Sampler(service)
    sampler._begin()
    assert sampler._read().history[-1].lag is None
    service.pipeline.status.progress["offset"] = 0
    service.messages.publish(messages(3))
    assert sampler._read().history[-1].lag == 3


def test_the_first_view_is_where_messages_are(service):
    assert recent_corners(service) is None
    far = [Message("far", text="far", at=Point(-100, -50))]
    near = [
        Message(f"m{i}", text="near", at=Box(10 + i / 100, 50, 10 + i / 100, 51))
        for i in range(100)
    ]
    service.messages.publish(far + near)
    [(south, west), (north, east)] = recent_corners(service)
    assert 10 <= west < east <= 11
    assert south == north == 50.5
