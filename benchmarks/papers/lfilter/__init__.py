"""Figures 7-11 of "A Cost-based Method for Location-Aware Publish/Subscribe Services".

Yu, Li, Feng; CIKM 2015.
"""

from benchmarks.papers.lfilter import fig_07, fig_08, fig_09, fig_10, fig_11

_MODULES = (fig_07, fig_08, fig_09, fig_10, fig_11)
FIGURES = {module.FIGURE.name: module.FIGURE for module in _MODULES}
