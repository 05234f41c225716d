"""Figure 8: the paper's three algorithms."""

from collections.abc import Iterator

from benchmarks.contenders import LFILTER_PARTS
from benchmarks.figure import Figure, Point, Ratio, Scale, compare
from benchmarks.papers.lfilter.message_groups import (
    LENGTH,
    LONG_POINT,
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
        yield from compare(cells(settings), LFILTER_PARTS)


FIGURE = Figure(
    name="lfilter/fig-08",
    title="MBRTrie, PT-Quadtree and LFilter",
    x_label=LENGTH,
    finding=(
        "LFilter is the fastest for all messages. PT-Quadtree is ahead of MBRTrie for points and "
        "behind it for ranges. With range messages of 1,000 words: LFilter 16 ms, the others more "
        "than 50 ms."
    ),
    panels=PANELS,
    points=points,
    machine=MACHINE_SCALE,
    paper=PAPER_SCALE,
    ratios=(
        Ratio(LONG_RANGE, "MBRTrie", "LFilter", "above 3.1 (50+ ms / 16 ms)", -1, -1),
        Ratio(LONG_RANGE, "PT-Quadtree", "LFilter", "above 3.1 (50+ ms / 16 ms)", -1, -1),
        Ratio(LONG_RANGE, "PT-Quadtree", "MBRTrie", "above 1"),
        Ratio(LONG_POINT, "MBRTrie", "PT-Quadtree", "above 1"),
    ),
)
