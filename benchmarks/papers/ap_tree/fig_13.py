"""Figure 13: how many keywords a subscription has."""

from collections.abc import Iterator

from benchmarks.contenders import RIVALS
from benchmarks.figure import MATCHING, Figure, Panel, Point, Ratio, Scale
from benchmarks.workloads import Settings

KEYWORDS = (1, 2, 3, 4, 5)
DATA = ("synthetic", "gnis")


def points(scale: Scale) -> Iterator[Point]:
    for data in (data for data in scale.data if data in DATA):
        for count in KEYWORDS:
            settings = Settings(data, scale.subscriptions, scale.messages, words=(count, count))
            for contender in RIVALS:
                yield Point(data, count, contender, settings)


FIGURE = Figure(
    name="ap-tree/fig-13",
    title="How many keywords a subscription has",
    x_label="keywords per subscription",
    finding=(
        "More keywords are faster, as fewer subscriptions match. With a single keyword AP-Tree "
        "is only slightly ahead of RQ-Tree and IQ-Tree, with more of them clearly."
    ),
    panels=tuple(Panel(data, data, *MATCHING) for data in DATA),
    points=points,
    ratios=tuple(
        ratio
        for data in DATA
        for ratio in (
            Ratio(data, "RQ-Tree", "AP-Tree", "slightly above 1", 0, 0),
            Ratio(data, "RQ-Tree", "AP-Tree", "clearly above 1", -1, -1),
        )
    ),
)
