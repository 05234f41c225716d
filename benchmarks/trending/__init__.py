"""The room `nearcast.trending`: every way to keep lists of terms current, in one run."""

from collections.abc import Iterator

from benchmarks.figure import Figure, Panel, Scale
from benchmarks.trending.contenders import ROOM
from benchmarks.trending.points import ARRIVING, LEAVING, MACHINE, PAPER, Point, by_data

NAME = "trending"


def _points(scale: Scale) -> Iterator[Point]:
    return by_data(scale, ROOM.values())


FIGURE = Figure(
    name=NAME,
    title="Trending terms in regions",
    x_label="",
    finding="Documents that come, documents that are forgotten, and subscriptions, apart.",
    panels=(
        Panel("a document comes", None, *ARRIVING, shows_limit=False),
        Panel("a document is forgotten", None, *LEAVING, shows_limit=False),
        Panel("a subscription comes", None, "insert_microseconds", "µs", shows_limit=False),
        Panel("memory", None, "bytes_per_subscription", "bytes a subscription", shows_limit=False),
    ),
    points=_points,
    machine=MACHINE,
    paper=PAPER,
)
