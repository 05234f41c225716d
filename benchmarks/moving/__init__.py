"""The room `nearcast.moving`: every index of moving subscriptions, in one run."""

from collections.abc import Iterator

from benchmarks.figure import Figure, Scale
from benchmarks.moving import memory
from benchmarks.moving.contenders import ROOM
from benchmarks.moving.points import MACHINE, MESSAGE, MOVE, PAPER, SIZE, Point, by_data, panel

NAME = "moving"


def _points(scale: Scale) -> Iterator[Point]:
    return by_data(scale, ROOM.values())


FIGURE = Figure(
    name=NAME,
    title="Subscriptions that move over live messages",
    x_label="",
    finding="Incoming messages and moving subscriptions apart; answers are checked at the end.",
    panels=(
        panel("a message arrives, another expires", MESSAGE),
        panel("a subscription moves", MOVE),
        panel("memory", SIZE),
    ),
    points=_points,
    machine=MACHINE,
    paper=PAPER,
)

FIGURES = {figure.name: figure for figure in (FIGURE, memory.FIGURE)}
