"""The picture of the scale benchmark: laws through what was measured, and what they predicted."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from benchmarks.figure import Figure
from benchmarks.scale import CHECK, LAW, ONE_SHARD
from benchmarks.scale.law import GrowthLaw
from benchmarks.scale.page import HOLDS_WITHIN

Rows = list[dict[str, Any]]

_MARKERS = {"hash": "o", "location": "s", "keyword": "^", "prefix": "D"}


def draw_scale(figure: Figure, rows: Rows) -> Canvas:
    canvas = Canvas(figsize=(12.5, 5.2), layout="constrained")
    canvas.suptitle(figure.title)
    grown, checked = canvas.subplots(1, 2)
    kinds = list(dict.fromkeys(row["series"] for row in rows if row["group"] == LAW))
    colours = {kind: f"C{number}" for number, kind in enumerate(kinds)}
    _draw_laws(grown, rows, colours)
    _draw_checks(checked, rows, colours)
    canvas.legend(loc="outside right upper", fontsize="small")
    canvas.supxlabel(
        f"one core, shards one after the other; within the band predictions are at most "
        f"{HOLDS_WITHIN:.0%} off; {rows[0]['cpu']}",
        fontsize="small",
    )
    return canvas


def _draw_laws(axes: Axes, rows: Rows, colours: dict[str, str]) -> None:
    for row in (row for row in rows if row["group"] == LAW):
        kind = row["series"]
        points = [each for each in rows if (each["group"], each["series"]) == (ONE_SHARD, kind)]
        sizes = [each["x"] for each in points]
        line = np.geomspace(min(sizes), max(sizes), 50)
        telling = row["told_microseconds"] * row["told_per_message_and_subscription"] * line
        taken = GrowthLaw(**row["message"]).at(line) + telling
        axes.plot(line, taken, color=colours[kind], label=kind)
        axes.plot(
            sizes, [each["message_microseconds"] for each in points], "o", color=colours[kind]
        )
    axes.set(
        title="one shard: measured, and the law fitted",
        xlabel="subscriptions in the shard", ylabel="µs a message", xscale="log", yscale="log",
    )  # fmt: skip


def _draw_checks(axes: Axes, rows: Rows, colours: dict[str, str]) -> None:
    checks = [row for row in rows if row["group"] == CHECK]
    ends = np.array([0.5, 2.0]) * (
        min(row["slowest"] for row in checks), max(row["total"] for row in checks)
    )  # fmt: skip
    axes.fill_between(ends, ends * (1 - HOLDS_WITHIN), ends * (1 + HOLDS_WITHIN), color="lightgrey")
    axes.plot(ends, ends, color="grey", linewidth=0.8)
    for distribution, marker in _MARKERS.items():
        axes.plot([], [], marker, color="black", label=distribution)
    for row in checks:
        for part, size in (("total", 7), ("slowest", 4)):
            axes.plot(
                row[part], row[f"predicted_{part}"], _MARKERS[row["distribution"]],
                color=colours[row["series"]], markersize=size, alpha=0.8,
            )  # fmt: skip
    axes.set(
        title="1, 2, 4 shards: all together (large), the slowest (small)",
        xlabel="measured, µs a message", ylabel="predicted before, µs a message",
        xscale="log", yscale="log",
    )  # fmt: skip
