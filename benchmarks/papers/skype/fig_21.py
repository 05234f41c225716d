"""Figure 21, with Table 5: which distribution, on 32 shards?"""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figure import Figure, Scale
from benchmarks.topk.distributions import (
    MACHINE,
    OF_HASH,
    PAPER,
    REPLICAS,
    SHARDS,
    SLOWEST,
    by_shards,
    panels,
)
from benchmarks.topk.points import Point


def points(scale: Scale) -> Iterator[Point]:
    for point in by_shards(scale, SHARDS[-1:]):
        yield replace(point, x=point.settings.data)


FIGURE = Figure(
    name="skype/fig-21",
    title="Distributions on 32 shards",
    x_label="",
    finding="On tweets prefix is half as fast again as hash, location a little faster, keyword the "
    "slowest; keyword and prefix send a fifth of what hash sends. Replicas: 1, 1, 3.2, 1.9.",
    panels=panels(SLOWEST, OF_HASH, REPLICAS),
    points=points,
    machine=MACHINE,
    paper=PAPER,
)
