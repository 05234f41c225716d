"""What a figure of top-k indexes measures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.figure import Panel, Scale
from benchmarks.topk.contenders import Contender
from benchmarks.topk.workload import Settings

MACHINE = Scale(
    subscriptions=100_000,
    messages=2_000,
    data=("synthetic",),
    sizes=(100_000, 200_000, 300_000, 400_000, 500_000),
    inserted=0,
)
PAPER = Scale(
    subscriptions=1_000_000,
    messages=30_000,
    data=("synthetic", "gnis"),
    sizes=(1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000),
    inserted=0,
)

ARRIVING = ("arriving_microseconds", "arriving message (AMP), µs")
EXPIRING = ("expiring_microseconds", "expired message (EMP), µs")
BUFFERED = ("buffered_per_subscription", "buffered messages a subscription")
TIMES = (
    Panel("a message arrives", None, *ARRIVING, shows_limit=False),
    Panel("a message expires", None, *EXPIRING, shows_limit=False),
)


@dataclass(frozen=True)
class Point:
    """One thing to measure, and where it stands in the figure."""

    group: str
    x: float | str
    contender: Contender
    settings: Settings


def settings_of(scale: Scale, data: str = "synthetic") -> Settings:
    """The defaults at a scale: as many messages in the window as there are subscriptions."""
    return Settings(
        data=data,
        subscriptions=scale.subscriptions,
        window=scale.subscriptions,
        messages=scale.messages,
    )


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


def by_data(scale: Scale, contenders: Iterable[Contender]) -> Iterator[Point]:
    """Each contender on each data set."""
    contenders = tuple(contenders)
    for data in scale.data:
        for contender in contenders:
            x = f"{data}, {scale.subscriptions:,}"
            yield Point("data", x, contender, settings_of(scale, data))
