"""A webhook is stopped before it is forgotten."""

import errno
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from tests.service.delivery.web import letters, put, wait_until


def test_a_webhook_that_is_gone_leaves_nothing_behind(web, make_receiver, monkeypatch):
    ann, receiver = web.client("ann"), make_receiver((410, {}))
    put(ann, receiver)
    park, is_parking, may_park = web.service.deliveries.park, Event(), Event()

    def slow(letters):
        is_parking.set()
        assert may_park.wait(60)
        park(letters)

    monkeypatch.setattr(web.service.deliveries, "park", slow)
    web.pipeline.match("ann", "a")
    assert is_parking.wait(60)
    with ThreadPoolExecutor() as pool:
        gone = pool.submit(ann.delete, "/v1/webhooks/hook")
        wait_until(lambda: not web.hub.webhooks._tasks)
        may_park.set()
        assert gone.result().status_code == 204
    assert letters(ann) == []
    assert web.service.deliveries.count_dead_letters() == 0
    assert web.service.deliveries.cursor("ann", "hook") == 0


def test_a_webhook_stays_when_it_cannot_be_removed(web, make_receiver, monkeypatch):
    ann, receiver = web.client("ann"), make_receiver()
    put(ann, receiver)

    def full(*key):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(web.service.deliveries, "remove_webhook", full)
    assert ann.delete("/v1/webhooks/hook").status_code == 507
    web.pipeline.match("ann", "a")
    assert receiver.ids(1) == [1]
