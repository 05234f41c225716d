"""Figure 13: dissemination by IGPT and by CIQ."""

from functools import partial

from benchmarks.figure import SIZE, Figure, Panel, Ratio
from benchmarks.topk.contenders import named
from benchmarks.topk.points import MACHINE, PAPER, TIMES, by_data

FIGURE = Figure(
    name="skype/fig-13",
    title="Dissemination",
    x_label="",
    finding="IGPT takes about a tenth of CIQ's time and much less memory.",
    panels=(*TIMES[:1], Panel("memory", None, *SIZE, shows_limit=False)),
    points=partial(by_data, contenders=named("WordLists", "CIQSkype", "Skype")),
    machine=MACHINE,
    paper=PAPER,
    ratios=(Ratio("data", "CIQ-cSkyband", "Skype (IGPT-cSkyband)", "about 10"),),
)
