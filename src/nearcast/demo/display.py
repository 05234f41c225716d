"""What the loop asks of a display."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from nearcast.demo.simulation import Simulation


class Display(Protocol):
    """Shows the simulation after each tick; a context, so that a terminal is put back in order."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def show(self, simulation: Simulation) -> None:
        """Show where the simulation stands."""
