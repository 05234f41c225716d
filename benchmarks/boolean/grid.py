"""`boolean-grid`: which index is the fastest, workload by workload?

One thing at a time varies around the papers' default workload, for point and for range messages, on
every data set. `python -m benchmarks plot` writes the table and a heat map.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.contenders import ROOM
from benchmarks.figure import MACHINE, PAPER, Cell, Figure, Point, Scale, compare
from benchmarks.workloads import DATA, Settings

NAME = "boolean-grid"
RANGE_AREA = 0.001  # of a range message: 3% of the space along each side


@dataclass(frozen=True)
class Sweep:
    """What varies while the rest is as by default."""

    title: str
    values: tuple[Any, ...]
    vary: Callable[[Settings, Any], Settings]


def _area(settings: Settings, percentage: float) -> Settings:
    return replace(settings, area=(percentage / 100, percentage / 100))


SWEEPS = (
    Sweep("keywords", (1, 2, 3, 4, 5), lambda settings, n: replace(settings, words=(n, n))),
    Sweep("region, % of the space", (0.000001, 0.0001, 0.01, 1.0, 10.0), _area),
    Sweep(
        "words a message",
        (6, 20, 100, 300, 1000),
        lambda settings, n: replace(settings, message_words=n),
    ),
)
MESSAGES = {"point": None, "range": RANGE_AREA}


def cells(scale: Scale, sweeps: tuple[Sweep, ...]) -> Iterator[Cell]:
    for data in scale.data:
        usual = Settings(data, scale.subscriptions, scale.messages)
        for sweep in sweeps:
            for value in sweep.values:
                for kind, area in MESSAGES.items():
                    settings = replace(sweep.vary(usual, value), message_area=area)
                    yield Cell(f"{sweep.title}, {kind} messages", value, settings)


def points(scale: Scale) -> Iterator[Point]:
    return compare(cells(scale, SWEEPS), ROOM.values())


FIGURE = Figure(
    name=NAME,
    title="How much faster is the default index than the best of the others?",
    x_label="data set",
    finding="Above 1, the default is the fastest; else the index named in the cell is.",
    panels=(),  # a heat map instead
    points=points,
    machine=replace(MACHINE, subscriptions=200_000, data=DATA, pass_seconds=0.15),
    paper=replace(PAPER, subscriptions=1_000_000, messages=20_000, data=DATA, pass_seconds=1.0),
)
