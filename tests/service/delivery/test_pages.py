import json

import pytest

from nearcast.service.delivery import pages
from nearcast.service.delivery.pages import read_page


def ids(page):
    return [event.sequence for event in page.events]


def test_an_event_says_what_the_message_said(service, pipeline):
    [id] = pipeline.match("ann", 'Größe "XL"\n☕', subscription='a "b"')
    page = read_page(service, "ann", 0)
    event = json.loads(page.events[0].text)
    assert event == {
        "id": id,
        "kind": "match",
        "subscription": 'a "b"',
        "time": service.outbox.events("ann", 0, 1)[0].written,
        "message": service.messages.get("m0"),
    }
    assert event["message"]["properties"]["text"] == 'Größe "XL"\n☕'
    assert (page.lost_up_to, page.gap, page.cursor, page.is_held_up) == (None, None, id, False)


def test_pages_follow_each_other(service, pipeline):
    pipeline.match("ann", *"abcde")
    pipeline.match("bob", "x")
    first = read_page(service, "ann", 0, limit=3)
    second = read_page(service, "ann", first.cursor, limit=3)
    assert (ids(first), ids(second)) == ([1, 2, 3], [4, 5])
    empty = read_page(service, "ann", second.cursor)
    assert not empty
    assert empty.cursor == 5


def test_an_event_before_its_message_is_held_up(service, pipeline):
    offsets = pipeline.publish("a", "b")
    pipeline.commit([("ann/cafe", offsets[0]), ("ann/cafe", offsets[1] + 1), ("ann/cafe", 0)])
    page = read_page(service, "ann", 0)
    assert ids(page) == [1]
    assert page.is_held_up
    waiting = read_page(service, "ann", 1)
    assert not waiting
    assert waiting.is_held_up
    pipeline.publish("c")
    assert ids(read_page(service, "ann", 1)) == [2, 3]


def test_who_fell_behind_the_retention_is_told(service, pipeline):
    pipeline.match("ann", *"abcde")
    pipeline.drop_all_but(2)
    page = read_page(service, "ann", 1)
    assert json.loads(page.gap) == {"kind": "gap", "after": 1, "up_to": 3}
    assert ids(page) == [4, 5]
    assert page.texts[0] == page.gap
    assert read_page(service, "ann", 3).gap is None


def test_what_nobody_remembers_is_a_gap(service, pipeline):
    pipeline.match("ann", *"abcd")
    service.messages.forget(received_before=0, most=2, processed=4)
    page = read_page(service, "ann", 0)
    assert (page.lost_up_to, ids(page)) == (2, [3, 4])
    service.messages.forget(received_before=2e12, most=2, processed=4)
    page = read_page(service, "ann", 0)
    assert (page.lost_up_to, ids(page), page.cursor) == (4, [], 4)


def test_a_gap_in_the_middle_begins_the_next_page(service, pipeline):
    offsets = pipeline.publish(*"abc")
    pipeline.commit([("ann/cafe", offsets[2]), ("ann/cafe", offsets[2])])
    pipeline.commit([("ann/cafe", offsets[0]), ("ann/cafe", offsets[2])])
    service.messages.forget(received_before=0, most=1, processed=3)
    first = read_page(service, "ann", 0)
    assert (first.lost_up_to, ids(first)) == (None, [1, 2])
    second = read_page(service, "ann", first.cursor)
    assert (second.lost_up_to, ids(second)) == (3, [4])


@pytest.mark.parametrize("largest", [1, 1000])
def test_a_page_is_not_too_large(service, pipeline, monkeypatch, largest):
    monkeypatch.setattr(pages, "LARGEST_PAGE", largest)
    pipeline.match("ann", *(letter * 600 for letter in "abcd"))
    page = read_page(service, "ann", 0)
    assert ids(page) == ([1] if largest == 1 else [1, 2])
    assert ids(read_page(service, "ann", page.cursor))[0] == page.cursor + 1
