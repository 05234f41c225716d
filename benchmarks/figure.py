"""A figure of a paper: what it varies, what it compares, what the paper found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.contenders import Contender
from benchmarks.workloads import Settings


@dataclass(frozen=True)
class Scale:
    """How large, and on which data.

    Figures that vary the number of subscriptions take `sizes`; those that insert most of them one
    by one take `inserted`.
    """

    subscriptions: int
    messages: int
    data: tuple[str, ...]
    sizes: tuple[int, ...]
    inserted: int


@dataclass(frozen=True)
class Point:
    """One thing to measure, and where it stands in the figure."""

    group: str  # panels choose by it
    x: float | str
    contender: Contender
    settings: Settings
    series: str = ""  # by default the contender's
    built_share: float = 1.0


@dataclass(frozen=True)
class Panel:
    """One pair of axes; a text as x makes bars, a number makes lines."""

    title: str
    group: str | None  # None: every group
    y: str  # a field of the records
    y_label: str
    logarithmic_x: bool = False
    shows_limit: bool = True


@dataclass(frozen=True)
class Figure:
    """`finding` is what the paper reports, in our words; the plot prints it."""

    name: str
    title: str
    x_label: str
    finding: str
    panels: tuple[Panel, ...]
    points: Callable[[Scale], Iterator[Point]]


MATCHING = ("microseconds_per_message", "µs per message")
BUILDING = ("build_seconds", "build time (s)")
UPDATING = ("insert_microseconds", "µs per insertion")
SIZE = ("bytes_per_subscription", "bytes per subscription")
