"""Figure 24: more and more subscriptions, on 32 shards."""

from collections.abc import Iterator

from benchmarks.figure import Figure, Scale
from benchmarks.topk.distributions import MACHINE, PAPER, SLOWEST, panels, varied_size
from benchmarks.topk.points import Point


def points(scale: Scale) -> Iterator[Point]:
    return varied_size(scale, ("hash", "location", "prefix"))


FIGURE = Figure(
    name="skype/fig-24",
    title="More subscriptions on 32 shards",
    x_label="subscriptions",
    finding="The time of a message grows in proportion to the number of subscriptions.",
    panels=panels(SLOWEST),
    points=points,
    machine=MACHINE,
    paper=PAPER,
)
