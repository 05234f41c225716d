"""Figures 10-24 of "Skype: top-k spatial-keyword publish/subscribe over sliding window".

Wang, Zhang, Zhang, Lin, Huang; VLDB Journal 2017. Figures 21-24 are of a
cluster, here of shards in one process.
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
    fig_21,
    fig_22,
    fig_23,
    fig_24,
)

_MODULES = (
    fig_10, fig_11, fig_12, fig_13, fig_14, fig_15, fig_16, fig_17, fig_18, fig_19, fig_20,
    fig_21, fig_22, fig_23, fig_24,
)  # fmt: skip
FIGURES = {module.FIGURE.name: module.FIGURE for module in _MODULES}
DISTRIBUTED = tuple(module.FIGURE.name for module in (fig_21, fig_22, fig_23, fig_24))
