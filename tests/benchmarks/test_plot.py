import json

import pytest

from benchmarks.catalogue import CATALOGUE, find
from benchmarks.figure import Scale
from benchmarks.plot import draw, plot_folder
from benchmarks.records import Record
from benchmarks.workloads import DATA

SCALE = Scale(subscriptions=300, messages=20, data=DATA, sizes=(300, 600), inserted=300)


def row_at(figure, point, index):
    """A record as it is read from a file."""
    record = Record(
        name=figure.name,
        index=index,
        data=point.settings.data,
        subscriptions=point.settings.subscriptions,
        messages=point.settings.messages,
        matches_per_message=1.0,
        candidates_per_message=2.0,
        microseconds_per_message=3.0,
        microseconds_per_message_passes=(3.0, 3.0, 3.0),
        build_seconds=4.0,
        insert_microseconds=5.0,
        remove_microseconds=6.0,
        bytes_per_subscription=7.0,
        peak_rss_bytes=8,
        answers_checked_against_oracle=9,
        keywords_per_message=10.0,
        workload={},
        arriving_microseconds=11.0,
        expiring_microseconds=12.0,
        buffered_per_subscription=13.0,
        microseconds_per_move=14.0,
        series="limit" if index == "limit" else point.contender.series,
        group=point.group,
        x=point.x,
    )
    details = {panel.y: 15.0 for panel in figure.panels}
    return details | {name: value for name, value in vars(record).items() if value is not None}


# Some have a runner of their own instead of points, some a table or a heat map instead of panels.
DRAWN = [figure for figure in CATALOGUE.values() if figure.panels and list(figure.points(SCALE))]


@pytest.mark.parametrize("figure", DRAWN, ids=lambda figure: figure.name)
def test_every_figure_draws_all_its_panels(figure):
    points = list(figure.points(SCALE))
    rows = [row_at(figure, point, index) for point in points for index in ("APTree", "limit")]
    canvas = draw(figure, rows)
    assert [axes.get_title() for axes in canvas.axes] == [panel.title for panel in figure.panels]
    for axes, panel in zip(canvas.axes, figure.panels, strict=True):
        shown = axes.get_legend_handles_labels()[1]
        assert ("limit" in shown) == (panel.shows_limit and panel.y == "microseconds_per_message")
    assert "300" in canvas.get_supxlabel()


def test_records_from_before_there_were_details_are_drawn(tmp_path):
    figure = find("ap-tree/fig-12")
    rows = [row_at(figure, point, "APTree") for point in figure.points(SCALE)]
    old = [{name: row[name] for name in row if name != "details"} for row in rows]
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert plot_folder(tmp_path) == [tmp_path / "ap-tree-fig-12.png"]


def test_the_figures_of_the_papers():
    assert [name for name in CATALOGUE if "/" in name] == [
        *(f"ap-tree/fig-{number:02}" for number in range(9, 18)),
        "vldbj/fig-18",
        *(f"vldbj/fig-{number}" for number in range(19, 28)),
        *(f"lfilter/fig-{number:02}" for number in range(7, 12)),
        *(f"skype/fig-{number}" for number in range(10, 25)),
        *(f"trending/fig-{number}" for number in (13, *range(15, 23), 24, *range(26, 30))),
    ]


def test_figures_that_two_papers_share_are_one():
    assert find("vldbj/fig-10") is find("ap-tree/fig-09")
    for number in range(11, 18):
        assert find(f"vldbj/fig-{number}") is find(f"ap-tree/fig-{number}")
