"""Figure 14: how large the regions are."""

from collections.abc import Iterator

from benchmarks.contenders import RIVALS
from benchmarks.figure import MATCHING, Figure, Panel, Point, Ratio, Scale
from benchmarks.workloads import Settings

PERCENTAGES = (0.000001, 0.00001, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0)
DATA = ("synthetic", "gnis")


def points(scale: Scale) -> Iterator[Point]:
    for data in (data for data in scale.data if data in DATA):
        for percentage in PERCENTAGES:
            share = percentage / 100
            settings = Settings(data, scale.subscriptions, scale.messages, area=(share, share))
            for contender in RIVALS:
                yield Point(data, percentage, contender, settings)


FIGURE = Figure(
    name="ap-tree/fig-14",
    title="How large the regions are",
    x_label="region, % of the space",
    finding=(
        "Larger regions are slower, as more subscriptions match. IQ-Tree is ahead of RQ-Tree "
        "for the smallest regions and behind it for large ones; AP-Tree is the steadiest and "
        "far ahead of both."
    ),
    panels=tuple(Panel(data, data, *MATCHING, logarithmic_x=True) for data in DATA),
    points=points,
    ratios=tuple(
        ratio
        for data in DATA
        for ratio in (
            Ratio(data, "RQ-Tree", "IQ-Tree", "above 1", 0, 0),
            Ratio(data, "IQ-Tree", "RQ-Tree", "above 1", -1, -1),
        )
    ),
)
