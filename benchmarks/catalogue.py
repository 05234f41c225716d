"""Every benchmark by its name."""

import re

from benchmarks import boolean, moving, topk, trending
from benchmarks.figure import Figure
from benchmarks.papers import ap_plus_tree, ap_tree, lfilter, skype
from benchmarks.papers import trending as trending_paper
from benchmarks.pipeline.figure import FIGURE as PIPELINE
from benchmarks.scale import FIGURE as SCALE
from benchmarks.service.figure import FIGURE as SERVICE

CATALOGUE: dict[str, Figure] = {
    **boolean.FIGURES,
    **moving.FIGURES,
    **topk.FIGURES,
    **trending.FIGURES,
    PIPELINE.name: PIPELINE,
    SERVICE.name: SERVICE,
    SCALE.name: SCALE,
    **ap_tree.FIGURES,
    **ap_plus_tree.FIGURES,
    **lfilter.FIGURES,
    **skype.FIGURES,
    **trending_paper.FIGURES,
}


def find(name: str) -> Figure:
    """The benchmark of this name; `fig-9` is `fig-09`.

    A figure that two papers share has a name in each, and is measured and drawn once.
    """
    padded = re.sub(r"fig-(\d)$", r"fig-0\1", name)
    padded = ap_plus_tree.SAME_AS.get(padded, padded)
    if padded not in CATALOGUE:
        raise ValueError(f"there is no benchmark {name!r}; there are {', '.join(CATALOGUE)}")
    return CATALOGUE[padded]
