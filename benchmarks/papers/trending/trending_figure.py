"""`trending_figure`: a figure of the paper on terms, whose figures differ in little."""

from collections.abc import Callable, Iterator

from benchmarks.figure import Figure, Panel, Ratio, Scale
from benchmarks.trending.points import Point


def trending_figure(
    machine: Scale,
    paper: Scale,
    number: str,
    title: str,
    x_label: str,
    finding: str,
    panels: tuple[Panel, ...],
    points: Callable[[Scale], Iterator[Point]],
    ratios: tuple[Ratio, ...] = (),
) -> Figure:
    """The figure of this number, at these scales."""
    return Figure(
        name=f"trending/{number}",
        title=title,
        x_label=x_label,
        finding=finding,
        panels=panels,
        points=points,
        machine=machine,
        paper=paper,
        ratios=ratios,
    )
