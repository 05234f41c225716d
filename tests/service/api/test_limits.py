"""Each limit has a clear answer."""

import asyncio
import json
from contextlib import nullcontext

import pytest
from fastapi import HTTPException

from nearcast.service.api.body_limit import BodyLimit


def test_the_body_by_its_header(api_with, feature):
    with api_with(largest_body=1000) as api:
        document = feature("m", text="x" * 1000)
        answer = api.ask("paul", "POST", "/v1/messages", json=document)
        assert answer.status_code == 413
        assert "1,000 bytes" in answer.json()["error"]


def test_the_body_that_comes_in_chunks(api_with):
    async def endless():
        nonlocal chunks
        while True:
            chunks += 1
            yield b"x" * 300

    chunks = 0
    with api_with(largest_body=1000) as api:
        answer = api.ask("paul", "POST", "/v1/messages/bulk", content=endless())
        assert answer.status_code == 413
        assert chunks == 4


def test_the_body_of_a_model(api_with):
    with api_with(largest_body=1000) as api:
        answer = api.ask("root", "POST", "/v1/tokens", content=b" " * 1001)
        assert answer.status_code == 413


SMALL_BODIES = [
    ("root", "POST", "/v1/tokens"),
    ("ann", "POST", "/v1/events/ack"),
    ("ann", "PUT", "/v1/webhooks/x"),
    ("ann", "POST", "/v1/webhooks/x/redeliver"),
]
BODIES = [
    *SMALL_BODIES,
    ("ann", "PUT", "/v1/subscriptions/x"),
    ("ann", "POST", "/v1/subscriptions"),
    ("ann", "POST", "/v1/estimate"),
    ("paul", "POST", "/v1/messages"),
    ("paul", "POST", "/v1/messages/bulk"),
]


@pytest.mark.parametrize(("who", "method", "path"), SMALL_BODIES)
def test_a_body_that_is_no_feature_is_small(shared_api, who, method, path):
    answer = shared_api.ask(who, method, path, content=b" " * 65_537)
    assert answer.status_code == 413
    assert "65,536 bytes" in answer.json()["error"]


@pytest.mark.parametrize(("who", "method", "path"), BODIES)
def test_no_body_is_read_without_the_right_token(shared_api, who, method, path):
    async def body():
        nonlocal is_read
        is_read = True
        yield b"{}"

    is_read = False
    assert shared_api.ask(None, method, path, content=body()).status_code == 401
    stranger = "paul" if who != "paul" else "ann"
    assert shared_api.ask(stranger, method, path, content=body()).status_code == 403
    assert not is_read


@pytest.mark.parametrize(("path", "is_refused"), [("/map/socket.io/", True), ("/v1/x", False)])
def test_outside_the_api_bodies_are_small(path, is_refused):
    async def reads_all(scope, receive, send):
        assert len((await receive())["body"]) == 65_537

    async def receive():
        return {"type": "http.request", "body": b" " * 65_537}

    request = {"type": "http", "path": path, "headers": []}
    with pytest.raises(HTTPException) if is_refused else nullcontext() as refusal:
        asyncio.run(BodyLimit(reads_all, largest=100_000)(request, receive, None))
    assert not is_refused or refusal.value.status_code == 413


def test_a_message(api_with, feature):
    with api_with(longest_message=1_000) as api:
        document = json.dumps(feature("long", text="x" * 1_000))
        answer = api.ask("paul", "POST", "/v1/messages", content=document)
        assert answer.status_code == 400
        assert f"{len(document):,} bytes; give at most 1,000" in answer.json()["error"]
        lines = f"{json.dumps(feature('short', text='x'))}\n{document}"
        bulk = api.ask("paul", "POST", "/v1/messages/bulk", content=lines).json()
        assert (bulk["accepted"], bulk["rejected"][0]["line"]) == (1, 2)
        assert "give at most 1,000" in bulk["rejected"][0]["reason"]


@pytest.mark.parametrize("keywords", ["a" * 21, ["a" * 10, "b" * 10]])
def test_the_expression(api_with, feature, keywords):
    with api_with(longest_expression=20) as api:
        document = feature(at=None, keywords=keywords)
        answer = api.ask("ann", "PUT", "/v1/subscriptions/one", json=document)
        assert answer.status_code == 400
        assert "21 letters; give at most 20" in answer.json()["error"]
        document = feature(at=None, keywords="a" * 20)
        assert api.ask("ann", "PUT", "/v1/subscriptions/one", json=document).status_code == 201


def test_the_polygon(api_with):
    square = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
    document = {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [square]},
        "properties": {"keywords": "tea"},
    }
    with api_with(most_polygon_points=4) as api:
        answer = api.ask("ann", "PUT", "/v1/subscriptions/one", json=document)
        assert answer.status_code == 400
        assert "5 points; give at most 4" in answer.json()["error"]


def test_the_subscriptions_of_a_subscriber(api_with, feature):
    with api_with(most_subscriptions=2) as api:
        document = feature(at=None, keywords="tea")
        for id, status in (("a", 201), ("b", 201), ("c", 409), ("b", 200)):
            answer = api.ask("ann", "PUT", f"/v1/subscriptions/{id}", json=document)
            assert answer.status_code == status
        lines = "\n".join(json.dumps({**document, "id": id}) for id in ("b", "c"))
        bulk = api.ask("ann", "POST", "/v1/subscriptions", content=lines)
        assert bulk.status_code == 409
        assert "has 2 subscriptions, 1 more would exceed 2" in bulk.json()["error"]
        assert api.ask("bob", "POST", "/v1/subscriptions", content=lines).status_code == 200


def test_requests_of_a_token(api_with):
    with api_with(requests_per_second=0.5) as api:
        assert api.ask("ann", "GET", "/v1/subscriptions").status_code == 200
        refused = api.ask("ann", "GET", "/v1/subscriptions")
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) >= 1
        assert "more than 0.5 requests a second" in refused.json()["error"]
        assert api.ask("bob", "GET", "/v1/subscriptions").status_code == 200


def test_messages_of_a_token(api_with, feature):
    with api_with(messages_per_second=0.5) as api:
        lines = "\n".join(json.dumps(feature(f"m{i}", text="tea")) for i in range(3))
        assert api.ask("paul", "POST", "/v1/messages/bulk", content=lines).status_code == 200
        for path in ("/v1/messages/bulk", "/v1/messages"):
            refused = api.ask("paul", "POST", path, json=feature("n", text="tea"))
            assert refused.status_code == 429
            assert 1 <= int(refused.headers["Retry-After"]) <= 6
        assert api.service.log.end == 3


@pytest.mark.parametrize("path", ["subscriptions", "messages", "rejects", "events"])
@pytest.mark.parametrize("limit", ["0", "1001", "-1", "many", "1e3"])
def test_the_size_of_a_page(shared_api, path, limit):
    answer = shared_api.ask("all", "GET", f"/v1/{path}?limit={limit}")
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(f"query limit: {limit!r}: ")
