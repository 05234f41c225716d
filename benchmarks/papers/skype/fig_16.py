"""Figure 16: how long are the lists?"""

from functools import partial

from benchmarks.figure import Figure
from benchmarks.papers.skype.rivals import ORDERING, RIVALS
from benchmarks.topk.points import MACHINE, PAPER, TIMES, varied

FIGURE = Figure(
    name="skype/fig-16",
    title="The number of results",
    x_label="k",
    finding="Both times grow slowly with k.",
    panels=TIMES,
    points=partial(
        varied, field="k", values=[(k, k) for k in (10, 20, 30, 40, 50)], contenders=RIVALS
    ),
    machine=MACHINE,
    paper=PAPER,
    ratios=ORDERING,
)
