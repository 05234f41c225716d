import asyncio
import ssl

import httpcore
import pytest

from nearcast.service.delivery.addresses import (
    GuardedNetwork,
    RefusedAddress,
    checked_url,
    is_public,
    look_up,
)
from nearcast.service.delivery.sender import Sender
from tests.service.delivery.web import Web, impatient, wait_until

_PRIVATE = """
    0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 172.31.255.255
    192.0.0.1 192.0.0.9 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1
    224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
    64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1::1 3fff::1
    5f00::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1
"""
_PUBLIC = """
    1.1.1.1 8.8.8.8 93.184.216.34 172.15.0.1 172.32.0.1 100.128.0.1 ::ffff:8.8.8.8 64:ff9b::808:808
    2001:4860:4860::8888 2606:4700::1111 2a00:1450::1
"""
PRIVATE, PUBLIC = _PRIVATE.split(), _PUBLIC.split()


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_of_the_house(address):
    assert not is_public(address)
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(ValueError, match=r"private or local|give https"):
        checked_url(f"https://{host}:8443/hook", private_addresses=False)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_internet(address):
    assert is_public(address)
    host = f"[{address}]" if ":" in address else address
    assert checked_url(url := f"http://{host}/hook", private_addresses=False) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/hook",
        "//example.org/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://",
        "http:///path",
        "https://user@example.org/",
        "https://user:word@example.org/",
        "https://example.org:0/",
        "https://example.org:70000/",
        "https://example.org/\n",
        "https://exa mple.org/",
        "https://[::1/",
        "https://example.org/" + "x" * 2000,
    ],
)
def test_bad_addresses(url):
    with pytest.raises(ValueError, match="webhook url"):
        checked_url(url, private_addresses=True)


class Recorder(httpcore.AsyncNetworkBackend):
    """Where would it connect to, and whose certificate would it ask for?"""

    def __init__(self, *unreachable):
        self.connected, self.hosts, self.unreachable = [], [], unreachable

    async def connect_tcp(self, host, port, timeout=None, **_):
        self.connected.append((host, port))
        if host in self.unreachable:
            raise httpcore.ConnectError("no route")
        return _Stream(self.hosts)


class _Stream(httpcore.AsyncMockStream):
    def __init__(self, hosts):
        super().__init__([b"HTTP/1.1 204 No Content\r\n\r\n"])
        self.hosts = hosts

    async def start_tls(self, ssl_context, server_hostname=None, timeout=None):
        self.hosts.append(server_hostname)
        return self


def post(url, addresses, *unreachable):
    """What came of it, and what the network saw; the name is looked up each time anew."""
    answers = iter(addresses)

    async def resolve(host, port):
        return next(answers)

    network = GuardedNetwork(resolve, private_addresses=False)
    network._network = recorder = Recorder(*unreachable)
    sender = Sender(url, 60.0, network, ssl.create_default_context())

    async def main():
        try:
            return await sender.post({}, b"{}")
        finally:
            await sender.close()

    return asyncio.run(main()), recorder


def test_the_address_that_was_judged_is_the_one_connected_to():
    # The second answer is what a name would say that changes its mind: nobody asks again.
    answer, seen = post("https://evil.example/x", [["8.8.8.8"], ["127.0.0.1"]])
    assert answer.is_taken
    assert seen.connected == [("8.8.8.8", 443)]
    assert seen.hosts == ["evil.example"]  # the certificate is still that of the name


@pytest.mark.parametrize("address", PRIVATE)
def test_a_name_of_an_address_of_the_house_is_refused(address):
    answer, seen = post("http://evil.example/", [[address]])
    assert answer.problem == "RefusedAddress: evil.example is at a private or local address"
    assert seen.connected == []


def test_of_several_addresses_only_public_ones_are_tried():
    answer, seen = post(
        "http://mixed.example:81/", [["10.0.0.1", "8.8.4.4", "::1", "8.8.8.8"]], "8.8.4.4"
    )
    assert answer.is_taken
    assert seen.connected == [("8.8.4.4", 81), ("8.8.8.8", 81)]


def test_addresses_that_lead_nowhere():
    answer, _ = post("http://gone.example/", [["8.8.4.4"]], "8.8.4.4")
    assert answer.problem == "ConnectError: no route"
    answer, _ = post("http://unknown.example/", [[]])
    assert answer.problem == "ConnectError: the name unknown.example is not known"


def test_an_address_itself_is_judged_when_connecting_too():
    # A service may have been told to refuse what it took before.
    answer, seen = post("http://127.0.0.1/", [])
    assert "RefusedAddress" in answer.problem
    assert seen.connected == []


def test_other_ways_to_write_an_address_are_looked_up_and_judged():
    async def main():
        return [await look_up(host, 80) for host in ("2130706433", "0x7f.1", "localhost", "")]

    *numbers, localhost, _ = asyncio.run(main())
    for found in (*numbers, localhost):
        assert found
        assert not any(is_public(address) for address in found)


def test_a_refused_address_is_an_error_of_connecting():
    assert issubclass(RefusedAddress, httpcore.ConnectError)


def test_the_service_refuses_the_house_unless_it_is_allowed(tmp_path, make_receiver):
    receiver = make_receiver()
    asked = []

    async def resolve(host, port):
        asked.append(host)
        return ["127.0.0.1"]

    pace, _ = impatient()
    settings = {"webhook_private_addresses": False, "webhook_attempts": 2}
    with Web(tmp_path / "data", pace=pace, resolve=resolve, **settings) as web:
        ann = web.client("ann")
        answer = ann.put("/v1/webhooks/hook", json={"url": receiver.url})
        assert answer.status_code == 400
        assert "127.0.0.1 is a private or local address" in answer.json()["error"]
        url = f"http://rebinding.example:{receiver.port}/"
        assert ann.put("/v1/webhooks/hook", json={"url": url}).status_code == 201
        web.pipeline.match("ann", "a")
        [letter] = wait_until(lambda: ann.get("/v1/dead-letters").json()["dead_letters"])
        assert "private or local address" in letter["reason"]
        assert asked == ["rebinding.example"] * 2
        assert receiver.requests.empty()
    allowed = {"webhook_private_addresses": True}
    with Web(tmp_path / "other", resolve=resolve, **allowed) as web:
        ann = web.client("ann")
        ann.put("/v1/webhooks/hook", json={"url": url})
        web.pipeline.match("ann", "a")
        assert receiver.ids(1) == [1]


def test_proxies_of_the_environment_are_not_used(tmp_path, make_receiver, monkeypatch):
    receiver, proxy = make_receiver(), make_receiver()
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
    with Web(tmp_path / "data") as web:
        web.client("ann").put("/v1/webhooks/hook", json={"url": receiver.url})
        web.pipeline.match("ann", "a")
        assert receiver.ids(1) == [1]
    assert proxy.requests.empty()
