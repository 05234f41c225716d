"""`Charts`: the service in numbers, and as small lines of the last minute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from nearcast.service.page.sampler import POINTS, Numbers, Tick

SMOOTHED = 4
"""Ticks that a rate is the mean of: publishers come in waves."""

# Name, colour, what is drawn, and the mean of how many ticks.
_LINES: tuple[tuple[str, str, Callable[[Numbers], float | None], int], ...] = (
    ("Messages a second", "#1c7ed6", lambda numbers: numbers.message_rate, SMOOTHED),
    ("Matches a second", "#2f9e44", lambda numbers: numbers.match_rate, SMOOTHED),
    ("Pipeline lag, rows", "#e8590c", lambda numbers: numbers.lag, 1),
    ("Batch, milliseconds", "#7c5cff", lambda numbers: numbers.batch_milliseconds, 1),
)
_TOTALS: tuple[tuple[str, Callable[[Numbers], int]], ...] = (
    ("subscriptions", lambda numbers: numbers.subscriptions),
    ("matches", lambda numbers: numbers.matches),
    ("deliveries", lambda numbers: numbers.deliveries),
)
TICKS_BETWEEN_DRAWINGS = 2


class Charts:
    """The strip below the map."""

    def __init__(self) -> None:
        self._ticks = 0
        self._values: list[ui.label] = []
        self._charts: list[ui.echart] = []
        self._totals: list[ui.label] = []
        with ui.element("section").classes("pulse").props('aria-label="The service in numbers"'):
            for name, colour, _, _ in _LINES:
                with ui.element("div").classes("chart"):
                    ui.label(name).classes("name")
                    self._values.append(ui.label("–").classes("value"))
                    self._charts.append(ui.echart(_options(colour)).props('aria-hidden="true"'))
            with ui.element("div").classes("totals"):
                for name, _ in _TOTALS:
                    ui.label(name).classes("name")
                    self._totals.append(ui.label("–").classes("total"))

    def show(self, tick: Tick) -> None:
        """Draw, not quite as often as ticks come."""
        self._ticks += 1
        if self._ticks % TICKS_BETWEEN_DRAWINGS:
            return
        for (_, _, number_of, mean_of), value, chart in zip(
            _LINES, self._values, self._charts, strict=True
        ):
            line = _smooth([number_of(numbers) for numbers in tick.history], mean_of)
            value.text = _short(line[-1])
            chart.options["series"][0]["data"] = [
                None if point is None else round(point, 1) for point in line
            ]
            chart.update()
        for (_, total_of), label in zip(_TOTALS, self._totals, strict=True):
            label.text = f"{total_of(tick.history[-1]):,}"


def _smooth(points: list[float | None], mean_of: int) -> list[float | None]:
    """Means of the last few, in the length of a chart, the newest at its end."""
    smooth: list[float | None] = [None] * (POINTS - len(points))
    for i, point in enumerate(points):
        recent = [each for each in points[max(0, i + 1 - mean_of) : i + 1] if each is not None]
        smooth.append(None if point is None else sum(recent) / len(recent))
    return smooth


def _short(number: float | None) -> str:
    """A number that fits.

    >>> _short(0.25), _short(12.34), _short(1234.5), _short(None)
    ('0.2', '12', '1,234', '–')
    """
    if number is None:
        return "–"
    return f"{number:.1f}".removesuffix(".0") if number < 10 else f"{number:,.0f}"


def _options(colour: str) -> dict[str, Any]:
    return {
        "animation": False,
        "grid": {"left": 0, "right": 0, "top": 6, "bottom": 0},
        "xAxis": {"type": "category", "show": False, "boundaryGap": False},
        "yAxis": {"type": "value", "show": False, "min": 0},
        "series": [
            {
                "type": "line",
                "showSymbol": False,
                "silent": True,
                "data": [],
                "lineStyle": {"color": colour, "width": 1.8},
                "areaStyle": {"color": colour, "opacity": 0.14},
            }
        ],
    }
