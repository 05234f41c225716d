"""Figure 19: words of subscriptions by rank instead of from messages."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figure import Figure, Scale
from benchmarks.papers.skype.rivals import ORDERING, RIVALS
from benchmarks.topk.points import MACHINE, PAPER, TIMES, Point, settings_of


def points(scale: Scale) -> Iterator[Point]:
    for x, is_zipf in (("from messages", False), ("by rank", True)):
        settings = replace(settings_of(scale), is_zipf=is_zipf)
        for contender in RIVALS:
            yield Point("synthetic", x, contender, settings)


FIGURE = Figure(
    name="skype/fig-19",
    title="Words of subscriptions by their rank",
    x_label="words of subscriptions",
    finding="About as fast as with words of messages.",
    panels=TIMES,
    points=points,
    machine=MACHINE,
    paper=PAPER,
    ratios=ORDERING,
)
