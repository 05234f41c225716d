"""Figures 10-27 of the AP-Tree paper in the VLDB Journal.

Figures 10 to 17 are experiments of the ICDE paper again, figure 18 is new; from 20 on subscriptions
move. Figure 19, parts of the same times, is not there.
"""

from benchmarks.papers.ap_plus_tree import fig_18, moving_figures

MOVING = moving_figures.FIGURES
FIGURES = {fig_18.FIGURE.name: fig_18.FIGURE, **MOVING}

# Figures of the journal, and the same experiments of the conference. Its figure 10, the order of
# keywords, is not in the journal.
SAME_AS = {
    "vldbj/fig-10": "ap-tree/fig-09",
    **{f"vldbj/fig-{number}": f"ap-tree/fig-{number}" for number in range(11, 18)},
}
