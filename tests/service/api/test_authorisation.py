"""Every route: without a token, with the wrong one, and with another subscriber's."""

import json

import pytest
from fastapi.routing import APIRoute, APIWebSocketRoute

from nearcast.service.api.app import ROUTERS

OPEN = {"GET /metrics", "GET /healthz", "GET /readyz"}
ANY_ROLE = {"GET /v1/messages", "GET /v1/messages/{id}"}
PUBLISHER = {"POST /v1/messages", "POST /v1/messages/bulk"}
ADMIN = {"GET /v1/tokens", "POST /v1/tokens", "DELETE /v1/tokens/{id}", "GET /v1/rejects"}
SUBSCRIBER = {
    "PUT /v1/subscriptions/{id}",
    "GET /v1/subscriptions/{id}",
    "DELETE /v1/subscriptions/{id}",
    "GET /v1/subscriptions",
    "POST /v1/subscriptions",
    "GET /v1/subscriptions/{id}/explain/{message_id}",
    "GET /v1/subscriptions/{id}/results",
    "POST /v1/positions",
    "POST /v1/estimate",
    "GET /v1/events",
    "GET /v1/events/stream",
    "POST /v1/events/ack",
    "PUT /v1/webhooks/{name}",
    "GET /v1/webhooks/{name}",
    "DELETE /v1/webhooks/{name}",
    "GET /v1/webhooks",
    "GET /v1/dead-letters",
    "POST /v1/webhooks/{name}/redeliver",
}
SOCKETS = {"/v1/events/socket"}  # tested with delivery
GUARDED = sorted(ANY_ROLE | PUBLISHER | ADMIN | SUBSCRIBER)


def _address(route):
    method, path = route.split()
    for name in ("{id}", "{message_id}", "{name}"):
        path = path.replace(name, "x")
    return method, path


def _flat(routes):
    for route in routes:
        if hasattr(route, "original_router"):  # a router that another includes
            yield from _flat(route.original_router.routes)
        else:
            yield route


def test_every_route_is_known_here():
    routes = [route for router in ROUTERS for route in _flat(router.routes)]
    found = {
        f"{method} {route.path}"
        for route in routes
        if isinstance(route, APIRoute)
        for method in route.methods
    }
    assert found == OPEN | set(GUARDED)
    assert {each.path for each in routes if isinstance(each, APIWebSocketRoute)} == SOCKETS


@pytest.mark.parametrize("route", sorted(OPEN))
def test_an_open_route_needs_no_token(shared_api, route):
    assert shared_api.ask(None, *_address(route)).status_code in (200, 503)


@pytest.mark.parametrize("route", GUARDED)
@pytest.mark.parametrize(
    "header", [None, "Bearer", "Bearer x", "Basic dTpw", "Bearer nearcast_", "bearer \x80"]
)
def test_no_token_is_a_401(shared_api, route, header):
    method, path = _address(route)
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    answer = shared_api.ask(None, method, path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "token" in answer.json()["error"]


@pytest.mark.parametrize(
    ("who", "route"),
    [
        *(("ann", route) for route in sorted(PUBLISHER | ADMIN)),
        *(("paul", route) for route in sorted(SUBSCRIBER | ADMIN)),
    ],
)
def test_the_wrong_role_is_a_403(shared_api, who, route):
    answer = shared_api.ask(who, *_address(route))
    assert answer.status_code == 403
    assert "needs the role" in answer.json()["error"]


def test_a_revoked_token_is_a_401_at_once(api):
    [ann] = [token for token in api.service.tokens.all() if token.name == "ann"]
    assert api.ask("ann", "GET", "/v1/subscriptions").status_code == 200
    api.service.tokens.revoke(ann.id)
    for route in GUARDED:
        assert api.ask("ann", *_address(route)).status_code == 401


def test_a_subscriber_sees_only_its_own(api, feature):
    document = feature(at=None, keywords="tea")
    api.ask("ann", "PUT", "/v1/subscriptions/mine", json=document)
    for method in ("GET", "DELETE"):
        assert api.ask("bob", method, "/v1/subscriptions/mine").status_code == 404
    assert api.ask("bob", "GET", "/v1/subscriptions").json()["features"] == []
    # The same name is another subscription.
    assert api.ask("bob", "PUT", "/v1/subscriptions/mine", json=document).status_code == 201
    bulk = json.dumps({**document, "id": "mine"})
    assert api.ask("bob", "POST", "/v1/subscriptions", content=bulk).json()["replaced"] == 1
    assert api.ask("bob", "DELETE", "/v1/subscriptions/mine").status_code == 204
    assert api.ask("ann", "GET", "/v1/subscriptions/mine").status_code == 200


def test_a_small_body_may_come_as_a_form(api):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    wanted = b'{"name": "carl", "roles": ["subscriber"]}'
    requests = [
        ("root", "POST", "/v1/tokens", wanted, 201),
        ("ann", "PUT", "/v1/webhooks/mine", b'{"url": "https://example.com/hook"}', 201),
        ("ann", "POST", "/v1/webhooks/mine/redeliver", b"", 202),
        ("ann", "POST", "/v1/events/ack", b'{"id": 0}', 200),
        ("ann", "POST", "/v1/events/ack", b'{"id": 9}', 400),
        ("ann", "POST", "/v1/events/ack", b"{", 422),
    ]
    for who, method, path, body, status in requests:
        answer = api.ask(who, method, path, content=body, headers=form)
        assert answer.status_code == status, answer.text


def test_a_subscriber_sees_only_its_own_webhooks(api):
    body = {"url": "https://example.com/hook"}
    assert api.ask("ann", "PUT", "/v1/webhooks/mine", json=body).status_code == 201
    for method in ("GET", "DELETE"):
        assert api.ask("bob", method, "/v1/webhooks/mine").status_code == 404
    answer = api.ask("bob", "POST", "/v1/webhooks/mine/redeliver", json={})
    assert answer.status_code == 404
    assert "mine" not in api.ask("bob", "GET", "/v1/webhooks").text


def test_an_admin_acts_under_its_own_name(api, feature):
    api.ask("ann", "PUT", "/v1/subscriptions/mine", json=feature(at=None, keywords="tea"))
    assert api.ask("root", "GET", "/v1/subscriptions/mine").status_code == 404


def test_tokens_can_be_made_used_and_revoked(api):
    wanted = {"name": "carl", "roles": ["subscriber", "publisher"]}
    made = api.ask("root", "POST", "/v1/tokens", json=wanted)
    assert made.status_code == 201
    assert made.json()["roles"] == ["publisher", "subscriber"]
    api.secrets["carl"] = made.json()["token"]
    assert api.ask("carl", "GET", "/v1/subscriptions").status_code == 200
    listed = api.ask("root", "GET", "/v1/tokens")
    assert made.json()["id"] in [each["id"] for each in listed.json()["tokens"]]
    assert made.json()["token"] not in listed.text
    path = f"/v1/tokens/{made.json()['id']}"
    assert api.ask("root", "DELETE", path).status_code == 204
    assert api.ask("root", "DELETE", path).status_code == 404
    assert api.ask("carl", "GET", "/v1/subscriptions").status_code == 401


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({"name": "Ann Lee", "roles": ["admin"]}, 400),
        ({"name": "ann", "roles": ["king"]}, 422),
        ({"name": "ann", "roles": []}, 422),
        ({"name": "ann"}, 422),
        ([], 422),
    ],
)
def test_a_bad_token_is_refused(shared_api, wanted, status):
    answer = shared_api.ask("root", "POST", "/v1/tokens", json=wanted)
    assert answer.status_code == status
    assert answer.json()["error"]
