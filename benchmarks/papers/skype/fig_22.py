"""Figure 22: more and more shards."""

from collections.abc import Iterator

from benchmarks.figure import Figure, Scale
from benchmarks.topk.distributions import (
    MACHINE,
    OF_HASH,
    PAPER,
    SHARDS,
    SLOWEST,
    by_shards,
    panels,
)
from benchmarks.topk.points import Point


def points(scale: Scale) -> Iterator[Point]:
    return by_shards(scale, SHARDS[1:], ("hash", "location", "prefix"))


FIGURE = Figure(
    name="skype/fig-22",
    title="The number of shards",
    x_label="shards",
    finding="All scale; prefix is behind with 4 or 8 shards and ahead with 16 or 32.",
    panels=panels(SLOWEST, OF_HASH),
    points=points,
    machine=MACHINE,
    paper=PAPER,
)
