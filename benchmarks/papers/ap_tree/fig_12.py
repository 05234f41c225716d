"""Figure 12: the indexes on different data sets."""

from collections.abc import Iterator

from benchmarks.contenders import RIVALS
from benchmarks.figure import BUILDING, MATCHING, SIZE, Figure, Panel, Point, Ratio, Scale
from benchmarks.workloads import Settings


def points(scale: Scale) -> Iterator[Point]:
    for data in scale.data:
        settings = Settings(data, scale.subscriptions, scale.messages)
        for contender in RIVALS:
            yield Point("data sets", data, contender, settings)


FIGURE = Figure(
    name="ap-tree/fig-12",
    title="The indexes on different data sets",
    x_label="data set",
    finding=(
        "AP-Tree matches fastest on every data set, on GN 30 times as fast as the second. Rt-"
        "Tree builds fastest. The sizes are alike."
    ),
    panels=(
        Panel("(a) matching", None, *MATCHING),
        Panel("(b) building", None, *BUILDING),
        Panel("(c) size", None, *SIZE),
    ),
    points=points,
    ratios=(
        Ratio("data sets", "RQ-Tree", "AP-Tree", "30 (GN, the second best)", "gnis", "gnis"),
        Ratio("data sets", "IQ-Tree", "RQ-Tree", "above 1 (TWEETS)", "synthetic", "synthetic"),
        Ratio("data sets", "IQ-Tree", "RQ-Tree", "above 1 (GN)", "gnis", "gnis"),
        Ratio("data sets", "Rt-Tree", "IQ-Tree", "far above 1"),
    ),
)
