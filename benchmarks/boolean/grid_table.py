"""What the grid's records say: who is fastest in each cell, and by how much."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.contenders import DEFAULT
from benchmarks.markdown import number, place, table

Rows = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Measured:
    """One cell; times are in microseconds a message."""

    data: str
    group: str
    x: float
    times: dict[str, float]  # of every index
    limit: float | None

    @property
    def default(self) -> float | None:
        return self.times.get(DEFAULT)

    @property
    def best_other(self) -> str | None:
        others = {index: time for index, time in self.times.items() if index != DEFAULT}
        return min(others, key=others.__getitem__) if others else None

    @property
    def ratio(self) -> float | None:
        """The best other index's time over the default's: above 1, the default is the fastest."""
        if self.default is None or self.best_other is None:
            return None
        return self.times[self.best_other] / self.default


def measured_cells(rows: Rows) -> list[Measured]:
    """The cells in the order in which they were measured; a later record replaces an earlier."""
    found: dict[tuple[str, str, float], dict[str, float]] = {}
    for row in rows:
        cell = found.setdefault((row["data"], row["group"], row["x"]), {})
        cell[row["index"]] = row["microseconds_per_message"]
    return [Measured(*cell, times, times.pop("limit", None)) for cell, times in found.items()]


def write_table(rows: Rows) -> str:
    """Where the default wins, then every cell with every index."""
    cells = measured_cells(rows)
    indexes = list(dict.fromkeys(index for cell in cells for index in cell.times))
    header = ("data", "varies", "x", *indexes, "limit", "fastest", "best other / default")
    lines = [
        (
            cell.data,
            cell.group,
            place(cell.x),
            *(number(cell.times.get(index)) for index in indexes),
            number(cell.limit),
            min(cell.times, key=cell.times.__getitem__),
            number(cell.ratio),
        )
        for cell in cells
    ]
    sizes = sorted({row["subscriptions"] for row in rows})
    title = f"µs per message, {', '.join(f'{size:,}' for size in sizes)} subscriptions. "
    return f"{title}{_summary(cells)}\n\n{table(header, lines)}\n"


def _summary(cells: Sequence[Measured]) -> str:
    compared = [cell for cell in cells if cell.ratio is not None]
    lost = [cell for cell in compared if cell.ratio is not None and cell.ratio < 1]
    text = f"{DEFAULT} is the fastest in {len(compared) - len(lost)} of {len(compared)} cells"
    if not lost:
        return f"{text}."
    where = "; ".join(
        f"{cell.data}, {cell.group}, {place(cell.x)} ({cell.best_other}, {number(cell.ratio)})"
        for cell in lost
    )
    return f"{text}. It loses in: {where}."
