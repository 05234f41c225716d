"""Time for the demo: a tick, a picture, a pause."""

from __future__ import annotations

import time
from collections.abc import Callable

from nearcast.demo.display import Display
from nearcast.demo.simulation import Simulation

TICK_SECONDS = 0.2
"""A second of city time passes in this much real time."""


def play(
    simulation: Simulation,
    display: Display,
    *,
    seconds: float | None,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> float:
    """Tick and show until the time is up or Ctrl-C is pressed; returns the seconds it took."""
    begin = due = clock()
    end = float("inf") if seconds is None else begin + seconds
    try:
        while clock() < end:
            simulation.tick()
            display.show(simulation)
            # A machine too slow for the pace drops behind instead of trying to catch up.
            due = min(max(due + TICK_SECONDS, clock()), end)
            wait(max(0.0, due - clock()))
    except KeyboardInterrupt:
        pass  # the way to end a demo without an end
    return clock() - begin
