"""The whole service on this machine, with a simulated city that talks to it."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.console import Console

from nearcast.demo.ending import asked_to_end
from nearcast.demo.failure import DemoFailed
from nearcast.demo.show import Show
from nearcast.demo.status import Status
from nearcast.pipeline.java import java_home
from nearcast.service.server import serving
from nearcast.service.settings import Settings

__all__ = ["DemoFailed", "run"]

HOST = "127.0.0.1"
USUAL_PORT = 8080


def run(
    *,
    seconds: float | None = None,
    port: int | None = None,
    browser: bool = True,
    data: str | None = None,
    as_json: bool = False,
) -> int:
    """Serve and feed the city for so many seconds, or until Ctrl-C; the exit code is 0 either way.

    - `seconds`: from the first message on
    - `port`: None is the usual one, or a free one where that is taken
    - `browser`: open the page, if somebody sits here
    - `data`: a folder that is kept; None is one that is removed at the end
    - `as_json`: the summary is all that goes to standard output
    """
    console = Console(stderr=as_json)
    with asked_to_end() as ending, Status(console) as status, _folder(data) as folder:
        java_home(os.environ, Path(sys.prefix))  # before all else, for it may tell what to install
        settings = Settings(
            data=folder,
            host=HOST,
            port=_free_port() if port is None else port,
            open_page=True,
            webhook_private_addresses=True,
            log_level="error",
        )
        status.say(f"Starting the service; its data is in {folder} ...")
        with serving(settings) as server:
            status.say(f"The page is at {server.address}  (Ctrl-C ends the demo)")
            show = Show(server.service, server.address, status, ending)
            figures = show.run(
                seconds,
                on_begin=lambda: _open(server.address) if browser else None,
            )
            status.say("Stopping ...")
    print(json.dumps(figures.record()) if as_json else figures.summary())
    return 0


@contextmanager
def _folder(data: str | None) -> Iterator[str]:
    if data is not None:
        yield data
        return
    with tempfile.TemporaryDirectory(prefix="nearcast-demo-") as folder:
        yield folder


def _free_port() -> int:
    """The usual one if nobody has it, else any."""
    with suppress(OSError), socket.create_server((HOST, USUAL_PORT)):
        return USUAL_PORT
    return 0


def _open(address: str) -> None:
    """Show the page, where there is somebody to see it."""
    has_display = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_display and sys.stdout.isatty():
        webbrowser.open(address)
