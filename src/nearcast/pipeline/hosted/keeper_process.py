"""The process that keeps a shard: `python -m …hosted.keeper_process SOCKET PARENT`.

SOCKET is the number of a socket that listens already, so that nobody has to wait until this process
is ready. It ends when the process PARENT has, or when nobody asked for a while.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from nearcast.pipeline.hosted.keeper import ShardKeeper
from nearcast.pipeline.hosted.keepers import starting_or_ending
from nearcast.pipeline.hosted.request import StepRequest, receive, send

UNUSED_SECONDS = 600.0
SECONDS_BETWEEN_LOOKS = 1.0


def serve(listening: socket.socket, parent: int) -> None:
    """Answer one task after the other."""
    keeper, asked = ShardKeeper(), time.monotonic()
    listening.settimeout(SECONDS_BETWEEN_LOOKS)
    is_wanted = True
    while is_wanted and _is_alive(parent) and time.monotonic() - asked < UNUSED_SECONDS:
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            continue
        with connection:
            connection.settimeout(None)
            is_wanted = _answer(keeper, connection)
        asked = time.monotonic()
    path = Path(listening.getsockname())
    with starting_or_ending(path):
        path.unlink(missing_ok=True)
        path.with_suffix(".log").unlink(missing_ok=True)
        listening.close()


def _answer(keeper: ShardKeeper, connection: socket.socket) -> bool:
    """Do what a task asks; False when it asks for the end."""
    with suppress(OSError, EOFError):  # it has gone; who comes in its place asks again
        header, parts = receive(connection)
        if header.get("end"):
            return False
        lists: list[bytes] = []
        try:
            request = StepRequest.of(header, parts)
            if request.asked is None:
                answer: dict[str, Any] = {"facts": keeper.step(request)}
            else:
                answer, lists = {"facts": {}}, [keeper.parts(request, request.asked)]
        except Exception as error:
            traceback.print_exc()
            answer = {"error": str(error), "type": type(error).__name__}
        send(connection, answer, lists)
    return True


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
