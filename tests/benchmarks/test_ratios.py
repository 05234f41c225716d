import pytest

from benchmarks.catalogue import CATALOGUE
from benchmarks.figure import Ratio
from benchmarks.ratios import ours, ratio_table, refresh_pages

ROWS = [
    {"group": "long", "series": series, "x": x, "microseconds_per_message": time}
    for series, x, time in (("A", 100, 2.0), ("A", 20, 8.0), ("B", 20, 1.0), ("B", 100, 1.0))
]


@pytest.mark.parametrize(
    ("ratio", "right"),
    [
        (Ratio("long", "A", "B", "", 0, 0), 8.0),
        (Ratio("long", "A", "B", "", -1, -1), 2.0),
        (Ratio("long", "A", "B", ""), 4.0),  # the geometric mean
        (Ratio("long", "A", "A", "", over_at=0, under_at=-1), 4.0),
        (Ratio("long", "A", "C", ""), None),
        (Ratio("short", "A", "B", ""), None),
    ],
)
def test_a_ratio_of_times(ratio, right):
    assert ours(ratio, ROWS) == (None if right is None else pytest.approx(right))


def test_a_place_can_be_a_text():
    rows = [{**row, "x": str(row["x"])} for row in ROWS]
    assert ours(Ratio("long", "A", "B", "", "20", "20"), rows) == 8.0


def test_what_was_not_measured_is_said_so():
    figure = CATALOGUE["lfilter/fig-07"]
    assert ratio_table([figure], []).count("not measured yet") == len(figure.ratios)


def test_every_ratio_is_of_a_panel():
    for figure in CATALOGUE.values():
        groups = {panel.group for panel in figure.panels}
        for ratio in figure.ratios:
            assert None in groups or ratio.group in groups


def test_pages_have_a_place_for_ratios(tmp_path, monkeypatch):
    import benchmarks.ratios as module

    copies = {paper: tmp_path / f"{paper}.md" for paper in module._PAGES}
    for paper, page in module._PAGES.items():
        copies[paper].write_text(page.read_text())
    monkeypatch.setattr(module, "_PAGES", copies)
    refresh_pages(tmp_path)  # without results
    assert "not measured yet" in copies["lfilter"].read_text()
    assert refresh_pages(tmp_path) == []
