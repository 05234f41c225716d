"""How far a long command is: a bar on a terminal, else a line for each thing that begins."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

_SECONDS_BETWEEN_LOOKS = 0.25


@contextmanager
def progress_on_stderr(*, quiet: bool) -> Iterator[LineProgress | BarProgress]:
    """Progress for people; `quiet` keeps lines away from machines, which need none."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield LineProgress(quiet)
        return
    bar = BarProgress(console)
    try:
        yield bar
    finally:
        bar.stop()


class LineProgress:
    """Says what begins."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def phase(self, name: str) -> None:
        """Print it."""
        if not self._quiet:
            print(f"{name} ...", file=sys.stderr)

    def follow(self, tracker: Any) -> None:
        """Tasks are not worth a line."""


class BarProgress:
    """One bar: the tasks of the stages that run, out of all that Spark says they have.

    A thread of its own asks Spark, because the main one waits for the answer.
    """

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<14}"),
            BarColumn(),
            TextColumn("{task.fields[tasks]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._bar = self._progress.add_task("", total=None, tasks="")
        self._done = Event()
        self._thread: Thread | None = None
        self._progress.start()

    def phase(self, name: str) -> None:
        """Begin anew; how much there is to do is not known yet."""
        self._progress.reset(self._bar, description=name, total=None, tasks="")

    def follow(self, tracker: Any) -> None:
        """Ask `tracker` now and then, until the end."""
        self._thread = Thread(target=self._look_again, args=(tracker,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take the bar away."""
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        self._progress.stop()

    def look(self, tracker: Any) -> None:
        """Show the tasks of the stages that run now."""
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        total = sum(stage.numTasks for stage in stages if stage)
        if total:
            done = sum(stage.numCompletedTasks for stage in stages if stage)
            tasks = f"{done} of {total} tasks"
            self._progress.update(self._bar, total=total, completed=done, tasks=tasks)

    def _look_again(self, tracker: Any) -> None:
        while not self._done.wait(_SECONDS_BETWEEN_LOOKS):
            try:
                self.look(tracker)
            except Exception:  # Spark has stopped, and takes the tracker with it
                return
