"""The pipeline's own process: `python -m nearcast.service.matching.process '{...}'`.

It speaks in lines of JSON on standard output: `{"state": "starting"}`, `{"state": "running"}`,
`{"committed": 17}` when the events up to number 17 are in the outbox, and every second
`{"progress": {...}}`. It ends when its standard input does, which is also when the service dies.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from nearcast.service.data_folder import DataFolder
from nearcast.service.window import window_from

SECONDS_BETWEEN_REPORTS = 1.0
LOCK_SECONDS = 60.0
"""A predecessor that lost its service needs a moment to end."""


@dataclass(frozen=True, slots=True)
class MatchingSettings:
    """What the process is told.

    - `master`, `rows_per_batch`: of Spark and of its batches
    - `window`, `farthest`: of top-k lists; the window as `window_from` reads it
    - `half_life`: of what is said, for trending terms
    - `keep_seconds`, `keep_events`: of the outbox
    """

    folder: str
    master: str
    rows_per_batch: int
    keep_seconds: float
    keep_events: int
    window: str
    farthest: float
    half_life: float


def main(settings: MatchingSettings) -> None:
    """Run the pipeline until standard input ends; an error ends it with a line and code 1."""
    folder = DataFolder.open(settings.folder)
    say(state="starting")
    ended, is_running = threading.Event(), threading.Event()
    threading.Thread(target=_wait_for_end, args=(ended, is_running), daemon=True).start()
    lock = _claim(folder)
    # Here, because starting to import Spark takes a second.
    from nearcast.pipeline import ResultSettings, read_log, spark_session, stream, warm_up
    from nearcast.service.matching.outbox_sink import OutboxSink

    spark = spark_session(settings.master, name="nearcast service")
    warm_up(spark)
    running = stream(
        read_log(spark, folder.log, rows_per_batch=settings.rows_per_batch),
        sink=OutboxSink(
            folder,
            keep_seconds=settings.keep_seconds,
            keep_events=settings.keep_events,
            on_commit=lambda sequence: say(committed=sequence),
        ),
        checkpoint=folder.checkpoint,
        results=ResultSettings(window_from(settings.window), settings.farthest, settings.half_life),
    )
    is_running.set()
    say(state="running")
    try:
        while running.is_active and not ended.wait(SECONDS_BETWEEN_REPORTS):
            say(progress=_progress(running))
        if not ended.is_set():
            running.await_termination()  # raises what went wrong
    finally:
        running.stop()
        spark.stop()
        os.close(lock)


def say(**words: Any) -> None:
    """One line for the service."""
    line = json.dumps(words) + "\n"
    with _speaking:
        sys.stdout.write(line)
        sys.stdout.flush()


_speaking = threading.Lock()


def _progress(running: Any) -> dict[str, Any]:
    recent = running.recent[-1:]
    found = asdict(running.summary)
    found["milliseconds"] = recent[0].milliseconds if recent else None
    last = running.query.lastProgress
    found["offset"] = None
    if last:
        end = last["sources"][0]["endOffset"]
        found["offset"] = (json.loads(end) if isinstance(end, str) else end or {}).get("offset")
    expiry = running.next_expiry
    found["next_expiry"] = expiry if isfinite(expiry) else None
    return found


def _claim(folder: DataFolder) -> int:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return folder.claim("pipeline")
        except ValueError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _wait_for_end(ended: threading.Event, is_running: threading.Event) -> None:
    sys.stdin.read()
    ended.set()
    if not is_running.is_set():
        # Spark is starting and cannot be asked to stop. The group is this process and its Java.
        os.killpg(0, signal.SIGTERM)


if __name__ == "__main__":
    # Leaves in good order: temporary files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        main(MatchingSettings(**json.loads(sys.argv[1])))
    except KeyboardInterrupt:
        pass  # Ctrl-C reaches the whole group; the service says when to end
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
        say(state="failed", problem=reason)
        raise
