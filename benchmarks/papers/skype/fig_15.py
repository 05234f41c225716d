"""Figure 15: how many words do subscriptions have?"""

from functools import partial

from benchmarks.figure import Figure
from benchmarks.papers.skype.rivals import ORDERING, RIVALS
from benchmarks.topk.points import MACHINE, PAPER, TIMES, varied

FIGURE = Figure(
    name="skype/fig-15",
    title="The number of words of a subscription",
    x_label="words",
    finding="Arriving messages cost more with more words; expired ones least with two or three.",
    panels=TIMES,
    points=partial(
        varied, field="words", values=[(n, (n, n)) for n in range(1, 6)], contenders=RIVALS
    ),
    machine=MACHINE,
    paper=PAPER,
    ratios=ORDERING,
)
