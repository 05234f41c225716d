"""Figure 14 and table 4: three ways of re-evaluation."""

from functools import partial

from benchmarks.figure import Figure, Panel, Ratio
from benchmarks.topk.contenders import named
from benchmarks.topk.points import BUFFERED, MACHINE, PAPER, TIMES, by_data

FIGURE = Figure(
    name="skype/fig-14",
    title="Re-evaluation",
    x_label="",
    finding="cSkyband is 4 to 20 times as fast as the second and keeps 35 messages, not 52 or 58.",
    panels=(*TIMES[1:], Panel("buffers", None, *BUFFERED, shows_limit=False)),
    points=partial(by_data, contenders=named("WordLists", "Skype", "IGPTKmax", "IGPTSkyband")),
    machine=MACHINE,
    paper=PAPER,
    ratios=(Ratio("data", "IGPT-Kmax", "Skype (IGPT-cSkyband)", "4 to 20 (EMP alone)"),),
)
