"""Figure 10: the order of keywords."""

from collections.abc import Iterator

from benchmarks.contenders import ORDERS
from benchmarks.figure import MATCHING, Figure, Panel, Point, Scale
from benchmarks.workloads import Settings


def points(scale: Scale) -> Iterator[Point]:
    for data in scale.data:
        settings = Settings(data, scale.subscriptions, scale.messages)
        for contender in ORDERS:
            yield Point("order", data, contender, settings)


FIGURE = Figure(
    name="ap-tree/fig-10",
    title="AP-Tree: the order of keywords",
    x_label="data set",
    finding=(
        "Frequent keywords first (Tf) is the fastest order on every data set, because rare "
        "keywords then are cut finely at the lower levels."
    ),
    panels=(Panel("matching", None, *MATCHING),),
    points=points,
)
