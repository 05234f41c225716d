"""A figure of a paper: what it varies, what it compares, what the paper found."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from benchmarks.contenders import Contender
from benchmarks.workloads import DATA, Settings


@dataclass(frozen=True)
class Scale:
    """How large, and on which data.

    Figures that vary the number of subscriptions take `sizes`; those that insert most of them one
    by one take `inserted`. A pass over the messages takes about `pass_seconds` at most: a slower
    index gets fewer of them.
    """

    subscriptions: int
    messages: int
    data: tuple[str, ...]
    sizes: tuple[int, ...]
    inserted: int
    pass_seconds: float = 3.0


MACHINE = Scale(
    subscriptions=1_000_000,
    messages=20_000,
    data=DATA,
    sizes=(100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000),
    inserted=200_000,
)
PAPER = Scale(
    subscriptions=5_000_000,
    messages=100_000,
    data=DATA,
    sizes=(1_000_000, 5_000_000, 10_000_000, 15_000_000, 20_000_000),
    inserted=5_000_000,
    pass_seconds=30.0,
)


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
class Cell:
    """One workload that several indexes are measured on, and where it stands in the figure."""

    group: str
    x: float | str
    settings: Settings


def compare(cells: Iterable[Cell], contenders: Iterable[Contender]) -> Iterator[Point]:
    """Every contender on every cell.

    Neighbouring cells with the same subscriptions are taken contender by contender, so that one
    that does not learn from messages is built once for all of them.
    """
    contenders = tuple(contenders)
    for _, same in groupby(cells, key=lambda cell: cell.settings.of_subscriptions):
        together = tuple(same)
        for contender in contenders:
            for cell in together:
                yield Point(cell.group, cell.x, contender, cell.settings)


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
class Ratio:
    """How many times as long the series `over` takes as `under`, and what the paper's text says.

    The places are positions on the x axis, 0 the first and -1 the last, or an x that is a text;
    None: the geometric mean of all.
    """

    group: str
    over: str
    under: str
    paper: str
    over_at: int | str | None = None
    under_at: int | str | None = None


@dataclass(frozen=True)
class Figure:
    """`finding` is what the paper reports, in our words; the plot prints it."""

    name: str
    title: str
    x_label: str
    finding: str
    panels: tuple[Panel, ...]
    points: Callable[[Scale], Iterator[Any]]  # of the kind that its runner measures
    machine: Scale = MACHINE
    paper: Scale = PAPER  # with `--full`
    ratios: tuple[Ratio, ...] = ()


MATCHING = ("microseconds_per_message", "µs per message")
BUILDING = ("build_seconds", "build time (s)")
UPDATING = ("insert_microseconds", "µs per insertion")
SIZE = ("bytes_per_subscription", "bytes per subscription")
