"""What a figure of trending terms measures."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from benchmarks import points
from benchmarks.figure import Scale
from benchmarks.trending.contenders import Contender
from benchmarks.trending.workload import Settings

Point: TypeAlias = points.Point[Contender, Settings]

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

SLOW_REGIONS, SLOW_NEARBY = 1_000_000, 50_000
"""Subscriptions with which the classes of the paper are measured where others have more: their
tables of all terms fill the memory, or a document takes them seconds for a million people."""

SLOW_MESSAGES = 20
"""And documents of a pass, around places."""

ARRIVING = ("microseconds_per_message", "µs a document")
MATCHING = ("matching_microseconds", "µs a document")
UPDATING = ("updating_microseconds", "µs a document")
LEAVING = ("expiring_microseconds", "µs a document")


NEARBY_MACHINE = replace(
    MACHINE, subscriptions=2_000, messages=50, sizes=(500, 1_000, 2_000, 4_000)
)
NEARBY_PAPER = replace(PAPER, messages=3_000)


def settings_of(scale: Scale, data: str = "synthetic") -> Settings:
    """The defaults at a scale."""
    return Settings(
        data=data,
        subscriptions=scale.subscriptions,
        documents=min(DOCUMENTS, 10 * scale.messages),
        messages=scale.messages,
    )


def nearby_settings_of(scale: Scale, data: str = "synthetic") -> Settings:
    """The defaults around places, where documents take long and come before subscriptions."""
    documents = min(DOCUMENTS, 200 * scale.messages)
    return replace(settings_of(scale, data), documents=documents, is_nearby=True)


def varied(
    scale: Scale,
    field: str,
    values: Iterable[tuple[float | str, Any]],
    contenders: Iterable[Contender],
    **others: Any,
) -> Iterator[Point]:
    """A setting takes several values, each given with its x, on every data set of the scale.

    `others` are settings that differ from the defaults.
    """
    contenders = tuple(contenders)
    defaults = nearby_settings_of if any(each.is_nearby for each in contenders) else settings_of

    def settings(scale: Scale, data: str) -> Settings:
        return replace(defaults(scale, data), **others)

    return points.varied(scale, field, values, contenders, settings)


def by_data(scale: Scale, contenders: Iterable[Contender]) -> Iterator[Point]:
    """Each contender on each data set; slow ones with fewer, beside whom quick ones have as few."""
    contenders = tuple(contenders)
    for data in scale.data:
        for is_nearby, few in ((False, SLOW_REGIONS), (True, SLOW_NEARBY)):
            takes_part = [each for each in contenders if each.is_nearby == is_nearby]
            usual = (nearby_settings_of if is_nearby else settings_of)(scale, data)
            smaller = usual
            if few < usual.subscriptions:
                messages = min(SLOW_MESSAGES, usual.messages) if is_nearby else usual.messages
                smaller = replace(usual, subscriptions=few, messages=messages)
            group = "places" if is_nearby else "regions"
            for settings in dict.fromkeys((smaller, usual)):
                for contender in takes_part:
                    if settings == smaller or not contender.is_slow:
                        x = f"{data}, {settings.subscriptions:,}"
                        yield Point(group, x, contender, settings)
