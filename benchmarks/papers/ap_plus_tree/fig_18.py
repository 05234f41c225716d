"""Figure 18: general boolean expressions."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.contenders import RIVALS
from benchmarks.figure import MATCHING, Figure, Panel, Point, Scale
from benchmarks.workloads import Settings

KEYWORDS = (3, 4, 5, 6, 7)
USUAL_KEYWORDS = 5
DATA = "synthetic"


def points(scale: Scale) -> Iterator[Point]:
    if DATA not in scale.data:
        return
    usual = Settings(
        DATA,
        scale.subscriptions,
        scale.messages,
        words=(USUAL_KEYWORDS, USUAL_KEYWORDS),
        expressions=True,
    )
    for count in KEYWORDS:
        for contender in RIVALS:
            yield Point("keywords", count, contender, replace(usual, words=(count, count)))
    for count in scale.sizes:
        for contender in RIVALS:
            yield Point("subscriptions", count, contender, replace(usual, subscriptions=count))


FIGURE = Figure(
    name="vldbj/fig-18",
    title="General boolean expressions",
    x_label="keywords per subscription (a), subscriptions (b)",
    finding=(
        "With 3 to 7 keywords the times hardly change: more clauses, each more selective. AP-Tree "
        "gains most from many keywords and scales well."
    ),
    panels=(
        Panel("(a) keywords", "keywords", *MATCHING),
        Panel("(b) subscriptions", "subscriptions", *MATCHING, logarithmic_x=True),
    ),
    points=points,
)
