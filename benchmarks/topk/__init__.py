"""The room `nearcast.topk`: every way to keep lists current, in one run."""

from collections.abc import Iterator

from benchmarks.figure import Figure, Panel, Scale
from benchmarks.topk import distributions
from benchmarks.topk.contenders import ROOM
from benchmarks.topk.growth import FIGURE as GROWTH
from benchmarks.topk.points import BUFFERED, MACHINE, PAPER, TIMES, Point, by_data

NAME = "topk"


def _points(scale: Scale) -> Iterator[Point]:
    return by_data(scale, ROOM.values())


FIGURE = Figure(
    name=NAME,
    title="Top-k lists over a sliding window",
    x_label="",
    finding="Dissemination by IGPT, IPT or CIQ, re-evaluation by cSkyband, Skyband or Kmax.",
    panels=(
        Panel("all", None, "microseconds_per_message", "µs per message", shows_limit=False),
        *TIMES,
        Panel("buffers", None, *BUFFERED, shows_limit=False),
        Panel("memory", None, "bytes_per_subscription", "bytes a subscription", shows_limit=False),
    ),
    points=_points,
    machine=MACHINE,
    paper=PAPER,
)

FIGURES = {figure.name: figure for figure in (FIGURE, GROWTH, distributions.FIGURE)}
