"""Figure 10: figure 9 on the second data set."""

from benchmarks.figure import Figure
from benchmarks.papers.lfilter.fig_09 import ORDERING, rivals_on
from benchmarks.papers.lfilter.message_groups import LENGTH, MACHINE_SCALE, PANELS, PAPER_SCALE

FIGURE = Figure(
    name="lfilter/fig-10",
    title="LFilter and the methods before it, named places (the paper: USA with DBLP)",
    x_label=LENGTH,
    finding="As on tweets: LFilter is the fastest, R^t++-Tree the second, IR-Tree the slowest.",
    panels=PANELS,
    points=rivals_on("gnis", (1, 6)),
    machine=MACHINE_SCALE,
    paper=PAPER_SCALE,
    ratios=ORDERING,
)
