"""`serving`: a service and its web server, started and stopped as one."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from nearcast.service.api.app import create_app
from nearcast.service.logs import log_to_stderr
from nearcast.service.service import Service
from nearcast.service.settings import Settings
from nearcast.service.stores.tokens import ADMIN

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SECONDS_FOR_OPEN_REQUESTS = 5
SECONDS_IDLE = 75
SECONDS_BETWEEN_LOOKS = 0.2
CONNECTIONS_WAITING = 2048
LARGEST_WEBSOCKET_MESSAGE = 65_536
"""Bytes, from a reader or a browser with the page; both say little."""


class RunningServer:
    """A service that answers at `address`; its web server has a thread of its own."""

    def __init__(self, settings: Settings) -> None:
        listener = _listen(settings.host, settings.port)
        try:
            self.service = Service(settings)
        except BaseException:
            listener.close()
            raise
        self.address = _address(settings.host, listener.getsockname()[1])
        self.app = create_app(self.service)
        self._is_stopped = False
        self._server = _Server(self.app)
        self._thread = threading.Thread(
            target=self._serve, args=(listener,), name="web", daemon=True
        )

    def start(self) -> None:
        """Answer requests from when this returns; Spark starts meanwhile."""
        self._thread.start()
        self._server.settled.wait()
        if not self._server.started:
            self._thread.join()
            raise RuntimeError("the web server did not start; the log says why")
        self.service.folder.address.write_text(f"{self.address}\n")
        self.service.start()

    def stop(self) -> None:
        """Answer no more, then stop the service.  Any number of times."""
        if self._is_stopped:
            return
        self._is_stopped = True
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join()
        self.service.folder.address.unlink(missing_ok=True)
        self.service.stop()

    def _serve(self, listener: socket.socket) -> None:
        try:
            self._server.run([listener])
        finally:
            listener.close()
            self._server.settled.set()


@contextmanager
def serving(settings: Settings) -> Iterator[RunningServer]:
    """A running service for as long as the block lasts."""
    server = RunningServer(settings)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def run(settings: Settings, say: Callable[..., None]) -> None:
    """Serve until a signal says to end.

    `say` is called with a line for people, and the same as facts for machines.
    """
    log_to_stderr(settings.log_level)
    ended = threading.Event()
    with _signals_set(ended):
        say(f"opening {settings.data}", state="opening", data=settings.data)
        with serving(settings) as server:
            _make_first_token(server, say)
            say(
                f"listening at {server.address}; starting Spark, which takes some seconds",
                state="starting",
                address=server.address,
            )
            _tell_of_pipeline(server, ended, say)
            say("stopping", state="stopping")
    say("stopped", state="stopped")


def _make_first_token(server: RunningServer, say: Callable[..., None]) -> None:
    tokens = server.service.tokens
    if not tokens.all():
        _, secret = tokens.create("admin", [ADMIN])
        say(f"token of the admin, shown this once: {secret}", token=secret)


def _tell_of_pipeline(
    server: RunningServer, ended: threading.Event, say: Callable[..., None]
) -> None:
    """Until the end; a word whenever the pipeline is in another state."""
    told = "starting"
    while not ended.wait(SECONDS_BETWEEN_LOOKS):
        status = server.service.pipeline.status
        if status.state == told:
            continue
        told = status.state
        if told == "running":
            say(f"ready at {server.address}", state="ready", address=server.address)
        elif told == "failed":
            problem = status.problem
            say(f"the pipeline ended: {problem}; it starts again", state="failed", problem=problem)


@contextmanager
def _signals_set(ended: threading.Event) -> Iterator[None]:
    """The first signal ends in good order; a second one is as it was before."""
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def end(*_: object) -> None:
        ended.set()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in SIGNALS:
        signal.signal(number, end)
    try:
        yield
    finally:
        restore()


class _Server(uvicorn.Server):
    """Says when it has started, and ends streams before it waits for requests to end."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,  # ours, see `logs.py`
                access_log=False,
                lifespan="on",
                server_header=False,
                proxy_headers=False,
                ws_max_size=LARGEST_WEBSOCKET_MESSAGE,
                timeout_graceful_shutdown=SECONDS_FOR_OPEN_REQUESTS,
                # Longer than clients and proxies keep an idle connection, so that they close first.
                timeout_keep_alive=SECONDS_IDLE,
            )
        )
        self._app = app
        self.settled = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.settled.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._app.state.hub.stop()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, where = found[0]
        return socket.create_server(where[:2], family=family, backlog=CONNECTIONS_WAITING)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(
            f"cannot listen at {host} port {port}: {reason.lower()}; "
            "stop what is there, or give another host or port (0 is any free port)"
        ) from None


def _address(host: str, port: int) -> str:
    # Who listens everywhere is also here.
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"
