"""The demo as lines of text: while it runs without a terminal, and when it is over."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from nearcast.demo.simulation import Simulation

TICKS_PER_LINE = 10


class LineDisplay:
    """A line every ten ticks, with the newest message that one of the people got."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def show(self, simulation: Simulation) -> None:
        """Print where the simulation stands, now and then."""
        if simulation.ticks % TICKS_PER_LINE == 0:
            self._say(line(simulation))


def line(simulation: Simulation) -> str:
    """Where the simulation stands, in one line."""
    text = (
        f"{simulation.time_of_day}  {simulation.messages:,} messages, "
        f"{simulation.matches:,} matches, "
        f"{simulation.rates.microseconds_per_message:.0f} µs a message"
    )
    if simulation.latest:
        name, delivery = max(simulation.latest.items(), key=lambda item: item[1].tick)
        text += f"; {name} hears: {delivery.message.text}"
    return text


def summary(simulation: Simulation, seconds: float) -> str:
    """What happened, in a few lines."""
    lines = [
        f"In {seconds:.0f} s, {simulation.messages:,} messages met "
        f"{len(simulation.broker):,} subscriptions: {simulation.matches:,} matches."
    ]
    for subscription, received in simulation.busiest(1):
        lines.append(
            f"Busiest: {subscription.id} got {received:,}, asking for {subscription.expression}, "
            f"{simulation.region_of(subscription)}."
        )
    told = sorted(filter(simulation.got, simulation.people), key=simulation.got, reverse=True)
    if told:
        numbers = ", ".join(f"{person.name} {simulation.got(person):,}" for person in told)
        lines.append(f"Messages that the people you watched got: {numbers}.")
    return "\n".join(lines)
