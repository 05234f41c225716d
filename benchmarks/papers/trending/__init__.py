"""Figures of the paper on top-k term subscriptions (sections 5.2 and 5.3)."""

from benchmarks.papers.trending import places, regions

FIGURES = {figure.name: figure for figure in (*places.FIGURES, *regions.FIGURES)}
