"""`Supervisor`: starts the pipeline's process, hears what it says, starts it again when it dies."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import IO, Any

from nearcast.service.matching.process import MatchingSettings

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
SECONDS_TO_STOP = 30.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """How the pipeline is.

    - `state`: `starting`, `running`, `failed` (it will be started again) or `stopped`
    - `problem`: what ended it last, until it runs again
    - `progress`: its own words: rows, notifications, lag, hit_rate, milliseconds, offset, …
    - `heard`: when it last said something, by `time.monotonic`
    """

    state: str = "starting"
    starts: int = 0
    problem: str | None = None
    progress: dict[str, Any] = field(default_factory=dict)
    heard: float = 0.0


class Supervisor:
    """Keeps one pipeline process alive.

    `on_commit` is called in a thread of its own whenever new events are in the outbox.
    """

    def __init__(self, settings: MatchingSettings, on_commit: Callable[[], None]) -> None:
        self._settings = settings
        self._on_commit = on_commit
        self._status = PipelineStatus()
        self._stopping = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._run, name="pipeline", daemon=True)

    def start(self) -> None:
        """Start it, and return at once."""
        self._thread.start()

    @property
    def status(self) -> PipelineStatus:
        """How it is now."""
        return self._status

    def stop(self) -> None:
        """End it, gently, then not."""
        self._stopping.set()
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            try:
                process.wait(SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                logger.warning("the pipeline did not end in %g s: killed", SECONDS_TO_STOP)
                process.kill()
        if self._thread.ident is not None:
            self._thread.join()
        self._note(state="stopped")

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            begin = time.monotonic()
            try:
                self._run_once()
            except OSError as error:  # no memory for another process, say
                self._note(problem=str(error))
            if self._stopping.is_set():
                break
            if time.monotonic() - begin > LONGEST_PAUSE:
                pause = FIRST_PAUSE  # it had been well
            problem = self._status.problem or "the process died"
            self._note(state="failed", problem=problem)
            logger.error("the pipeline ended: %s; starting again in %g s", problem, pause)
            self._stopping.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _run_once(self) -> None:
        self._note(state="starting", problem=None, starts=self._status.starts + 1)
        command = [sys.executable, "-m", "nearcast.service.matching.process"]
        process = subprocess.Popen(
            [*command, json.dumps(asdict(self._settings))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # A Ctrl-C is for the service, which tells the pipeline in good order.
            start_new_session=True,
        )
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        if self._stopping.is_set():  # just now: `stop` may not have seen the process
            process.stdin.close()
        # Spark and Java talk on standard error, where the service's own log goes line by line.
        murmur = threading.Thread(target=_log_lines, args=(process.stderr,), daemon=True)
        murmur.start()
        with process:
            for line in process.stdout:
                self._hear(line)
            murmur.join()

    def _hear(self, line: str) -> None:
        try:
            words = json.loads(line)
            assert isinstance(words, dict)
        except (ValueError, AssertionError):
            return  # not from us: a library that prints
        if "committed" in words:
            self._note()
            self._on_commit()
        else:
            self._note(**words)

    def _note(self, **words: Any) -> None:
        known = {
            name: words[name]
            for name in ("state", "starts", "problem", "progress")
            if name in words
        }
        self._status = replace(self._status, heard=time.monotonic(), **known)


def _log_lines(lines: IO[str]) -> None:
    for line in lines:
        logger.info("the pipeline says: %s", line.rstrip())
