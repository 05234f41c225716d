"""Figure 9: fanout and leaf capacity."""

from collections.abc import Iterator

from benchmarks.contenders import ap_tree
from benchmarks.figure import MATCHING, Figure, Panel, Point, Scale
from benchmarks.workloads import Settings

FANOUTS = (50, 100, 200, 400, 800)
LEAF_CAPACITIES = (5, 10, 20, 40, 80, 160, 400)


def points(scale: Scale) -> Iterator[Point]:
    for data in scale.data:
        settings = Settings(data, scale.subscriptions, scale.messages)
        for fanout in FANOUTS:
            yield Point("fanout", fanout, ap_tree(fanout=fanout), settings, series=data)
        for capacity in LEAF_CAPACITIES:
            contender = ap_tree(leaf_capacity=capacity)
            yield Point("leaf capacity", capacity, contender, settings, series=data)


FIGURE = Figure(
    name="ap-tree/fig-09",
    title="AP-Tree: fanout and leaf capacity",
    x_label="fanout (a), leaf capacity (b)",
    finding=(
        "A fanout too small leaves too few cuts, one too large adapts badly: 200 is a good "
        "middle. Below a leaf capacity of 40 the matching time hardly changes."
    ),
    panels=(
        Panel("(a) fanout", "fanout", *MATCHING, logarithmic_x=True, shows_limit=False),
        Panel(
            "(b) leaf capacity", "leaf capacity", *MATCHING, logarithmic_x=True, shows_limit=False
        ),
    ),
    points=points,
)
