"""Draw what was measured. Reads result files, measures nothing."""

from collections.abc import Iterable
from itertools import cycle, zip_longest
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from benchmarks import scale
from benchmarks.boolean import extremes, grid, grid_table, recommend
from benchmarks.catalogue import CATALOGUE
from benchmarks.figure import Figure, Panel
from benchmarks.heat_map import draw_heat_map
from benchmarks.pipeline.figure import FIGURE as PIPELINE
from benchmarks.records import read_rows
from benchmarks.scale.draw import draw_scale

Rows = list[dict[str, Any]]

_DRAWN_BY = {grid.NAME: draw_heat_map, scale.NAME: draw_scale}  # the others are panels
_TABLES = {
    grid.NAME: grid_table.write_table,
    extremes.NAME: extremes.write_table,
    recommend.NAME: recommend.write_table,
}

# Without grey, which is the limit's.
_PALETTE = (*(f"C{number}" for number in (0, 1, 2, 3, 4, 5, 6, 8, 9)), "black", "gold", "navy")
_MOST_ACROSS = 4  # panels
_MOST_TICKS = 10  # more labels would run into one another
_MOST_SIDE_BY_SIDE = 12  # bars whose values have room beside each other
_WIDEST_NAMES = 40  # letters of places that have
_WIDE_RANGE = 30  # above this ratio the small values could not be read off a linear axis

mpl.use("agg")  # writes files; needs no screen


def plot_folder(folder: Path) -> list[Path]:
    """A picture or a table, or both, beside the result files for each benchmark in them."""
    rows = [{**row.get("details", {}), **row} for row in read_rows(folder)]  # old ones have none
    drawn = []
    for name in sorted({row["name"] for row in rows} & set(CATALOGUE)):
        path = folder / f"{name.replace('/', '-')}.png"
        chosen = [row for row in rows if row["name"] == name]
        if name in _DRAWN_BY or CATALOGUE[name].panels:
            _DRAWN_BY.get(name, draw)(CATALOGUE[name], chosen).savefig(path, dpi=120)
            drawn.append(path)
        if name in _TABLES:
            page = path.with_suffix(".md")
            page.write_text(_TABLES[name](chosen))
            drawn.append(page)
    return drawn


def draw(figure: Figure, rows: Rows) -> Canvas:
    panels = [panel for panel in figure.panels if _rows_of(panel, rows)]
    down = -(-len(panels) // _MOST_ACROSS)
    across = -(-len(panels) // down)
    canvas = Canvas(figsize=(3.0 + 4.5 * across, 1.0 + 4.2 * down), layout="constrained")
    canvas.suptitle(figure.title)
    all_axes = canvas.subplots(down, across, squeeze=False).flat
    colours = _colours(rows)
    series: dict[str, Any] = {}  # in all panels together: one legend, beside them
    for axes, panel in zip_longest(all_axes, panels):
        if panel is None:
            axes.remove()
            continue
        chosen = _rows_of(panel, rows)
        _draw_panel(axes, panel, chosen, colours)
        axes.set(title=panel.title, xlabel=figure.x_label, ylabel=panel.y_label)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            series.setdefault(label, handle)
    canvas.legend(series.values(), series.keys(), loc="outside right upper", fontsize="small")
    wrapped = fill(
        f"Paper: {figure.finding}" if "/" in figure.name else figure.finding, 70 * across
    )
    canvas.supxlabel(f"{_sizes(rows)}\n{wrapped}", fontsize="small")
    return canvas


def _rows_of(panel: Panel, rows: Rows) -> Rows:
    shows_limit = panel.shows_limit and panel.y == "microseconds_per_message"
    return [
        row
        for row in rows
        if panel.group in (None, row["group"])
        and row.get(panel.y) is not None
        and (shows_limit or row["index"] != "limit")
    ]


def _draw_panel(axes: Axes, panel: Panel, rows: Rows, colours: dict[str, str]) -> None:
    series = sorted(_distinct(row["series"] for row in rows), key=lambda name: name == "limit")
    if all(isinstance(row["x"], str) for row in rows):
        _draw_bars(axes, panel, rows, series, colours)
    else:
        _draw_lines(axes, panel, rows, series, colours)
    heights = [row[panel.y] for row in rows]
    if max(heights) > _WIDE_RANGE * min(heights):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def _draw_bars(
    axes: Axes, panel: Panel, rows: Rows, series: list[str], colours: dict[str, str]
) -> None:
    by_size = sorted(rows, key=lambda row: row["subscriptions"])  # as they are, where it is one
    places = _distinct(row["x"] for row in by_size)
    # Not every series is everywhere: bars stand side by side with those of their place only.
    here = {x: [name for name in series if (name, x) in _places(rows)] for x in places}
    width = 0.8 / max(map(len, here.values()))
    is_crowded = len(rows) > _MOST_SIDE_BY_SIDE
    for name in series:
        heights = {row["x"]: row[panel.y] for row in rows if row["series"] == name}
        shift = np.array([here[x].index(name) - (len(here[x]) - 1) / 2 for x in heights])
        at = np.array([places.index(x) for x in heights]) + shift * width
        bars = axes.bar(at, list(heights.values()), width, label=name, color=colours[name])
        axes.bar_label(bars, fmt=_value, fontsize="x-small", rotation=90 * is_crowded)
    axes.margins(y=0.25 if is_crowded else 0.1)  # for the values above the bars
    axes.set_xticks(range(len(places)), places)
    if sum(map(len, places)) > _WIDEST_NAMES:
        axes.tick_params("x", labelrotation=15)


def _places(rows: Rows) -> set[tuple[str, Any]]:
    """Which series has a bar where."""
    return {(row["series"], row["x"]) for row in rows}


def _draw_lines(
    axes: Axes, panel: Panel, rows: Rows, series: list[str], colours: dict[str, str]
) -> None:
    for name in series:
        heights = {row["x"]: row[panel.y] for row in rows if row["series"] == name}
        x = sorted(heights)
        style = "--" if name == "limit" else "o-"
        axes.plot(x, [heights[place] for place in x], style, label=name, color=colours[name])
    if panel.logarithmic_x:
        axes.set_xscale("log")
    measured = sorted({row["x"] for row in rows})
    if len(measured) <= _MOST_TICKS:
        axes.set_xticks(measured, [_short(value) for value in measured])
        axes.set_xticks([], minor=True)


def _value(value: float) -> str:
    """A number above a bar, of three digits: 0.123, 45.6, 5.87k, 340k."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _short(value: float) -> str:
    """A number for an axis: 0.001, 40, 200k, 5M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _colours(rows: Rows) -> dict[str, str]:
    """A series has one colour in all panels."""
    names = (name for name in _distinct(row["series"] for row in rows) if name != "limit")
    return {"limit": "grey"} | dict(zip(names, cycle(_PALETTE), strict=False))


def _sizes(rows: Rows) -> str:
    counts = sorted({row["subscriptions"] for row in rows})
    subscriptions = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    messages = max(row["messages"] for row in rows)
    data = ", ".join(_distinct(row["data"] for row in rows))
    cpu = _distinct(row["cpu"] for row in rows)[0]
    threads = "two cores" if rows[0]["name"] == PIPELINE.name else "one thread"
    return f"{subscriptions} subscriptions, {messages:,} messages, {threads}; {data}; {cpu}"


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))
