"""Our ratios beside the papers': a table in the page of each paper, made from the result files."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmarks.catalogue import CATALOGUE
from benchmarks.figure import Figure, Ratio
from benchmarks.markdown import number, place, table
from benchmarks.records import read_rows

Rows = Sequence[dict[str, Any]]

_PAGES = {
    "ap-tree": Path(__file__).parent / "papers" / "ap_tree" / "README.md",
    "lfilter": Path(__file__).parent / "papers" / "lfilter" / "README.md",
    "skype": Path(__file__).parent / "papers" / "skype" / "README.md",
    "trending": Path(__file__).parent / "papers" / "trending" / "README.md",
}
_BEGIN, _END = "<!-- ratios: made by `python -m benchmarks plot` -->", "<!-- end of ratios -->"
_NOT_YET = "not measured yet"


def refresh_pages(folder: Path) -> list[Path]:
    """Write the ratios of the folder's result files into the pages; the pages that changed."""
    rows = read_rows(folder)
    changed = []
    for paper, page in _PAGES.items():
        figures = [figure for name, figure in CATALOGUE.items() if name.startswith(f"{paper}/")]
        before = page.read_text()
        after = _replaced(before, ratio_table(figures, rows))
        if after != before:
            page.write_text(after)
            changed.append(page)
    return changed


def ratio_table(figures: Iterable[Figure], rows: Rows) -> str:
    """A line for each ratio that a paper's text gives."""
    header = ("figure", "where", "ratio", "paper", "here", "subscriptions here")
    lines = []
    for figure in figures:
        chosen = [row for row in rows if row["name"] == figure.name]
        sizes = sorted({row["subscriptions"] for row in chosen})
        for ratio in figure.ratios:
            here = ours(ratio, chosen)
            lines.append(
                (
                    figure.name,
                    f"{ratio.group}{_places(ratio, chosen)}",
                    f"{ratio.over} / {ratio.under}",
                    ratio.paper,
                    _NOT_YET if here is None else number(here),
                    " to ".join(f"{size:,}" for size in dict.fromkeys(sizes[:1] + sizes[-1:])),
                )
            )
    return table(header, lines)


def ours(ratio: Ratio, rows: Rows) -> float | None:
    """The ratio in the records of its figure; None where one of the two was not measured."""
    over = _time(ratio.group, ratio.over, ratio.over_at, rows)
    under = _time(ratio.group, ratio.under, ratio.under_at, rows)
    return None if over is None or under is None else over / under


def _time(group: str, series: str, at: int | str | None, rows: Rows) -> float | None:
    found = {
        row["x"]: row["microseconds_per_message"]
        for row in rows
        if row["group"] == group and row["series"] == series
    }
    if isinstance(at, str) or not found:
        return found.get(at)
    return geometric_mean(found.values()) if at is None else found[sorted(found)[at]]


def _places(ratio: Ratio, rows: Rows) -> str:
    """Which x of the panel; nothing where it is all of them."""
    places = sorted({row["x"] for row in rows if row["group"] == ratio.group})
    if ratio.over_at is None or ratio.under_at is None or not places:
        return ""
    named = (
        place(at if isinstance(at, str) else places[at]) for at in (ratio.over_at, ratio.under_at)
    )
    return f", {' / '.join(dict.fromkeys(named))}"


def _replaced(page: str, text: str) -> str:
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"the page has no place for ratios between {_BEGIN!r} and {_END!r}")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"
