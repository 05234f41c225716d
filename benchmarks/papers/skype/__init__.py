"""Figures 10-20 of "Skype: top-k spatial-keyword publish/subscribe over sliding window".

Wang, Zhang, Zhang, Lin, Huang; VLDB Journal 2017. One machine; its figures 21-24 are of a cluster.
"""

from benchmarks.papers.skype import (
    fig_10,
    fig_11,
    fig_12,
    fig_13,
    fig_14,
    fig_15,
    fig_16,
    fig_17,
    fig_18,
    fig_19,
    fig_20,
)

_MODULES = (
    fig_10, fig_11, fig_12, fig_13, fig_14, fig_15, fig_16, fig_17, fig_18, fig_19, fig_20,
)  # fmt: skip
FIGURES = {module.FIGURE.name: module.FIGURE for module in _MODULES}
