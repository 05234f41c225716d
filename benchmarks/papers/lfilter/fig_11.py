"""Figure 11: LFilter with more and more subscriptions."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.contenders import LFILTER
from benchmarks.figure import Figure, Point, Ratio, Scale, compare
from benchmarks.papers.lfilter.message_groups import (
    LONG_RANGE,
    MACHINE_SCALE,
    PANELS,
    PAPER_SCALE,
    cells,
)
from benchmarks.workloads import Settings

DATA = "synthetic"


def points(scale: Scale) -> Iterator[Point]:
    """A line for each length of the messages."""
    if DATA not in scale.data:
        return
    for count in scale.sizes:
        for point in compare(cells(Settings(DATA, count, scale.messages)), LFILTER):
            yield replace(point, x=count, series=f"{point.x} words")


FIGURE = Figure(
    name="lfilter/fig-11",
    title="LFilter: how many subscriptions there are",
    x_label="subscriptions",
    finding=(
        "The time grows nearly linearly. With range messages of 600 words: 6 ms with 2 million "
        "subscriptions, 16 ms with 10 million."
    ),
    panels=tuple(replace(panel, shows_limit=False) for panel in PANELS),
    points=points,
    machine=MACHINE_SCALE,
    paper=PAPER_SCALE,
    ratios=(
        Ratio(
            LONG_RANGE,
            "600 words",
            "600 words",
            "2.7 (16 ms / 6 ms) for 5 times the subscriptions",
            over_at=-1,
            under_at=0,
        ),
    ),
)
