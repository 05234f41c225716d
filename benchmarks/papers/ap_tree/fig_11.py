"""Figure 11: variants of the AP-Tree."""

from collections.abc import Iterator

from benchmarks.contenders import VARIANTS
from benchmarks.figure import BUILDING, MATCHING, Figure, Panel, Point, Ratio, Scale
from benchmarks.workloads import Settings

AREA = (0.00001, 0.00001)  # the paper's 0.001% of the space for this figure


def points(scale: Scale) -> Iterator[Point]:
    for data in scale.data:
        settings = Settings(data, scale.subscriptions, scale.messages, area=AREA)
        for contender in VARIANTS:
            yield Point("variants", data, contender, settings)


FIGURE = Figure(
    name="ap-tree/fig-11",
    title="Variants of the AP-Tree, regions of 0.001% of the space",
    x_label="data set",
    finding=(
        "The optimal partition (DP) matches fastest, the heuristic (HR) nearly as fast and "
        "builds far quicker. Always keywords first, always space first, and a trie with "
        "quadtrees are all slower."
    ),
    panels=(
        Panel("(a) matching", None, *MATCHING),
        Panel("(b) building", None, *BUILDING),
    ),
    points=points,
    ratios=tuple(
        Ratio("variants", variant, "HR", "above 1") for variant in ("KFirst", "SFirst", "Trie-Qd")
    ),
)
