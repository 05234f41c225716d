"""Figure 12: what does group pruning add to individual pruning?"""

from functools import partial

from benchmarks.figure import Figure, Ratio
from benchmarks.topk.contenders import named
from benchmarks.topk.points import MACHINE, PAPER, TIMES, by_data

FIGURE = Figure(
    name="skype/fig-12",
    title="Individual and group pruning",
    x_label="",
    finding="IGPT is at least three times as fast as IPT on every data set.",
    panels=TIMES[:1],
    points=partial(by_data, contenders=named("WordLists", "IPTSkype", "Skype")),
    machine=MACHINE,
    paper=PAPER,
    ratios=(
        Ratio("data", "IPT-cSkyband", "Skype (IGPT-cSkyband)", "3 or more"),
        Ratio("data", "Skype (IGPT-cSkyband)", "WordLists", "not there"),
    ),
)
