"""What a figure of trending terms measures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.figure import Scale
from benchmarks.trending.contenders import Contender
from benchmarks.trending.workload import Settings

MACHINE = Scale(
    subscriptions=100_000,
    messages=1_000,
    data=("synthetic",),
    sizes=(25_000, 50_000, 100_000, 200_000),
    inserted=0,
)
PAPER = Scale(
    subscriptions=10_000_000,
    messages=10_000,
    data=("synthetic",),
    sizes=(10_000_000, 20_000_000, 30_000_000, 40_000_000),
    inserted=0,
)
DOCUMENTS = 10_000
"""Before those that are measured, as in the paper."""

ARRIVING = ("microseconds_per_message", "µs a document")
LEAVING = ("expiring_microseconds", "µs a document")


@dataclass(frozen=True)
class Point:
    """One thing to measure, and where it stands in the figure."""

    group: str
    x: float | str
    contender: Contender
    settings: Settings


def settings_of(scale: Scale, data: str = "synthetic") -> Settings:
    """The defaults at a scale."""
    return Settings(
        data=data,
        subscriptions=scale.subscriptions,
        documents=min(DOCUMENTS, 10 * scale.messages),
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
