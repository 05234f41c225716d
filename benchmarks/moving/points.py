"""What a figure of indexes of moving subscriptions measures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.figure import Panel, Scale
from benchmarks.moving.contenders import Contender
from benchmarks.moving.workload import Settings

MACHINE = Scale(
    subscriptions=100_000,
    messages=100_000,
    data=("synthetic",),
    sizes=(50_000, 100_000, 150_000, 200_000, 250_000),
    inserted=0,
)
PAPER = Scale(
    subscriptions=1_000_000,
    messages=1_000_000,
    data=("synthetic", "gnis"),
    sizes=(500_000, 1_000_000, 1_500_000, 2_000_000, 2_500_000),
    inserted=0,
)

MESSAGE = ("microseconds_per_message", "incoming message (IMM), µs")
MOVE = ("microseconds_per_move", "moving subscription (MSP), µs")
INSERTING = ("inserting_microseconds", "message insertion (MI), µs")
RELOCATING = ("relocating_microseconds", "subscriber location update (SLU), µs")
REPORTS = ("reports", "positions that clients report")
SIZE = ("bytes_per_subscription", "bytes a subscription")


def panel(title: str, quantity: tuple[str, str]) -> Panel:
    """One of these quantities, of all groups."""
    return Panel(title, None, *quantity, shows_limit=False)


@dataclass(frozen=True)
class Point:
    """One thing to measure, and where it stands in the figure."""

    group: str
    x: float | str
    contender: Contender
    settings: Settings


def settings_of(scale: Scale, data: str = "synthetic") -> Settings:
    """The defaults at a scale."""
    return Settings(data=data, subscriptions=scale.subscriptions, live=scale.messages)


def by_data(scale: Scale, contenders: Iterable[Contender]) -> Iterator[Point]:
    """Each contender on each data set."""
    contenders = tuple(contenders)
    for data in scale.data:
        for contender in contenders:
            x = f"{data}, {scale.subscriptions:,}"
            yield Point("data", x, contender, settings_of(scale, data))


def varied(
    scale: Scale,
    field: str,
    values: Iterable[tuple[float | str, Any]],
    contenders: Iterable[Contender],
) -> Iterator[Point]:
    """A setting takes several values, each given with its x, on every data set of the scale."""
    contenders = tuple(contenders)
    for data in scale.data:
        for x, value in values:
            changed: dict[str, Any] = {field: value}
            settings = replace(settings_of(scale, data), **changed)
            for contender in contenders:
                yield Point(data, x, contender, settings)
