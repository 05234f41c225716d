"""Figure 17: how much of the index was built at once."""

from collections.abc import Iterator

from benchmarks.contenders import AP_TREE_NR, RIVALS
from benchmarks.figure import MATCHING, UPDATING, Figure, Panel, Point, Ratio, Scale
from benchmarks.workloads import Settings

BUILT_PERCENTAGES = (10, 30, 50, 70, 90)
DATA = "synthetic"  # the subscriptions' order in time means something there


def points(scale: Scale) -> Iterator[Point]:
    if DATA not in scale.data:
        return
    settings = Settings(DATA, scale.inserted, scale.messages)
    for percentage in BUILT_PERCENTAGES:
        for contender in (*RIVALS, AP_TREE_NR):
            yield Point("built", percentage, contender, settings, built_share=percentage / 100)


FIGURE = Figure(
    name="ap-tree/fig-17",
    title="How much of the index was built at once (the other subscriptions are inserted)",
    x_label="% of the subscriptions built at once",
    finding=(
        "Without rebuilding (NR), matching is slow when little was built at once; with it the "
        "time is steady and below IQ-Tree's and RQ-Tree's. NR inserts fastest, AP-Tree slowest,"
        " in 120 µs."
    ),
    panels=(
        Panel("(a) matching", None, *MATCHING),
        Panel("(b) maintenance", None, *UPDATING),
    ),
    points=points,
    ratios=(
        Ratio("built", "AP-Tree-NR", "AP-Tree", "above 1", 0, 0),
        Ratio("built", "IQ-Tree", "AP-Tree", "far above 1"),
        Ratio("built", "RQ-Tree", "AP-Tree", "far above 1"),
    ),
)
