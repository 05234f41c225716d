"""Points of the rooms whose figures have settings and contenders of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from benchmarks.figure import Scale

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ContenderOf = TypeVar("ContenderOf")
SettingsOf = TypeVar("SettingsOf", bound="DataclassInstance")


@dataclass(frozen=True)
class Point(Generic[ContenderOf, SettingsOf]):
    """One thing to measure, and where it stands in the figure."""

    group: str
    x: float | str
    contender: ContenderOf
    settings: SettingsOf


def varied(
    scale: Scale,
    field: str,
    values: Iterable[tuple[float | str, Any]],
    contenders: Iterable[ContenderOf],
    settings_of: Callable[[Scale, str], SettingsOf],
) -> Iterator[Point[ContenderOf, SettingsOf]]:
    """A setting takes several values, each given with its x, on every data set of the scale."""
    contenders = tuple(contenders)
    for data in scale.data:
        for x, value in values:
            changed: dict[str, Any] = {field: value}
            settings = replace(settings_of(scale, data), **changed)
            for contender in contenders:
                yield Point(data, x, contender, settings)


def by_data(
    scale: Scale,
    contenders: Iterable[ContenderOf],
    settings_of: Callable[[Scale, str], SettingsOf],
) -> Iterator[Point[ContenderOf, SettingsOf]]:
    """Each contender on each data set."""
    contenders = tuple(contenders)
    for data in scale.data:
        for contender in contenders:
            x = f"{data}, {scale.subscriptions:,}"
            yield Point("data", x, contender, settings_of(scale, data))
