"""The room `nearcast.boolean`: every class on one workload."""

from collections.abc import Iterator

from benchmarks.contenders import ROOM
from benchmarks.figure import MATCHING, Figure, Panel, Point, Scale
from benchmarks.workloads import Settings


def points(scale: Scale) -> Iterator[Point]:
    for data in scale.data:
        settings = Settings(data, scale.subscriptions, scale.messages)
        for contender in ROOM.values():
            x = f"{data}, {scale.subscriptions:,}"
            yield Point("room", x, contender, settings, series=contender.index)


FIGURE = Figure(
    name="boolean",
    title="Which subscriptions want this message?",
    x_label="data set, subscriptions",
    finding="limit: one cache miss a keyword and one write a match, and nothing else.",
    panels=(Panel("matching", None, *MATCHING),),
    points=points,
)
