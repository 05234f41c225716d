"""Figure 17: how many subscriptions are there?"""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figure import Figure, Scale
from benchmarks.papers.skype.rivals import ORDERING, RIVALS
from benchmarks.topk.points import MACHINE, PAPER, TIMES, Point, settings_of


def points(scale: Scale) -> Iterator[Point]:
    """The window stays as it is."""
    for data in scale.data:
        for size in scale.sizes:
            settings = replace(settings_of(scale, data), subscriptions=size)
            for contender in RIVALS:
                yield Point(data, size, contender, settings)


FIGURE = Figure(
    name="skype/fig-17",
    title="The number of subscriptions",
    x_label="subscriptions",
    finding="Both times grow about as the number of subscriptions, or less.",
    panels=TIMES,
    points=points,
    machine=MACHINE,
    paper=PAPER,
    ratios=ORDERING,
)
