"""Figures 10-18 of the AP-Tree paper in the VLDB Journal (section 5.1: subscriptions that stay).

Figures 10 to 17 are experiments of the ICDE paper again; figure 18 is new.
"""

from benchmarks.papers.ap_plus_tree import fig_18

FIGURES = {fig_18.FIGURE.name: fig_18.FIGURE}

# Figures of the journal, and the same experiments of the conference. Its figure 10, the order of
# keywords, is not in the journal.
SAME_AS = {
    "vldbj/fig-10": "ap-tree/fig-09",
    **{f"vldbj/fig-{number}": f"ap-tree/fig-{number}" for number in range(11, 18)},
}
