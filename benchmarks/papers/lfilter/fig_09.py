"""Figures 9 and 10: LFilter and the methods before it, on two data sets."""

from collections.abc import Callable, Iterator

from benchmarks.contenders import LFILTER_RIVALS
from benchmarks.figure import Figure, Point, Ratio, Scale, compare
from benchmarks.papers.lfilter.message_groups import (
    GROUPS,
    LENGTH,
    LONG_POINT,
    MACHINE_SCALE,
    PANELS,
    PAPER_SCALE,
    cells,
)
from benchmarks.workloads import Settings


def rivals_on(data: str, words: tuple[int, int]) -> Callable[[Scale], Iterator[Point]]:
    def points(scale: Scale) -> Iterator[Point]:
        if data in scale.data:
            settings = Settings(data, scale.subscriptions, scale.messages, words=words)
            yield from compare(cells(settings), LFILTER_RIVALS)

    return points


ORDERING = tuple(
    ratio
    for group in GROUPS
    for ratio in (
        Ratio(group.name, "Rt-Tree", "LFilter", "above 1"),
        Ratio(group.name, "IR-Tree", "Rt-Tree", "above 1"),
    )
)

FIGURE = Figure(
    name="lfilter/fig-09",
    title="LFilter and the methods before it, tweets",
    x_label=LENGTH,
    finding=(
        "LFilter is the fastest, R^t++-Tree the second. With long point messages: IR-Tree more "
        "than 15 ms, R^t++-Tree 10 ms, LFilter 2 to 4 ms."
    ),
    panels=PANELS,
    points=rivals_on("synthetic", (1, 5)),
    machine=MACHINE_SCALE,
    paper=PAPER_SCALE,
    ratios=(
        Ratio(LONG_POINT, "Rt-Tree", "LFilter", "2.5 to 5 (10 ms / 2 to 4 ms)"),
        Ratio(LONG_POINT, "IR-Tree", "LFilter", "above 3.8 to 7.5 (15+ ms / 2 to 4 ms)"),
        *ORDERING,
    ),
)
