"""The benchmark of trending terms, tiny: the numbers mean nothing, their form and the lists do."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.catalogue import find
from benchmarks.oracle import WrongAnswerError
from benchmarks.papers import trending as paper
from benchmarks.plot import plot_folder
from benchmarks.trending.contenders import ROOM
from benchmarks.trending.oracle import check_lists, expected_lists
from benchmarks.trending.workload import Settings, make

TINY = ("--subscriptions", "300", "--messages", "30")


def test_every_class_is_compared_and_its_lists_are_checked(tmp_path):
    path = tmp_path / "trending.json"
    assert main(["run", "trending", *TINY, "--json", str(path)]) == 0
    records = json.loads(path.read_text())
    assert [record["index"] for record in records] == list(ROOM)
    for record in records:
        assert record["answers_checked_against_oracle"] >= 20
        assert record["expiring_microseconds"] > 0.0
        assert record["insert_microseconds"] > 0.0
        assert record["matches_per_message"] == records[0]["matches_per_message"]
    assert plot_folder(tmp_path) == [tmp_path / "trending.png"]


@pytest.mark.parametrize("name", paper.FIGURES)
def test_a_figure_has_points_for_machine_and_paper(name):
    figure = find(name)
    for scale in (figure.machine, figure.paper):
        points = list(figure.points(scale))
        assert points
        assert all(point.contender.index in ROOM for point in points)


def test_a_wrong_list_is_noticed():
    workload = make(Settings(subscriptions=200, documents=300, messages=10, area=10_000.0))
    index = ROOM["CellRows"].make(workload)
    for subscriptions in workload.subscriptions():
        index.subscribe_many(subscriptions)
    with pytest.raises(WrongAnswerError, match="CellRows: the list of"):
        check_lists("CellRows", index, expected_lists(workload))
