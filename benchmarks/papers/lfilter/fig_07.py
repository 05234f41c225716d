"""Figure 7: how MBRTrie finds the children whose words a message has."""

from collections.abc import Iterator

from benchmarks.contenders import PROBINGS
from benchmarks.figure import Figure, Point, Ratio, Scale, compare
from benchmarks.papers.lfilter.message_groups import (
    LENGTH,
    LONG_RANGE,
    MACHINE_SCALE,
    PANELS,
    PAPER_SCALE,
    cells,
)
from benchmarks.workloads import Settings

DATA = "synthetic"


def points(scale: Scale) -> Iterator[Point]:
    if DATA in scale.data:
        settings = Settings(DATA, scale.subscriptions, scale.messages)
        yield from compare(cells(settings), PROBINGS)


FIGURE = Figure(
    name="lfilter/fig-07",
    title="MBRTrie: ways to probe the children of a node",
    x_label=LENGTH,
    finding=(
        "The choice by cost is the fastest. With range messages of 1,000 words: ProbeTrie 98 ms, "
        "ProbeTokenSet 72 ms, CostBasedProbe 56 ms."
    ),
    panels=PANELS,
    points=points,
    machine=MACHINE_SCALE,
    paper=PAPER_SCALE,
    ratios=(
        Ratio(LONG_RANGE, "ProbeTrie", "CostBasedProbe", "1.75 (98 ms / 56 ms)", -1, -1),
        Ratio(LONG_RANGE, "ProbeTokenSet", "CostBasedProbe", "1.29 (72 ms / 56 ms)", -1, -1),
    ),
)
