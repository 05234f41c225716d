"""What a person sees in the terminal while the demo runs; the page has the rest."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from nearcast.demo.figures import Figures

SECONDS_BETWEEN_LINES = 5.0


class Status:
    """In a terminal two lines that change, elsewhere a line every few seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._next = 0.0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def say(self, words: str) -> None:
        """A line that stays."""
        # Only a terminal has a width to keep to.
        soft = not self._console.is_terminal
        self._console.print(words, markup=False, highlight=False, soft_wrap=soft)

    def show(self, figures: Figures) -> None:
        """How it is going."""
        if self._console.is_terminal:
            lines = Text(no_wrap=True, overflow="ellipsis")
            lines.append(figures.line(), "bold")
            lines.append(f"\n{figures.heard()}", "dim")
            self._live.update(lines, refresh=True)
        elif figures.seconds >= self._next:
            self._next = figures.seconds + SECONDS_BETWEEN_LINES
            self.say(f"{figures.line()}; {figures.heard()}".rstrip("; "))
