"""Figures 19 to 27: subscriptions that move (section 5.2)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from benchmarks.figure import Figure, Panel, Scale
from benchmarks.moving.contenders import Contender, named
from benchmarks.moving.points import (
    INSERTING,
    MACHINE,
    MESSAGE,
    MOVE,
    PAPER,
    RELOCATING,
    REPORTS,
    SIZE,
    Point,
    settings_of,
    varied,
)

RIVALS = named("WordQuadtrees", "APPlusTree", "IQPlus", "RQPlus", "SSIndex", "KKIndex")
VARIANTS = named("APPlusTree", "APPlusK", "APPlusS")
SAFE = named("APPlusTree", "APPlusTreeSafe")
MAPS = ("ODB", "SAN")


def _figure(
    number: int,
    title: str,
    x_label: str,
    finding: str,
    points: Callable[[Scale], Iterator[Point]],
    *quantities: tuple[str, str],
    logarithmic_x: bool = False,
) -> Figure:
    panels = tuple(
        Panel(label, None, y, label, shows_limit=False, logarithmic_x=logarithmic_x)
        for y, label in quantities
    )
    return Figure(
        name=f"vldbj/fig-{number}",
        title=title,
        x_label=x_label,
        finding=finding,
        panels=panels,
        points=points,
        machine=MACHINE,
        paper=PAPER,
    )


def _of(
    field: str, values: Iterable[float], contenders: tuple[Contender, ...] = RIVALS
) -> Callable[[Scale], Iterator[Point]]:
    pairs = [(value, value) for value in values]
    return lambda scale: varied(scale, field, pairs, contenders)


def _on_every_map(contenders: tuple[Contender, ...]) -> Callable[[Scale], Iterator[Point]]:
    def points(scale: Scale) -> Iterator[Point]:
        for data in scale.data:
            for roads in MAPS:
                settings = replace(settings_of(scale, data), roads=roads)
                for contender in contenders:
                    yield Point("data", f"{data}-{roads}", contender, settings)

    return points


def _sizes(contenders: tuple[Contender, ...]) -> Callable[[Scale], Iterator[Point]]:
    def points(scale: Scale) -> Iterator[Point]:
        for size in scale.sizes:
            same = replace(scale, subscriptions=size, messages=size)
            for contender in contenders:
                yield Point("sizes", size, contender, settings_of(same))

    return points


def _with_clients(field: str, values: Iterable[float]) -> Callable[[Scale], Iterator[Point]]:
    """All subscribers move, few messages come, and regions are circles."""

    def points(scale: Scale) -> Iterator[Point]:
        usual = replace(settings_of(scale), mobility=1.0, arrivals=0.01, circles=True)
        for value in values:
            # Counts of subscribers are shares of the scale's.
            set_to = max(1, round(value * scale.subscriptions)) if field != "arrivals" else value
            for contender in SAFE:
                changed: dict[str, Any] = {field: set_to}
                yield Point("clients", set_to, contender, replace(usual, **changed))

    return points


_ALL = (
    _figure(
        19, "What the indexes do beside searching", "", "Messages go faster into SS-Index and "
        "KK-Index than into trees; IQ+ and RQ+ are slow to find new cells for those who moved.",
        _on_every_map(RIVALS), INSERTING, RELOCATING,
    ),
    _figure(
        20, "Variants of the AP+-Tree", "", "With messages in its own nodes a tree is nearly ten "
        "times as fast when subscriptions move, and a little slower when messages come.",
        _on_every_map(VARIANTS), MESSAGE, MOVE,
    ),
    _figure(
        21, "Data sets", "", "AP+-Tree is the best on all four, for moves by up to 30 times.",
        _on_every_map(RIVALS), MESSAGE, MOVE, SIZE,
    ),
    _figure(
        22, "Mobility", "share of subscribers who move in a timestamp",
        "AP+-Tree beats all rivals by a large margin.",
        _of("mobility", (0.1, 0.2, 0.4, 0.6, 0.8)), MOVE,
    ),
    _figure(
        23, "Velocity", "multiple of the medium velocity",
        "Slow subscribers match more, fast ones gain less from what stays the same.",
        _of("velocity", (0.5, 1.0, 2.0, 3.0, 4.0)), MOVE,
    ),
    _figure(
        24, "Regions", "share of the map", "AP+-Tree's time grows much slower than its rivals'.",
        _of("area", (1e-8, 1e-6, 1e-4, 1e-2, 1e-1)), MOVE, logarithmic_x=True,
    ),
    _figure(
        25, "Subscriptions", "subscriptions, and as many messages", "AP+-Tree scales well.",
        _sizes(RIVALS), MESSAGE, MOVE,
    ),
    _figure(
        26, "Safe regions: subscribers", "subscriptions",
        "Safe regions spare communication for some more time.",
        _with_clients("subscriptions", (1e-3, 1e-2, 0.1, 1.0)), MESSAGE, MOVE, REPORTS,
        logarithmic_x=True,
    ),
    _figure(
        27, "Safe regions: messages", "new messages of a timestamp, as a share of the live ones",
        "Much as in figure 26.",
        _with_clients("arrivals", (0.01, 0.02, 0.03, 0.04, 0.05)), MESSAGE, MOVE, REPORTS,
    ),
)  # fmt: skip
FIGURES = {figure.name: figure for figure in _ALL}
