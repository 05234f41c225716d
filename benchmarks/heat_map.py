"""The grid as a picture: how many times as long the best other index takes as the default."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure as Canvas

from benchmarks.boolean.grid_table import Measured, measured_cells
from benchmarks.contenders import DEFAULT
from benchmarks.figure import Figure
from benchmarks.markdown import place

_EXTREME = 3.0  # powers of two from which on the colour does not change any more


def draw_heat_map(figure: Figure, rows: Sequence[dict[str, Any]]) -> Canvas:
    """A row for each workload, a column for each data set."""
    cells = {(cell.group, cell.x, cell.data): cell for cell in measured_cells(rows)}
    places = sorted({(group, x) for group, x, _ in cells})
    data = list(dict.fromkeys(name for _, _, name in cells))
    canvas = Canvas(figsize=(6 + 2.2 * len(data), 1.5 + 0.36 * len(places)), layout="constrained")
    axes = canvas.subplots()
    image = [[_colour(cells.get((*workload, name))) for name in data] for workload in places]
    norm = TwoSlopeNorm(0.0, -_EXTREME, _EXTREME)
    axes.imshow(np.array(image), cmap="RdYlGn", norm=norm, aspect="auto")
    for row, workload in enumerate(places):
        for column, name in enumerate(data):
            _write(axes, column, row, cells.get((*workload, name)))
    axes.set_xticks(range(len(data)), data)
    axes.set_yticks(range(len(places)), [f"{group}: {place(x)}" for group, x in places])
    axes.set_xlabel(figure.x_label)
    canvas.suptitle(figure.title)
    canvas.supxlabel(f"The default is {DEFAULT}. {figure.finding}", fontsize="small")
    return canvas


def _colour(cell: Measured | None) -> float:
    return np.nan if cell is None or cell.ratio is None else float(np.log2(cell.ratio))


def _write(axes: Axes, column: int, row: int, cell: Measured | None) -> None:
    if cell is not None and cell.ratio is not None:
        text = f"{cell.ratio:.2g}  {cell.best_other}"
        axes.text(column, row, text, ha="center", va="center", fontsize="x-small")
