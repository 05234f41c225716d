import json

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from nearcast.model import Circle, MovingSubscription, Point
from nearcast.service.api import event_socket, followers
from nearcast.service.stores.subscriptions import Entry
from tests.service.delivery.web import wait_until
from tests.service.outboxes import HostingPipeline


def socket_to(web, client=None, query=""):
    headers = {"Authorization": f"Bearer {client.secret}"} if client else {}
    url = f"ws://127.0.0.1:{web.port}/v1/events/socket{query}"
    return connect(url, additional_headers=headers, proxy=None)


def test_a_socket_brings_events_and_takes_acknowledgements(web):
    ann = web.client("ann")
    web.pipeline.match("ann", *"ab")
    with socket_to(web, ann) as socket:
        assert [json.loads(socket.recv())["id"] for _ in range(2)] == [1, 2]
        socket.send('{"ack": 1}')
        wait_until(lambda: web.service.deliveries.cursor("ann") == 1)
        web.pipeline.match("ann", "c")
        assert json.loads(socket.recv())["id"] == 3
    with socket_to(web, ann) as socket:
        assert json.loads(socket.recv())["id"] == 2
    with socket_to(web, ann, "?after=2") as socket:
        assert json.loads(socket.recv())["id"] == 3
    wait_until(lambda: web.hub.streams == 0)


def test_a_socket_tells_of_a_gap(web):
    web.pipeline.match("ann", *"abc")
    web.pipeline.drop_all_but(1)
    with socket_to(web, web.client("ann")) as socket:
        assert json.loads(socket.recv()) == {"kind": "gap", "after": 0, "up_to": 2}
        assert json.loads(socket.recv())["id"] == 3


def test_a_browser_gives_its_token_in_the_first_message(web):
    ann = web.client("ann")
    web.pipeline.match("ann", "a")
    with socket_to(web) as socket:
        socket.send(json.dumps({"token": ann.secret}))
        assert json.loads(socket.recv())["id"] == 1


@pytest.mark.parametrize(
    "first", ['{"token": "nearcast_x"}', '{"token": "\\ud800"}', "{", "[]", b"\x00", '{"token": 7}']
)
def test_a_socket_without_a_token_is_closed(web, first):
    with socket_to(web) as socket:
        socket.send(first)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv()
        assert closed.value.rcvd.code == event_socket.REFUSED
        assert closed.value.rcvd.reason


def test_a_socket_waits_for_a_token_only_so_long(web, monkeypatch):
    monkeypatch.setattr(event_socket, "SECONDS_FOR_A_TOKEN", 0.01)
    with socket_to(web) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv()
        assert "in time" in closed.value.rcvd.reason


def test_a_socket_needs_the_role_and_an_event_that_exists(web):
    publisher, ann = web.client("pub", "publisher"), web.client("ann")
    for client, query, words in ((publisher, "", "role subscriber"), (ann, "?after=9", "0 to 0")):
        with socket_to(web, client, query) as socket:
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv()
            assert closed.value.rcvd.code == event_socket.REFUSED
            assert words in closed.value.rcvd.reason


@pytest.mark.parametrize("words", ['{"ack": 7}', '{"ack": "1"}', "{}", "nonsense", b"\x00", "[]"])
def test_a_wrong_acknowledgement_is_answered_and_the_socket_goes_on(web, words):
    ann = web.client("ann")
    with socket_to(web, ann) as socket:
        socket.send(words)
        assert json.loads(socket.recv()).keys() == {"error"}
        web.pipeline.match("ann", "a")
        assert json.loads(socket.recv())["id"] == 1


def test_a_socket_ends_with_its_token_and_with_the_service(web, monkeypatch):
    monkeypatch.setattr(followers, "HEARTBEAT_SECONDS", 0.01)
    ann, bob = web.client("ann"), web.client("bob")
    with socket_to(web, ann) as one, socket_to(web, bob) as other:
        web.service.tokens.revoke(ann.token.id)
        with pytest.raises(ConnectionClosed):
            one.recv()
        web.stop()
        with pytest.raises(ConnectionClosed):
            other.recv()


def test_a_socket_takes_positions_and_brings_what_changes(web):
    ann = web.client("ann")
    wanted = MovingSubscription("walk", "tea", Circle(Point(2.36, 48.85), 500))
    web.service.subscriptions.put("ann", [Entry(wanted)])
    pipeline = HostingPipeline(web.service)
    web.pipeline.publish("tea")
    there = {"type": "Point", "coordinates": [2.4, 48.85]}
    position = {"type": "Feature", "id": "walk", "geometry": there}
    with socket_to(web, ann) as socket:
        about = {"radius": 500, "time": 5, "safe": True}
        socket.send(json.dumps({"move": {**position, "properties": about}}))
        assert json.loads(socket.recv()) == {"moved": "walk", "time": 5.0}
        assert web.service.log.read(2, 3)["kind"].to_pylist() == ["move"]
        socket.send(json.dumps({"move": {**position, "properties": {"radius": 500, "time": 4}}}))
        assert "comes after one of 5.0" in json.loads(socket.recv())["error"]
        pipeline.run(tell=True)
        found = [json.loads(socket.recv()) for _ in range(3)]
        assert [each["kind"] for each in found] == ["enter", "leave", "safe"]
        assert found[2]["metres"] == 1000.0
        socket.send(json.dumps({"ack": found[2]["id"]}))
        wait_until(lambda: web.service.deliveries.cursor("ann") == found[2]["id"])
    pipeline.close()
