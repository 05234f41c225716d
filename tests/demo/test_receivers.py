import json
import threading
import time

import pytest

from nearcast.demo.client import Client
from nearcast.demo.receivers import StreamReceiver, WebhookReceiver
from nearcast.demo.tally import Tally
from nearcast.service.delivery.signature import signed_headers
from tests.demo.fake_service import SECRET, post


class Noting(Tally):
    """A tally that one can wait for."""

    def __init__(self, expected):
        super().__init__(after=0)
        self.noted = []
        self.expected = expected
        self.all_there = threading.Event()

    def note(self, subscriber, way, event):
        super().note(subscriber, way, event)
        self.noted.append((subscriber, way, event["message"]["id"]))
        if len(self.noted) == self.expected:
            self.all_there.set()


def message(id, time=1.0):
    return {"id": id, "properties": {"text": "tea", "time": time}}


def wait_for(is_so):
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def ann(service):
    service.subscriptions["ann"] = {"tea": {}}
    return Client(service.address, "secret of ann")


def test_a_stream_is_followed_and_acknowledged(service, ann):
    tally = Noting(3)
    service.publish([message("a-1")])  # before anybody listens
    receiver = StreamReceiver("ann", ann, tally, 0)
    service.publish([message("a-2"), message("a-3")])
    assert tally.all_there.wait(60)
    receiver.close()
    assert tally.noted == [("ann", "stream", f"a-{i}") for i in (1, 2, 3)]
    assert receiver.last == 3
    receiver.acknowledge()
    receiver.acknowledge()  # nothing new
    assert service.acknowledged == {"ann": 3}
    assert service.asked.count(("POST", "/v1/events/ack", "ann")) == 1


def test_a_broken_stream_goes_on_behind_the_last_event(service, ann):
    tally = Noting(2)
    receiver = StreamReceiver("ann", ann, tally, 0)
    service.publish([message("a-1")])
    wait_for(lambda: receiver.last == 1)
    receiver._stream.close()
    service.publish([message("a-2")])
    assert tally.all_there.wait(60)
    receiver.close()
    assert [id for _, _, id in tally.noted] == ["a-1", "a-2"]


def test_a_gap_is_skipped(service, ann):
    tally = Tally(after=0)
    receiver = StreamReceiver("ann", ann, tally, 0)
    with service.news:
        service._events["ann"].append({"id": 9, "kind": "gap", "after": 0, "up_to": 17})
        service.news.notify_all()
    wait_for(lambda: receiver.last == 17)
    receiver.close()
    assert tally.deliveries == 0


def test_a_webhook_takes_what_is_signed(service, ann):
    tally = Noting(2)
    receiver = WebhookReceiver("ann", ann, tally)
    url = service.webhooks["ann"]
    service.publish([message("a-1"), message("a-2")])
    assert tally.all_there.wait(60)
    assert tally.noted == [("ann", "webhook", "a-1"), ("ann", "webhook", "a-2")]
    body = json.dumps({"events": []}).encode()
    for wrong in (
        {},
        signed_headers("whsec_b3RoZXI=", "1", 7, body),
        signed_headers(SECRET, "1", 7, b"other"),
        signed_headers(SECRET, "1", 7, body) | {"webhook-timestamp": "now"},
    ):
        assert post(url, body, wrong) == 401
    assert post(url, body, signed_headers(SECRET, "1", 7, body)) == 204
    receiver.close()
    assert service.webhooks == {}
    with pytest.raises(OSError, match="refused"):
        post(url, body, {})


def test_a_webhook_that_cannot_be_registered_leaves_nothing(ann, monkeypatch):
    before = threading.active_count()
    monkeypatch.setattr(ann, "create_webhook", lambda name, url: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        WebhookReceiver("ann", ann, Tally(after=0))
    assert threading.active_count() <= before


def test_only_events_of_this_run_count():
    tally = Tally(after=7)
    tally.note("ann", "stream", {"id": 7, "kind": "match", "message": message("b-1")})
    assert (tally.deliveries, tally.median_milliseconds, tally.newest) == (0, None, None)


def test_what_enters_a_result_later_says_nothing_of_how_long_it_took():
    tally = Tally(after=0)
    entered = {"id": 1, "kind": "enter", "message": message("a-1"), "cause": None}
    for event in (entered, {"id": 2, "kind": "leave", "message_id": "a-1", "cause": None}):
        tally.note("ann", "stream", event)
    assert (tally.deliveries, tally.median_milliseconds) == (2, None)
