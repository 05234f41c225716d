"""Tasks find the keeper of a shard on their host, or start one.

    <temporary folder>/nearcast-<user>/lock          who has it may start or end one
                                       <key>-<shard>.sock    where it listens
                                       <key>-<shard>.log     what it had to say; gone when it is

The folder is the user's alone: whoever can open a socket there may ask for anything.
"""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nearcast.pipeline.hosted.request import StepRequest, receive, send

TRIES = 3
"""A keeper may be killed, or may end by itself in the moment when it is asked."""
MOST_WAITING = 64

Wait = Callable[[], dict[str, Any]]
"""Waits for an answer."""


def ask(request: StepRequest) -> Wait:
    """Have the keeper of a shard take a step; what this returns waits until it has.

    Parts of lists that are asked for come as `parts`, bytes.
    """
    connection = _asked(request)

    def wait() -> dict[str, Any]:
        nonlocal connection
        for tries in range(1, TRIES + 1):
            try:
                with connection:
                    answer, lists = receive(connection)
                break
            except (EOFError, OSError) as error:
                if tries == TRIES:
                    log = _path(request.state.key, request.shard).with_suffix(".log")
                    raise RuntimeError(
                        f"the keeper of shard {request.shard} died {TRIES} times in the middle of "
                        f"batch {request.batch}; see {log}"
                    ) from error
                connection = _asked(request)
        if "error" in answer:
            raise RuntimeError(
                f"results of shard {request.shard}: {answer['type']}: {answer['error']}"
            )
        facts: dict[str, Any] = answer["facts"]
        return facts | {"parts": bytes(lists[0])} if lists else facts

    return wait


def end_keepers(key: str) -> None:
    """Those of a stream that are on this host are not needed any more."""
    # A log may lie there without a socket: of a keeper that was killed while it ended.
    for path in {path.with_suffix(".sock") for path in _folder().glob(f"{_short(key)}-*")}:
        try:
            with _connected(path) as connection:
                send(connection, {"end": True})
        except OSError:  # it was killed
            with starting_or_ending(path):
                path.unlink(missing_ok=True)
                _forget_empty(path.with_suffix(".log"))


def _forget_empty(log: Path) -> None:
    with suppress(FileNotFoundError):
        if log.stat().st_size == 0:
            log.unlink()


def _asked(request: StepRequest) -> socket.socket:
    path = _path(request.state.key, request.shard)
    for _ in range(TRIES):
        connection = _connection(path)
        try:
            send(connection, request.header(), [*request.messages, *request.others])
            return connection
        except OSError:
            connection.close()  # it has just ended
    raise RuntimeError(f"the keeper at {path} ends as soon as it is asked; see its .log")


def _connection(path: Path) -> socket.socket:
    with suppress(OSError):
        return _connected(path)
    with starting_or_ending(path):
        with suppress(OSError):  # another task was quicker
            return _connected(path)
        path.unlink(missing_ok=True)
        _start(path)
        return _connected(path)


def _connected(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def _start(path: Path) -> None:
    """A process of its own, which outlives this worker, but not the daemon that forks workers."""
    with socket.socket(socket.AF_UNIX) as listening, open(path.with_suffix(".log"), "ab") as log:
        listening.bind(str(path))
        listening.listen(MOST_WAITING)
        number = listening.fileno()
        module = "nearcast.pipeline.hosted.keeper_process"
        _started[:] = [each for each in _started if each.poll() is None]
        process = subprocess.Popen(
            [sys.executable, "-m", module, str(number), str(os.getppid())],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)},
        )
        _started.append(process)


_started: list[subprocess.Popen[bytes]] = []
"""By this worker; who asks whether they have ended keeps them from staying zombies."""


@contextmanager
def starting_or_ending(path: Path) -> Iterator[None]:
    """One process at a time: a name may be taken over by another keeper."""
    with open(path.with_name("lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _path(key: str, shard: int) -> Path:
    return _folder() / f"{_short(key)}-{shard}.sock"


def _short(key: str) -> str:
    return key[:16]  # names of sockets are about a hundred characters at most


def _folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"nearcast-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
        raise PermissionError(
            f"{folder} must be a folder of yours that nobody else can open; remove it, or set "
            "TMPDIR to another place"
        )
    return folder
