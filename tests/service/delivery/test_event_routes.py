import json

import httpx

from nearcast.service.api import followers
from tests.service.delivery.web import wait_until


def next_event(lines):
    """The next server-sent event as a dict; the comments on the way are left out."""
    fields = {}
    for line in lines:
        if not line and fields.keys() - {"retry"}:
            return fields
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
    return None


def streamed_ids(client, count, **more):
    with client.stream("GET", "/v1/events/stream", **more) as answer:
        assert answer.status_code == 200, answer.read()
        lines = answer.iter_lines()
        return [int(next_event(lines)["id"]) for _ in range(count)]


# ---------------------------------------------------------------- polling


def test_polling_goes_on_by_the_cursor(web):
    ann = web.client("ann")
    web.pipeline.match("ann", *"abc")
    first = ann.get("/v1/events", params={"limit": 2}).json()
    assert [event["id"] for event in first["events"]] == [1, 2]
    assert (first["gap"], first["cursor"]) == (None, 2)
    second = ann.get("/v1/events", params={"after": first["cursor"]}).json()
    assert [event["message"]["properties"]["text"] for event in second["events"]] == ["c"]
    assert ann.get("/v1/events", params={"after": 3}).json() == {
        "events": [],
        "gap": None,
        "cursor": 3,
    }


def test_polling_begins_behind_what_was_acknowledged(web):
    ann = web.client("ann")
    web.pipeline.match("ann", *"abc")
    assert ann.post("/v1/events/ack", json={"id": 2}).json() == {"cursor": 2}
    assert ann.post("/v1/events/ack", json={"id": 1}).json() == {"cursor": 2}
    assert [event["id"] for event in ann.get("/v1/events").json()["events"]] == [3]
    assert web.service.deliveries.counts("ann", "cafe") == (2, 0)


def test_polling_tells_of_a_gap(web):
    ann = web.client("ann")
    web.pipeline.match("ann", *"abc")
    web.pipeline.drop_all_but(1)
    found = ann.get("/v1/events").json()
    assert found["gap"] == {"kind": "gap", "after": 0, "up_to": 2}
    assert [event["id"] for event in found["events"]] == [3]


def test_a_subscriber_sees_only_its_own(web):
    bob = web.client("bob")
    web.pipeline.match("ann", "secret")
    web.pipeline.match("bob", "mine")
    assert [event["id"] for event in bob.get("/v1/events").json()["events"]] == [2]
    assert streamed_ids(bob, 1) == [2]


def test_an_event_to_come_cannot_be_named(web):
    ann = web.client("ann")
    web.pipeline.match("ann", "a")
    answers = [
        ann.post("/v1/events/ack", json={"id": 2}),
        ann.get("/v1/events", params={"after": 2}),
        ann.get("/v1/events", params={"after": 10**30}),
        ann.get("/v1/events/stream", params={"after": 2}),
        ann.get("/v1/events/stream", headers={"Last-Event-ID": "2"}),
    ]
    assert [answer.status_code for answer in answers] == [400] * 5
    assert answers[0].json() == {
        "error": "event id 2 is not one of 0 to 1; give the id of an event received"
    }
    for body in ({"id": -1}, {"id": "x"}, {"id": True}, {"id": 2**70}, {}):
        assert ann.post("/v1/events/ack", json=body).status_code == 422
    assert ann.get("/v1/events", params={"limit": 0}).status_code == 422


# ---------------------------------------------------------------- server-sent events


def test_a_stream_brings_what_was_and_what_comes(web):
    ann = web.client("ann")
    web.pipeline.match("ann", "a")
    with ann.stream("GET", "/v1/events/stream") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        lines = answer.iter_lines()
        first = next_event(lines)
        assert first["retry"] == "1000"
        assert json.loads(first["data"])["id"] == int(first["id"]) == 1
        web.pipeline.match("ann", "b")
        assert next_event(lines)["id"] == "2"
        assert web.hub.streams == 1
    wait_until(lambda: web.hub.streams == 0)


def test_a_stream_is_resumed_behind_the_last_event(web):
    ann = web.client("ann")
    web.pipeline.match("ann", *"abcde")
    assert streamed_ids(ann, 3) == [1, 2, 3]
    assert web.service.deliveries.cursor("ann") == 0  # sent is not arrived
    assert streamed_ids(ann, 3, headers={"Last-Event-ID": "2"}) == [3, 4, 5]
    assert web.service.deliveries.cursor("ann") == 2
    assert streamed_ids(ann, 1, params={"after": 4}) == [5]
    assert web.service.deliveries.cursor("ann") == 2
    assert streamed_ids(ann, 1) == [3]


def test_a_stream_tells_of_a_gap(web):
    ann = web.client("ann")
    web.pipeline.match("ann", *"abcd")
    web.pipeline.drop_all_but(1)
    with ann.stream("GET", "/v1/events/stream", headers={"Last-Event-ID": "1"}) as answer:
        lines = answer.iter_lines()
        gap = next_event(lines)
        assert (gap["event"], gap["id"]) == ("gap", "3")
        assert json.loads(gap["data"]) == {"kind": "gap", "after": 1, "up_to": 3}
        assert next_event(lines)["id"] == "4"


def test_a_quiet_stream_has_a_heartbeat_and_ends_when_its_token_is_revoked(web, monkeypatch):
    monkeypatch.setattr(followers, "HEARTBEAT_SECONDS", 0.01)
    ann = web.client("ann")
    with ann.stream("GET", "/v1/events/stream") as answer:
        lines = answer.iter_lines()
        assert ": still here" in lines
        web.service.tokens.revoke(ann.token.id)
        assert next_event(lines) is None
    assert ann.get("/v1/events").status_code == 401


def test_a_stream_ends_when_the_service_stops(web):
    ann = web.client("ann")
    web.pipeline.match("ann", "a")
    with ann.stream("GET", "/v1/events/stream") as answer:
        lines = answer.iter_lines()
        next_event(lines)
        web.stop()
        assert next_event(lines) is None


def test_nobody_reads_without_a_token(web):
    with httpx.Client(base_url=web.url, trust_env=False) as nobody:
        answers = [
            nobody.get("/v1/events"),
            nobody.get("/v1/events/stream"),
            nobody.post("/v1/events/ack", json={"id": 0}),
        ]
    assert [answer.status_code for answer in answers] == [401] * 3
