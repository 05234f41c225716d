import base64
import hashlib
import hmac
import json
import queue

import pytest

from nearcast.service.delivery.pages import MOST_EVENTS
from tests.service.delivery.web import (
    REFUSAL,
    Web,
    impatient,
    letters,
    put,
    status,
    wait_until,
)


def verify(secret, headers, body):
    """As a receiver would, by the words of the specification alone."""
    assert secret.startswith("whsec_")
    key = base64.b64decode(secret[len("whsec_") :], validate=True)
    assert 24 <= len(key) <= 64
    signed = f"{headers['Webhook-Id']}.{headers['Webhook-Timestamp']}.{body.decode()}"
    expected = base64.b64encode(hmac.new(key, signed.encode(), hashlib.sha256).digest()).decode()
    versions = [each.split(",") for each in headers["Webhook-Signature"].split(" ")]
    return any(name == "v1" and hmac.compare_digest(given, expected) for name, given in versions)


def test_events_are_posted_in_order_and_signed(web, make_receiver):
    ann, receiver = web.client("ann"), make_receiver()
    web.pipeline.match("ann", "before it was asked for")
    made = put(ann, receiver)
    web.pipeline.match("ann", "Größe ☕", "b")
    path, headers, body = receiver.requests.get(timeout=60)
    headers = {name.title(): value for name, value in headers.items()}
    assert path == "/hook"
    assert verify(made["secret"], headers, body)
    assert not verify(made["secret"], headers, body + b" ")
    assert headers["Content-Type"] == "application/json"
    assert headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert headers["Webhook-Id"] == "2-3"
    words = json.loads(body)
    assert words.keys() == {"events"}
    assert [event["id"] for event in words["events"]] == [2, 3]
    assert words["events"][0]["message"]["properties"]["text"] == "Größe ☕"
    wait_until(lambda: status(ann)["cursor"] == 3)
    assert web.service.deliveries.counts("ann", "cafe") == (2, 0)
    assert web.service.deliveries.cursor("ann") == 0  # the stream is a reader of its own


def test_many_events_come_in_batches_in_order(web, make_receiver):
    ann, receiver = web.client("ann"), make_receiver()
    put(ann, receiver)
    count = 2 * MOST_EVENTS + 50
    web.pipeline.match("ann", *map(str, range(count)))
    sizes, found = [], []
    while len(found) < count:
        events = receiver.next()[1]["events"]
        sizes.append(len(events))
        found += [event["id"] for event in events]
    assert found == list(range(1, count + 1))
    assert max(sizes) <= MOST_EVENTS


def test_what_is_refused_comes_again_the_same(hasty, make_receiver):
    ann, receiver = hasty.client("ann"), make_receiver(REFUSAL, (302, {"Location": "/other"}))
    made = put(ann, receiver)
    hasty.pipeline.match("ann", *"ab")
    tries = [receiver.requests.get(timeout=60) for _ in range(3)]
    assert len({(path, body) for path, _, body in tries}) == 1  # a redirect is not followed
    assert len({headers["webhook-id"] for _, headers, _ in tries}) == 1
    for _, headers, body in tries:
        assert verify(made["secret"], {name.title(): v for name, v in headers.items()}, body)
    wait_until(lambda: status(ann)["cursor"] == 2)
    assert hasty.pauses == [1.0, 2.0]
    assert letters(ann) == []
    assert status(ann)["last_error"] is None


def test_a_receiver_may_ask_for_a_pause(hasty, make_receiver):
    receiver = make_receiver((503, {"Retry-After": "40"}), (429, {"Retry-After": "9999999"}))
    put(hasty.client("ann"), receiver)
    hasty.pipeline.match("ann", "a")
    for _ in range(3):
        receiver.next()
    assert hasty.pauses == [40.0, 300.0]


def test_a_hanging_receiver_delays_nobody_else(web, make_receiver):
    ann, bob = web.client("ann"), web.client("bob")
    hanging, well = make_receiver(), make_receiver()
    hanging.hangs = True
    put(ann, hanging, "hanging")
    put(ann, well, "well")
    put(bob, hanging, "hanging")
    hers, his = make_receiver(), make_receiver()
    put(bob, his, "well")
    put(bob, hers, "another")
    web.pipeline.match("ann", "a")
    web.pipeline.match("bob", "b")
    hanging.next()
    hanging.next()
    for number in range(20):
        web.pipeline.match("ann", f"a{number}")
        web.pipeline.match("bob", f"b{number}")
    assert len(well.ids(21)) == len(his.ids(21)) == len(hers.ids(21)) == 21
    assert status(ann, "hanging")["cursor"] == 0
    assert status(ann, "hanging")["pending"] == 21
    assert hanging.requests.empty()  # one in flight, no more


def test_who_does_not_answer_in_time_is_tried_again(tmp_path, make_receiver):
    pace, _ = impatient()
    with Web(tmp_path / "data", pace=pace, webhook_seconds=0.2, webhook_attempts=2) as web:
        ann, receiver = web.client("ann"), make_receiver()
        receiver.hangs = True
        put(ann, receiver)
        web.pipeline.match("ann", "a")
        [letter] = wait_until(lambda: letters(ann))
        assert letter["reason"] == "no answer within 0.2 s"


