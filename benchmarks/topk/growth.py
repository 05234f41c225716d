"""`topk-growth`: what do more subscriptions, and a larger window, cost the default on all cores?"""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figure import Figure, Panel, Scale
from benchmarks.topk.contenders import named
from benchmarks.topk.points import MACHINE, PAPER, Point, settings_of

NAME = "topk-growth"


def _points(scale: Scale) -> Iterator[Point]:
    """More subscriptions over the usual window, then the usual ones over other windows."""
    usual = settings_of(scale)
    for contender in named("ParallelLists"):
        for size in scale.sizes:
            yield Point("subscriptions", size, contender, replace(usual, subscriptions=size))
        for share in (4, 1):
            window = usual.window // share
            yield Point("window", window, contender, replace(usual, window=window))


FIGURE = Figure(
    name=NAME,
    title="Top-k lists on two cores",
    x_label="subscriptions, or messages in the window",
    finding="Five times the subscriptions cost less than five times as much.",
    panels=(
        Panel(
            "more subscriptions",
            "subscriptions",
            "microseconds_per_message",
            "µs per message",
            shows_limit=False,
        ),
        Panel(
            "larger windows",
            "window",
            "microseconds_per_message",
            "µs per message",
            shows_limit=False,
        ),
    ),
    points=_points,
    machine=replace(MACHINE, sizes=(MACHINE.sizes[0], MACHINE.sizes[-1])),
    paper=replace(PAPER, sizes=(PAPER.sizes[0], PAPER.sizes[-1])),
)
