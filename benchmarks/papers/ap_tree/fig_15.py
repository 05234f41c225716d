"""Figure 15: how many subscriptions there are."""

from collections.abc import Iterator

from benchmarks.contenders import RIVALS
from benchmarks.figure import MATCHING, Figure, Panel, Point, Scale
from benchmarks.workloads import Settings

DATA = ("synthetic", "gnis")


def points(scale: Scale) -> Iterator[Point]:
    for data in (data for data in scale.data if data in DATA):
        for count in scale.sizes:
            settings = Settings(data, count, scale.messages)
            for contender in RIVALS:
                yield Point(data, count, contender, settings)


FIGURE = Figure(
    name="ap-tree/fig-15",
    title="How many subscriptions there are",
    x_label="subscriptions",
    finding=(
        "AP-Tree scales best: with 20M subscriptions a message takes 400 µs on TWEETS and 40 µs"
        " on GN."
    ),
    panels=tuple(Panel(data, data, *MATCHING, logarithmic_x=True) for data in DATA),
    points=points,
)
