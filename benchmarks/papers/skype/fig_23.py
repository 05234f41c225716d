"""Figure 23: longer lists, on 32 shards."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figure import Figure, Scale
from benchmarks.topk.distributions import (
    MACHINE,
    PAPER,
    REPLICAS,
    SHARDS,
    SLOWEST,
    contender,
    panels,
    settings_of,
)
from benchmarks.topk.points import Point


def points(scale: Scale) -> Iterator[Point]:
    for k in (10, 20, 30, 40, 50):
        settings = replace(settings_of(scale), k=k)
        for name in ("hash", "location", "prefix"):
            yield Point("synthetic", k, contender(name, SHARDS[-1]), settings)


FIGURE = Figure(
    name="skype/fig-23",
    title="Longer lists on 32 shards",
    x_label="k",
    finding="Throughput falls slowly with k.",
    panels=panels(SLOWEST, REPLICAS),
    points=points,
    machine=MACHINE,
    paper=PAPER,
)
