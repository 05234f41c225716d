"""The benchmark of trending terms, tiny: the numbers mean nothing, their form and the lists do."""

import json
from dataclasses import replace

import pytest

from benchmarks.__main__ import main
from benchmarks.catalogue import find
from benchmarks.oracle import WrongAnswerError
from benchmarks.papers import trending as paper
from benchmarks.plot import plot_folder
from benchmarks.trending.contenders import ROOM
from benchmarks.trending.measure import subscribe_all
from benchmarks.trending.oracle import check_lists, expected_lists
from benchmarks.trending.roads import network
from benchmarks.trending.workload import Settings, make

TINY = ("--subscriptions", "300", "--messages", "30")


@pytest.mark.parametrize(
    "indexes", [["CellRows", "TermFields"], pytest.param(list(ROOM), marks=pytest.mark.thorough)]
)
def test_indexes_are_compared_and_their_lists_are_checked(indexes, tmp_path):
    path = tmp_path / "trending.json"
    assert main(["run", "trending", *TINY, "--index", ",".join(indexes), "--json", str(path)]) == 0
    records = json.loads(path.read_text())
    assert [record["index"] for record in records] == indexes
    for record in records:
        assert record["answers_checked_against_oracle"] >= 20
        assert record["insert_microseconds"] > 0.0
        assert record["matching_microseconds"] > 0.0
        assert record["updating_microseconds"] > 0.0
        if not ROOM[record["index"]].is_nearby:
            assert record["expiring_microseconds"] > 0.0
            assert record["matches_per_message"] == records[0]["matches_per_message"]
    assert plot_folder(tmp_path) == [tmp_path / "trending.png"]


@pytest.mark.parametrize("name", paper.FIGURES)
def test_a_figure_has_points_for_machine_and_paper(name):
    figure = find(name)
    for scale in (figure.machine, figure.paper):
        points = list(figure.points(scale))
        assert points
        assert all(point.contender.index in ROOM for point in points)


def test_slow_classes_are_measured_where_they_can_be_and_quick_ones_there_too():
    figure = find("trending")
    sizes = {}
    for point in figure.points(replace(figure.machine, subscriptions=2_000_000)):
        sizes.setdefault(point.contender.index, []).append(point.settings.subscriptions)
    assert sizes.keys() == ROOM.keys()
    assert sizes["CellRows"] == [*sizes["TP"], 2_000_000]
    assert sizes["TermFields"] == [*sizes["SST"], 2_000_000]


@pytest.mark.parametrize("index", ["CellRows", "TermFields"])
def test_a_wrong_list_is_noticed(index):
    is_nearby = ROOM[index].is_nearby
    workload = make(
        Settings(subscriptions=200, documents=300, messages=10, area=10_000.0, is_nearby=is_nearby)
    )
    made = ROOM[index].make(workload)
    subscribe_all(made, workload)
    with pytest.raises(WrongAnswerError, match=f"{index}: the list of"):
        check_lists(index, made, expected_lists(workload))


def test_memory_is_measured_while_documents_come(tmp_path):
    path = tmp_path / "memory.json"
    tiny = ("--subscriptions", "50", "--messages", "200")
    assert main(["run", "trending-memory", *tiny, "--json", str(path)]) == 0
    records = json.loads(path.read_text())
    assert [record["x"] for record in records] == [200, 400, 600, 800, 1000] * 2
    for record in records:
        assert record["rss_bytes"] > 0
        assert 0.5 < record["details"]["rss_ratio"] < 2.0
    assert records[4]["details"]["documents"] < 200


@pytest.mark.thorough
def test_lists_are_checked_along_roads(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARCAST_DATA", str(tmp_path))  # whose map is large
    network.cache_clear()
    path = tmp_path / "roads.json"
    tiny = ("--subscriptions", "40", "--messages", "2")
    assert main(["run", "trending/fig-21", *tiny, "--index", "SST", "--json", str(path)]) == 0
    network.cache_clear()
    for record in json.loads(path.read_text()):
        assert record["answers_checked_against_oracle"] >= 20


def test_a_steady_stream_forgets_as_much_as_comes(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.trending.steady.WITHIN_A_HALF_LIFE", (20, 40))
    path = tmp_path / "steady.json"
    assert main(["run", "trending-steady", *TINY, "--json", str(path)]) == 0
    records = json.loads(path.read_text())
    assert [record["x"] for record in records] == [20, 40]
    for record in records:
        assert record["details"]["forgotten_per_message"] == pytest.approx(1.0, abs=0.2)
        assert record["details"]["documents"] == pytest.approx(20 * record["x"], rel=0.1)