def test_a_receiver_that_is_not_there_is_told_of(web):
    ann = web.client("ann")
    # Nothing listens at port 1.
    ann.put("/v1/webhooks/hook", json={"url": "http://127.0.0.1:1/"})
    web.pipeline.match("ann", "a")
    found = wait_until(lambda: (now := status(ann))["next_attempt"] and now)
    assert "ConnectError" in found["last_error"]
    assert (found["pending"], found["cursor"]) == (1, 0)
    assert found["attempts"] >= 1
    assert found["oldest_undelivered"] <= found["last_attempt"] <= found["next_attempt"]


def test_another_address_counts_at_once(web, make_receiver):
    ann, hanging, well = web.client("ann"), make_receiver(), make_receiver()
    hanging.hangs = True
    put(ann, hanging)
    web.pipeline.match("ann", "a")
    hanging.next()
    changed = put(ann, well)
    assert "secret" not in changed
    assert changed["url"] == well.url
    assert well.ids(1) == [1]


def test_a_webhook_that_is_gone_gets_nothing(web, make_receiver):
    ann, receiver = web.client("ann"), make_receiver((410, {}))
    put(ann, receiver)
    put(ann, other := make_receiver(), "other")
    web.pipeline.match("ann", "a")
    receiver.next()
    wait_until(lambda: letters(ann))
    assert ann.delete("/v1/webhooks/hook").status_code == 204
    assert letters(ann) == []
    web.pipeline.match("ann", "b")
    assert other.ids(2) == [1, 2]
    with pytest.raises(queue.Empty):
        receiver.requests.get_nowait()
    assert [each["name"] for each in ann.get("/v1/webhooks").json()["webhooks"]] == ["other"]
    for answer in (
        ann.delete("/v1/webhooks/hook"),
        ann.get("/v1/webhooks/hook"),
        ann.post("/v1/webhooks/hook/redeliver", json={}),
        web.client("bob").get("/v1/webhooks/other"),
    ):
        assert answer.status_code == 404


def test_a_webhook_that_fell_behind_is_told_of_the_gap(hasty, make_receiver):
    ann, receiver = hasty.client("ann"), make_receiver()
    receiver.hangs = True
    put(ann, receiver)
    hasty.pipeline.match("ann", "a")
    receiver.next()
    hasty.pipeline.match("ann", *"bcd")
    hasty.pipeline.drop_all_but(1)
    receiver.hangs = False
    receiver.released.set()  # the first attempt fails, the second is taken
    assert [event["id"] for event in receiver.next()[1]["events"]] == [1]
    headers, words = receiver.next()
    assert words["events"][0] == {"kind": "gap", "after": 1, "up_to": 3}
    assert words["events"][1]["id"] == 4
    assert headers["webhook-id"] == "3-4"


def test_a_service_that_starts_again_goes_on(tmp_path, make_receiver):
    receiver = make_receiver()
    receiver.hangs = True
    with Web(tmp_path / "data") as web:
        ann = web.client("ann")
        put(ann, receiver)
        web.pipeline.match("ann", *"ab")
        assert receiver.ids(2) == [1, 2]  # and no answer: it counts as not delivered
    receiver.hangs = False
    with Web(tmp_path / "data") as web:
        assert receiver.ids(2) == [1, 2]
        web.pipeline.match("ann", "c")
        assert receiver.ids(1) == [3]


def test_the_secret_is_told_once(web, make_receiver):
    ann, receiver = web.client("ann"), make_receiver()
    secret = put(ann, receiver)["secret"]
    for answer in (
        ann.put("/v1/webhooks/hook", json={"url": receiver.url}),
        ann.get("/v1/webhooks/hook"),
        ann.get("/v1/webhooks"),
    ):
        assert answer.status_code == 200
        assert secret not in answer.text
        assert "secret" not in answer.text


def test_bad_webhooks_are_refused(web):
    ann = web.client("ann")
    for name, url, status_code, words in (
        ("hook", "ftp://example.org/", 400, "http"),
        ("hook", "https://ann:pw@example.org/", 400, "leave it out"),
        ("hook", "not a url", 400, "give https://host/path"),
        ("Hook", "https://example.org/", 400, "not allowed"),
        ("hook", "https://example.org/" + "a" * 2000, 422, "2000"),
    ):
        answer = ann.put(f"/v1/webhooks/{name}", json={"url": url})
        assert (answer.status_code, words in answer.json()["error"]) == (status_code, True)
        assert ":pw@" not in answer.text
    assert ann.get("/v1/webhooks").json() == {"webhooks": []}


def test_a_subscriber_has_only_so_many(web, monkeypatch):
    monkeypatch.setattr("nearcast.service.api.webhook_routes.MOST_WEBHOOKS", 2)
    ann = web.client("ann")
    codes = [
        ann.put(f"/v1/webhooks/{name}", json={"url": "https://example.org/"}).status_code
        for name in ("a", "b", "c", "a")
    ]
    assert codes == [201, 201, 409, 200]
