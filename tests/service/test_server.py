"""The web server around a service; Spark is left out."""

import json
import socket
from functools import partial

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from nearcast.service import server
from nearcast.service.api import event_socket
from nearcast.service.api.app import create_app
from nearcast.service.service import Service
from nearcast.service.settings import Settings


@pytest.fixture(autouse=True)
def _without_spark_and_page(monkeypatch):
    monkeypatch.setattr(Service, "start", lambda self: None)
    monkeypatch.setattr(server, "create_app", partial(create_app, page=False))


def test_it_answers_while_the_block_lasts(tmp_path):
    with server.serving(Settings(data=str(tmp_path), port=0)) as running:
        assert running.service.folder.address.read_text() == f"{running.address}\n"
        assert httpx.get(f"{running.address}/healthz").json() == {"status": "alive"}
        assert httpx.get(f"{running.address}/readyz").status_code == 503
    assert not running.service.folder.address.exists()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{running.address}/healthz")
    with server.serving(Settings(data=str(tmp_path), port=0)) as running:  # the folder is free
        assert httpx.get(f"{running.address}/healthz").status_code == 200


def test_it_listens_at_ipv6(tmp_path):
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 loopback here")
    with server.serving(Settings(data=str(tmp_path), port=0, host="::1")) as running:
        assert running.address.startswith("http://[::1]:")
        assert httpx.get(f"{running.address}/healthz").status_code == 200


def test_a_taken_port_is_told_and_the_folder_is_untouched(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen at 127.0.0.1 port {port}: address al"):
            server.RunningServer(Settings(data=str(tmp_path / "new"), port=port))
    assert not (tmp_path / "new").exists()


def test_a_folder_in_use_is_told_and_the_port_is_free_again(tmp_path):
    with server.serving(Settings(data=str(tmp_path), port=0)) as running:
        with socket.create_server(("127.0.0.1", 0)) as spare:
            port = spare.getsockname()[1]
        with pytest.raises(ValueError, match="is in use by another service"):
            server.RunningServer(Settings(data=str(tmp_path), port=port))
        socket.create_server(("127.0.0.1", port)).close()
        assert httpx.get(f"{running.address}/healthz").status_code == 200


def test_open_streams_do_not_delay_the_end(tmp_path):
    with server.serving(Settings(data=str(tmp_path), port=0)) as running:
        _, secret = running.service.tokens.create("ann", ["subscriber"])
        headers = {"Authorization": f"Bearer {secret}"}
        stream = httpx.Client(timeout=60)
        request = stream.build_request(
            "GET", f"{running.address}/v1/events/stream", headers=headers
        )
        answer = stream.send(request, stream=True)
        lines = answer.iter_lines()
        assert next(lines).startswith("retry:")
    assert [line for line in lines if line.startswith("data:")] == []  # it ended, in good order
    stream.close()


def test_chunked_bodies_have_their_limit_on_the_wire(tmp_path):
    def endless():
        while True:
            yield b"x" * 10_000

    with server.serving(Settings(data=str(tmp_path), port=0, largest_body=100_000)) as running:
        _, secret = running.service.tokens.create("paul", ["publisher"])
        answer = httpx.post(
            f"{running.address}/v1/messages/bulk",
            headers={"Authorization": f"Bearer {secret}"},
            content=endless(),
            timeout=60,
        )
        assert answer.status_code == 413


@pytest.mark.parametrize(("letters", "code"), [(2_000, event_socket.REFUSED), (70_000, 1009)])
def test_a_long_first_message_is_not_looked_at(tmp_path, letters, code):
    with server.serving(Settings(data=str(tmp_path), port=0)) as running:
        _, secret = running.service.tokens.create("ann", ["subscriber"])
        address = running.address.replace("http", "ws")
        with connect(f"{address}/v1/events/socket", proxy=None) as socket:
            socket.send(json.dumps({"token": secret}).ljust(letters))
            with pytest.raises(ConnectionClosed):
                socket.recv(timeout=60)
            assert socket.close_code == code
