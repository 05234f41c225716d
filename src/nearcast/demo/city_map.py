"""A map of dots: where messages were wanted, the newest the brightest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from nearcast.model import Box, Point

# A character of braille is 2 dots wide and 4 high; this is the bit of each dot, by row and column.
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_EMPTY = 0x2800
# From new to old, a step every few ticks.
_GLOW = ("bold #fff4c2", "#ffd166", "#f3923a", "#c2562d", "#7d3b2b", "#4d2f2c")
_QUIET = "#3d4653"

Dot = tuple[int, int]


class CityMap:
    """A `rich` renderable that fills the space it is given.

    - `places`: always seen, faintly
    - `glow`: what is lit; the first list is the newest
    - `marks`: a letter to put at a place, with its style
    """

    def __init__(
        self,
        bounds: Box,
        places: Sequence[Point],
        glow: Iterable[Sequence[Point]],
        marks: Mapping[Point, tuple[str, str]],
    ) -> None:
        self._bounds = bounds
        self._places = places
        self._glow = list(glow)
        self._marks = marks

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns, rows = options.max_width, options.height or options.max_width // 2
        bits, age = self._dots(columns, rows)
        marks = {self._dot(at, columns, rows): mark for at, mark in self._marks.items()}

        def cell(column: int, row: int) -> tuple[str, str]:
            here = column, row
            if here in marks:
                return marks[here]
            letter = chr(_EMPTY + bits[here]) if here in bits else " "
            return letter, _GLOW[age[here]] if here in age else _QUIET

        lines = []
        for row in range(rows):
            line = Text(no_wrap=True)
            cells = [cell(column, row) for column in range(columns)]
            for style, run in groupby(cells, key=lambda each: each[1]):
                line.append("".join(letter for letter, _ in run), style)
            lines.append(line)
        yield Text("\n").join(lines)

    def _dots(self, columns: int, rows: int) -> tuple[dict[Dot, int], dict[Dot, int]]:
        """By cell: the dots that are set, and how old the newest of them is."""
        bits: dict[Dot, int] = {}
        age: dict[Dot, int] = {}

        def light(at: Point) -> Dot:
            x, y = self._dot(at, columns * 2, rows * 4)
            cell = x // 2, y // 4
            bits[cell] = bits.get(cell, 0) | _BITS[y % 4][x % 2]
            return cell

        for at in self._places:
            light(at)
        for ticks, points in enumerate(self._glow):
            step = ticks * len(_GLOW) // len(self._glow)
            for at in points:
                age.setdefault(light(at), step)
        return bits, age

    def _dot(self, at: Point, width: int, height: int) -> Dot:
        bounds = self._bounds
        x = (at.lon - bounds.west) / (bounds.east - bounds.west)
        y = (bounds.north - at.lat) / (bounds.north - bounds.south)
        return min(int(x * width), width - 1), min(int(y * height), height - 1)
