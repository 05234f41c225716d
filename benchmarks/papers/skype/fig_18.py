"""Figure 18: how large is the window?"""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figure import Figure, Scale
from benchmarks.papers.skype.rivals import ORDERING, RIVALS
from benchmarks.topk.points import MACHINE, PAPER, TIMES, Point, settings_of


def points(scale: Scale) -> Iterator[Point]:
    """The number of subscriptions stays as it is."""
    for size in scale.sizes:
        settings = replace(settings_of(scale), window=size)
        for contender in RIVALS:
            yield Point("synthetic", size, contender, settings)


FIGURE = Figure(
    name="skype/fig-18",
    title="The size of the window",
    x_label="messages in the window",
    finding="Arriving messages cost less in a larger window, expired ones about the same.",
    panels=TIMES,
    points=points,
    machine=MACHINE,
    paper=PAPER,
    ratios=ORDERING,
)
