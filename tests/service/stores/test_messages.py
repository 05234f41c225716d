import json
import threading

import pytest

from nearcast.model import Box, Message, Point
from nearcast.service.documents import message_document
from nearcast.service.stores.messages import Messages, Receipt


@pytest.fixture
def messages(folder, log):
    messages = Messages(folder, log)
    yield messages
    messages.close()


def message(id, text="tea", **more):
    return Message(id, text=text, at=Point(1, 2), time=5.0, **more)


def ids_in(log):
    return log.read(log.start, log.end)["id"].to_pylist()


def test_a_message_is_published_once_per_id(messages, log):
    assert messages.publish([message("a"), message("b"), message("a", "other")]) == [
        Receipt("a", 0, True),
        Receipt("b", 1, True),
        Receipt("a", 0, False),
    ]
    assert messages.publish([message("b"), message("c")]) == [
        Receipt("b", 1, False),
        Receipt("c", 2, True),
    ]
    assert ids_in(log) == ["a", "b", "c"]
    assert messages.publish([]) == []


def test_what_was_said_is_found_by_id_offset_and_age(messages):
    range_message = Message("r", keywords=["tea", "cake"], at=Box(170, 0, -170, 5), expires=9.0)
    messages.publish([message("a"), range_message])
    assert messages.get("a") == message_document(message("a"))
    assert messages.get("r")["bbox"] == [170, 0, -170, 5]
    assert messages.get("r")["properties"] == {"time": 0, "keywords": ["tea", "cake"], "expires": 9}
    assert messages.get("nobody") is None
    assert [json.loads(body)["id"] for _, body in messages.recent(10)] == ["r", "a"]
    assert [offset for offset, _ in messages.recent(10, before=1)] == [0]
    assert [offset for offset, _ in messages.since(1, 10)] == [1]
    assert messages.bodies([0, 99]).keys() == {0}
    assert messages.read_to == 2


def test_after_a_crash_the_log_tells_what_was_published(messages, log, folder):
    messages.publish([message("a")])
    log.publish([message("b"), Message("r", keywords=["x"], at=Box(1, 2, 3, 4))])
    messages.close()  # and the catalogue had not heard of it
    again = Messages(folder, log)
    assert again.publish([message("b"), message("c")]) == [
        Receipt("b", 1, False),
        Receipt("c", 3, True),
    ]
    assert again.get("r")["bbox"] == [1, 2, 3, 4]
    again.close()


def test_a_failure_between_log_and_catalogue_is_made_good(messages, log, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(messages, "_insert", fail)
        with pytest.raises(OSError, match="disk full"):
            messages.publish([message("a")])
    assert messages.publish([message("a")]) == [Receipt("a", 0, False)]
    assert ids_in(log) == ["a"]


def test_threads_publish_at_once(messages, log):
    receipts = {}

    def publish(number):
        receipts[number] = messages.publish([message(f"own {number}"), message("shared")])

    threads = [threading.Thread(target=publish, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ids_in(log)) == sorted(["shared", *(f"own {n}" for n in range(20))])
    assert sum(found[1].is_new for found in receipts.values()) == 1
    assert len({found[1].offset for found in receipts.values()}) == 1
    assert [messages.get(f"own {n}")["id"] for n in receipts] == [f"own {n}" for n in receipts]


def test_old_messages_are_forgotten_but_none_that_the_pipeline_has_not_read(messages, log):
    messages.publish([message(str(n)) for n in range(10)])
    messages.forget(received_before=0, most=8, processed=10)
    assert ids_in(log) == [str(n) for n in range(2, 10)]
    messages.forget(received_before=1e12, most=8, processed=5)
    assert ids_in(log) == [str(n) for n in range(5, 10)]
    assert messages.get("4") is None
    assert messages.publish([message("4")])[0].is_new  # its retention is over
    messages.forget(received_before=1e12, most=8, processed=11)
    assert ids_in(log) == []
    messages.forget(received_before=1e12, most=8, processed=11)
