"""Figure 11: into how many parts is alpha divided?"""

from collections.abc import Iterator

from benchmarks.figure import Figure, Scale
from benchmarks.topk.contenders import Contender
from benchmarks.topk.points import MACHINE, PAPER, TIMES, Point, settings_of


def points(scale: Scale) -> Iterator[Point]:
    for data in scale.data:
        for groups in (5, 10, 20, 30, 40):
            contender = Contender("Skype", "Skype (IGPT-cSkyband)", {"groups": groups})
            yield Point(data, groups, contender, settings_of(scale, data))


FIGURE = Figure(
    name="skype/fig-11",
    title="The number of alpha groups",
    x_label="groups",
    finding="10 groups are a good choice on every data set.",
    panels=TIMES[:1],
    points=points,
    machine=MACHINE,
    paper=PAPER,
)
