"""`Figures`: how the demo is going, and how it went, in words and for machines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figures:
    """At one moment.

    - `by_stream`, `by_webhook`: deliveries
    - `lag`: rows of the log that the pipeline has not read yet; None: it has not said
    - `median_milliseconds`: from publishing to delivery
    - `newest`: who heard what last
    """

    clock: str
    seconds: float
    subscriptions: int
    messages: int
    matches: int
    by_stream: int
    by_webhook: int
    lag: int | None
    median_milliseconds: float | None
    newest: tuple[str, str] | None = None

    @property
    def deliveries(self) -> int:
        """In all."""
        return self.by_stream + self.by_webhook

    def line(self) -> str:
        """While it runs."""
        words = (
            f"{self.clock}  {self.messages:,} messages, {self.matches:,} matches, "
            f"{self.deliveries:,} deliveries"
        )
        if self.lag is not None:
            words += f", lag {self.lag:,}"
        if self.median_milliseconds is not None:
            words += f", {self.median_milliseconds:,.0f} ms to deliver"
        return words

    def heard(self) -> str:
        """What somebody heard last; empty before that."""
        return "" if self.newest is None else f"{self.newest[0]} hears: {self.newest[1]}"

    def summary(self) -> str:
        """When it is over."""
        if not self.messages:
            return "Ended before the first message."
        words = (
            f"In {self.seconds:.0f} s, {self.messages:,} messages met {self.subscriptions:,} "
            f"subscriptions: {self.matches:,} matches, {self.deliveries:,} deliveries "
            f"({self.by_stream:,} by stream, {self.by_webhook:,} by webhook)"
        )
        if self.median_milliseconds is not None:
            words += f", half of them within {self.median_milliseconds:,.0f} ms of publishing"
        return f"{words}."

    def record(self) -> dict[str, Any]:
        """For machines."""
        shown = asdict(self) | {"deliveries": self.deliveries}
        return {name: value for name, value in shown.items() if name not in ("clock", "newest")}
