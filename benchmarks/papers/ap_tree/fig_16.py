"""Figure 16: when a drifted node is rebuilt."""

from collections.abc import Iterator

from benchmarks.contenders import ap_tree
from benchmarks.figure import MATCHING, UPDATING, Figure, Panel, Point, Scale
from benchmarks.workloads import Settings

THRESHOLDS = (0.0001, 0.001, 0.01, 0.1, 0.5)
BUILT_SHARE = 0.2
DATA = "synthetic"  # the subscriptions' order in time means something there


def points(scale: Scale) -> Iterator[Point]:
    if DATA not in scale.data:
        return
    settings = Settings(DATA, scale.inserted, scale.messages)
    for threshold in THRESHOLDS:
        contender = ap_tree(drift_threshold=threshold)
        yield Point("drift", threshold, contender, settings, built_share=BUILT_SHARE)


FIGURE = Figure(
    name="ap-tree/fig-16",
    title="AP-Tree: when a drifted node is rebuilt (20% built at once, the others inserted)",
    x_label="drift threshold (KL divergence)",
    finding=(
        "A small threshold gives faster matching and costlier maintenance; 0.001 is a good middle."
    ),
    panels=(
        Panel("(a) matching", None, *MATCHING, logarithmic_x=True),
        Panel("(b) maintenance", None, *UPDATING, logarithmic_x=True),
    ),
    points=points,
)
