"""Every benchmark by its name."""

import re

from benchmarks import boolean
from benchmarks.figure import Figure
from benchmarks.papers import ap_tree
from benchmarks.pipeline.figure import FIGURE as PIPELINE
from benchmarks.service.figure import FIGURE as SERVICE

CATALOGUE: dict[str, Figure] = {
    boolean.FIGURE.name: boolean.FIGURE,
    PIPELINE.name: PIPELINE,
    SERVICE.name: SERVICE,
    **ap_tree.FIGURES,
}


def find(name: str) -> Figure:
    """The benchmark of this name; `fig-9` is `fig-09`."""
    padded = re.sub(r"fig-(\d)$", r"fig-0\1", name)
    if padded not in CATALOGUE:
        raise ValueError(f"there is no benchmark {name!r}; there are {', '.join(CATALOGUE)}")
    return CATALOGUE[padded]
