"""The room `nearcast.trending`: every way to keep lists of terms current, in one run."""

from collections.abc import Iterator

from benchmarks.figure import Figure, Panel, Scale
from benchmarks.trending import memory, steady
from benchmarks.trending.contenders import ROOM
from benchmarks.trending.points import (
    ARRIVING,
    LEAVING,
    MACHINE,
    MATCHING,
    PAPER,
    UPDATING,
    Point,
    by_data,
)

NAME = "trending"


def _points(scale: Scale) -> Iterator[Point]:
    return by_data(scale, ROOM.values())


FIGURE = Figure(
    name=NAME,
    title="Trending terms in regions and around places",
    x_label="",
    finding=(
        "To find out whose lists a document changes, to change them, to register, and to forget a "
        "document, apart. Classes of the paper have fewer subscriptions where they must."
    ),
    panels=(
        Panel("a document comes: regions", "regions", *ARRIVING, shows_limit=False),
        Panel("a document comes: places", "places", *ARRIVING, shows_limit=False),
        Panel("of which matching", None, *MATCHING, shows_limit=False),
        Panel("of which updating lists", None, *UPDATING, shows_limit=False),
        Panel("a document is forgotten", None, *LEAVING, shows_limit=False),
        Panel("a subscription comes", None, "insert_microseconds", "µs", shows_limit=False),
        Panel("memory", None, "bytes_per_subscription", "bytes a subscription", shows_limit=False),
    ),
    points=_points,
    machine=MACHINE,
    paper=PAPER,
)

FIGURES = {figure.name: figure for figure in (FIGURE, memory.FIGURE, steady.FIGURE)}
