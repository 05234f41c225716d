"""Figure 20: a window of time."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figure import Figure, Scale
from benchmarks.papers.skype.rivals import ORDERING, RIVALS
from benchmarks.topk.points import MACHINE, PAPER, TIMES, Point, settings_of


def points(scale: Scale) -> Iterator[Point]:
    for k in (10, 20, 30, 40, 50):
        settings = replace(settings_of(scale), k=k, is_timed=True)
        for contender in RIVALS:
            yield Point("synthetic", k, contender, settings)


FIGURE = Figure(
    name="skype/fig-20",
    title="A window of time",
    x_label="k",
    finding="Skype is ten times as fast as CIQ-Kmax with a window of time, too.",
    panels=TIMES,
    points=points,
    machine=MACHINE,
    paper=PAPER,
    ratios=ORDERING,
)
