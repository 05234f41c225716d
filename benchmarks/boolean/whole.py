"""`boolean`: every class of the room on one workload."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.contenders import ROOM
from benchmarks.figure import MACHINE, MATCHING, PAPER, Figure, Panel, Point, Scale
from benchmarks.workloads import DATA, Settings


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
    machine=replace(MACHINE, data=DATA[:1]),
    paper=replace(PAPER, data=DATA[:1]),
)
