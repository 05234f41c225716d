"""A service on a port of this machine, and receivers of its webhooks, for tests."""

import asyncio
import json
import queue
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import uvicorn

from nearcast.service.api.app import create_app
from nearcast.service.delivery.pace import Pace
from nearcast.service.delivery.webhooks import Webhooks
from nearcast.service.service import Service
from nearcast.service.settings import Settings
from tests.service.outboxes import PretendPipeline

SAFETY_SECONDS = 60.0
REFUSAL = 500, {}


def wait_until(condition):
    """Look until it is so."""
    deadline = time.monotonic() + SAFETY_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not become so"
        time.sleep(0.005)
    return found


def impatient():
    """A pace that does not wait, and the pauses that it was asked for."""
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        await asyncio.sleep(0)

    return Pace(sleep=sleep, chance=lambda: 1.0), pauses


class Web:
    """A service whose web answers at `url`; its pipeline is one for tests."""

    def __init__(self, folder, *, pace=None, resolve=None, **settings):
        settings = {"webhook_private_addresses": True, "requests_per_second": 1e6} | settings
        self.service = Service(Settings(data=str(folder), **settings))
        self.pipeline = PretendPipeline(self.service)
        self.app = create_app(self.service, page=False)
        self.hub = self.app.state.hub
        more = {} if resolve is None else {"resolve": resolve}
        self.hub.webhooks = Webhooks(self.service, self.hub, pace=pace, **more)
        config = uvicorn.Config(self.app, port=0, log_config=None, timeout_graceful_shutdown=30)
        self._server = _Server(config, self.hub)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._clients = []

    def __enter__(self):
        self._thread.start()
        wait_until(lambda: self._server.started)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url, self.port = f"http://127.0.0.1:{port}", port
        return self

    def __exit__(self, *_):
        self.stop()
        for client in self._clients:
            client.close()
        self.pipeline.close()
        self.service.stop()

    def stop(self):
        self._server.should_exit = True
        self._thread.join()

    def client(self, name, *roles):
        """One that speaks for a subscriber."""
        token, secret = self.service.tokens.create(name, roles or ["subscriber"])
        client = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {secret}"},
            timeout=SAFETY_SECONDS,
            trust_env=False,
        )
        client.token, client.secret = token, secret
        self._clients.append(client)
        return client


class _Server(uvicorn.Server):
    def __init__(self, config, hub):
        super().__init__(config)
        self._hub = hub

    async def shutdown(self, sockets=None):
        await self._hub.stop()
        await super().shutdown(sockets)


class Receiver:
    """Takes webhooks.  `answers` are given in turn, each a status and headers; then 204."""

    def __init__(self, *answers):
        self.answers = queue.SimpleQueue()
        self.requests = queue.Queue()
        self.released = threading.Event()
        self.hangs = False
        for answer in answers:
            self.answers.put(answer)
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.put((self.path, dict(self.headers), body))
                if receiver.hangs:
                    receiver.released.wait()
                    self.close_connection = True
                    return
                try:
                    status, headers = receiver.answers.get_nowait()
                except queue.Empty:
                    status, headers = 204, {}
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 100

            def handle_error(self, request, client_address):
                pass  # a client that went away

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def next(self):
        """The next request: headers in small letters, and the body as JSON."""
        _, headers, body = self.requests.get(timeout=SAFETY_SECONDS)
        return {name.lower(): value for name, value in headers.items()}, json.loads(body)

    def ids(self, count):
        """The ids of the next events, however they are spread over requests."""
        found = []
        while len(found) < count:
            found += [event["id"] for event in self.next()[1]["events"]]
        return found

    def close(self):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


def put(client, receiver, name="hook"):
    """Make a webhook, or give it another address."""
    answer = client.put(f"/v1/webhooks/{name}", json={"url": receiver.url})
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def status(client, name="hook"):
    """How a webhook is."""
    return client.get(f"/v1/webhooks/{name}").json()


def letters(client, **more):
    """What was parked."""
    return client.get("/v1/dead-letters", params=more).json()["dead_letters"]
