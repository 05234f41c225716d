"""A simulated city in the terminal: people talk, and those who asked for it are told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rich.console import Console

from nearcast.demo.display import Display
from nearcast.demo.lines import LineDisplay, summary
from nearcast.demo.loop import play
from nearcast.demo.screen import ScreenDisplay
from nearcast.demo.simulation import Simulation

PEOPLE = 20_000


def run(seconds: float | None) -> int:
    """Show the city for so many seconds, or until Ctrl-C; the exit code is 0 either way.

    A terminal gets a live picture; anything else, a file or a pipe, a line every two seconds. The
    seconds count from the first message on: a first run compiles kernels before that.
    """
    console = Console()
    say = partial(console.print, markup=False, highlight=False, soft_wrap=not console.is_terminal)
    simulation = _prepare(say)
    display: Display
    # Braille dots cannot be written in the encodings of old.
    if console.is_terminal and console.encoding.startswith("utf"):
        display = ScreenDisplay(console)
    else:
        display = LineDisplay(say)
    with display:
        elapsed = play(simulation, display, seconds=seconds)
    say(summary(simulation, elapsed))
    return 0


def _prepare(say: Callable[[str], None]) -> Simulation:
    say(f"A city wakes up: {PEOPLE:,} people say which messages they want, and where ...")
    simulation = Simulation(people=PEOPLE)
    say("Indexing what they said; the first run ever compiles the kernels, for a minute or so ...")
    simulation.open()
    say(f"{len(simulation.broker):,} subscriptions are listening.")
    return simulation
