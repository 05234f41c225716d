"""Tables for pages."""

from collections.abc import Iterable, Sequence

import numpy as np


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table.

    >>> print(table(("index", "µs"), [("APTree", "6.3")]))
    | index | µs |
    |---|---|
    | APTree | 6.3 |
    """
    lines = (header, ["---"] * len(header), *rows)
    return "\n".join(_line(line) for line in lines)


def _line(cells: Sequence[str]) -> str:
    if set(cells) == {"---"}:
        return "|" + "|".join(cells) + "|"
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def number(value: float | None) -> str:
    """Three figures, as a person reads them: 0.0312, 4.57, 1,230.

    >>> number(0.03123), number(4.566), number(1234.5), number(None)
    ('0.0312', '4.57', '1,230', '')
    """
    if value is None:
        return ""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def place(x: float | str) -> str:
    """An x as a person writes it, never with an exponent.

    >>> place(0.000001), place(10.0), place(100_000), place("gnis")
    ('0.000001', '10', '100,000', 'gnis')
    """
    if isinstance(x, str):
        return x
    return f"{x:,.0f}" if x >= 1_000 else np.format_float_positional(x, trim="-")
