"""A bar that moves between the steps, never while a clock runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@dataclass(frozen=True)
class Bar:
    """How far a benchmark is, and what it is doing."""

    progress: Progress

    def say(self, step: str) -> None:
        self.progress.update(self.progress.task_ids[0], description=step, refresh=True)

    def advance(self) -> None:
        self.progress.update(self.progress.task_ids[0], advance=1, refresh=True)


@contextmanager
def bar(steps: int) -> Iterator[Bar]:
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    # No automatic refresh: its thread would compete with what is measured.
    console = Console(stderr=True)
    with Progress(*columns, console=console, auto_refresh=False, transient=True) as progress:
        progress.add_task("", total=steps)
        yield Bar(progress)
