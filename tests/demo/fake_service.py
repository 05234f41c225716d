"""A service that delivers every message to everybody, without Spark and without a disk."""

import json
import threading
from collections import defaultdict
from contextlib import closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import urlsplit

from nearcast.service.delivery.signature import signed_headers

SECRET = "whsec_c2VjcmV0"


class FakeService:
    """Both what the demo uses over HTTP, at `address`, and what it uses in the process."""

    def __init__(self):
        self.subscriptions = defaultdict(dict)
        self.messages = []
        self.positions = []
        self.acknowledged = {}
        self.webhooks = {}
        self.asked = []
        self.live_tokens = {}
        self.news = threading.Condition()
        self.is_closing = False
        self._events = defaultdict(list)
        self._sequence = 0
        self.tokens = self.outbox = self.log = self.deliveries = self
        self.pipeline = SimpleNamespace(
            status=SimpleNamespace(state="running", problem=None, progress={"lag": 0})
        )
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        self._thread.start()

    def close(self):
        with self.news:
            self.is_closing = True
            self.news.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # ------------------------------------------------------------ in the process

    def create(self, name, roles):
        token = SimpleNamespace(id=f"id of {name}", name=name)
        self.live_tokens[token.id] = list(roles)
        return token, f"secret of {name}"

    def revoke(self, id):
        del self.live_tokens[id]

    def cursor(self, subscriber):
        return self.acknowledged.get(subscriber, 0)

    def last_sequence(self):
        return self._sequence

    def events(self, subscriber, after, limit):
        with self.news:
            return [event for event in self._events[subscriber] if event["id"] > after][:limit]

    @property
    def end(self):
        self.pipeline.status.progress["offset"] = len(self.messages)
        return len(self.messages)

    # ------------------------------------------------------------ over HTTP

    def publish(self, messages):
        with self.news:
            for message in messages:
                self.messages.append(message)
                for subscriber in self.subscriptions:
                    self._sequence += 1
                    event = {"id": self._sequence, "kind": "match", "message": message}
                    self._events[subscriber].append(event)
            self.news.notify_all()
        for subscriber, url in list(self.webhooks.items()):
            body = json.dumps({"events": self.events(subscriber, 0, 10**6)[-len(messages) :]})
            assert post(url, body.encode(), signed_headers(SECRET, "1", 7, body.encode())) == 204

    def follow(self, subscriber, after):
        while not self.is_closing:
            with self.news:
                found = [event for event in self._events[subscriber] if event["id"] > after]
                if not found:
                    self.news.wait()
            for event in found:
                after = event["id"]
                yield event


def post(url, body, headers):
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection:
        connection.request("POST", "/", body, headers)
        return connection.getresponse().status


def _handler(service):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            who = self.headers["Authorization"].removeprefix("Bearer secret of ")
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            service.asked.append((self.command, self.path, who))
            match self.command, self.path.split("/")[2:]:
                case "POST", ["subscriptions"]:
                    for each in map(json.loads, body.splitlines()):
                        service.subscriptions[who][each["id"]] = each
                    self.answer(200, {})
                case "POST", ["positions"]:
                    service.positions += [json.loads(line)["id"] for line in body.splitlines()]
                    self.answer(200, {})
                case "POST", ["messages", "bulk"]:
                    messages = list(map(json.loads, body.splitlines()))
                    service.publish(messages)
                    self.answer(200, {"accepted": len(messages)})
                case "POST", ["events", "ack"]:
                    service.acknowledged[who] = json.loads(body)["id"]
                    self.answer(200, {})
                case "PUT", ["webhooks", _]:
                    service.webhooks[who] = json.loads(body)["url"]
                    self.answer(201, {"secret": SECRET, "cursor": service.last_sequence()})
                case "DELETE", ["webhooks", _]:
                    known = service.webhooks.pop(who, None)
                    self.answer(204 if known else 404, None if known else {"error": "unknown"})
                case "GET", ["events", "stream"]:
                    self.stream(who)
                case _:
                    self.answer(400, {"error": "what?"})

        do_GET = do_PUT = do_DELETE = do_POST  # noqa: N815  names of the standard library

        def stream(self, who):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"retry: 1000\n\n: still here\n\n")
            for event in service.follow(who, int(self.headers["Last-Event-ID"])):
                try:
                    self.wfile.write(b"id: 1\ndata: " + json.dumps(event).encode() + b"\n\n")
                except OSError:
                    break
            self.close_connection = True

        def answer(self, status, body):
            text = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *words):
            pass

    return Handler
