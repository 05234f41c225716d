"""Figures 9-17 of "AP-Tree: Efficiently Support Continuous Spatial-Keyword Queries Over Stream".

Wang, Zhang, Zhang, Lin, Wang; ICDE 2015.
"""

from benchmarks.papers.ap_tree import (
    fig_09,
    fig_10,
    fig_11,
    fig_12,
    fig_13,
    fig_14,
    fig_15,
    fig_16,
    fig_17,
)

_MODULES = (fig_09, fig_10, fig_11, fig_12, fig_13, fig_14, fig_15, fig_16, fig_17)
FIGURES = {module.FIGURE.name: module.FIGURE for module in _MODULES}
