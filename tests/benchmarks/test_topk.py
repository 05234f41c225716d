"""The benchmark of top-k lists, tiny: the numbers mean nothing, their form and the lists do."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.catalogue import find
from benchmarks.oracle import WrongAnswerError
from benchmarks.papers import skype
from benchmarks.plot import plot_folder
from benchmarks.topk.contenders import ROOM
from benchmarks.topk.distributions import DISTRIBUTIONS
from benchmarks.topk.oracle import check_lists, expected_lists
from benchmarks.topk.workload import Settings, make
from nearcast.topk import TimeWindow, WordLists

TINY = ("--subscriptions", "300", "--messages", "40")


@pytest.mark.parametrize(
    "indexes",
    [["WordLists", "ParallelLists"], pytest.param(list(ROOM), marks=pytest.mark.thorough)],
)
def test_indexes_are_compared_and_their_lists_are_checked(indexes, tmp_path, monkeypatch):
    for module in ("workload", "measure"):
        monkeypatch.setattr(f"benchmarks.topk.{module}.FRESH", 20)
    path = tmp_path / "topk.json"
    assert main(["run", "topk", *TINY, "--index", ",".join(indexes), "--json", str(path)]) == 0
    records = json.loads(path.read_text())
    assert [record["index"] for record in records] == indexes
    for record in records:
        assert record["answers_checked_against_oracle"] >= 20
        assert record["arriving_microseconds"] > 0.0
        assert record["expiring_microseconds"] > 0.0
        assert record["matches_per_message"] == records[0]["matches_per_message"] > 0.0
    assert plot_folder(tmp_path) == [tmp_path / "topk.png"]


@pytest.mark.thorough
def test_distributions_are_compared_and_their_lists_are_checked(tmp_path):
    path = tmp_path / "fig-21.json"
    assert main(["run", "skype/fig-21", *TINY, "--json", str(path)]) == 0
    records = json.loads(path.read_text())
    assert [record["series"] for record in records] == list(DISTRIBUTIONS)
    for record in records:
        assert record["answers_checked_against_oracle"] >= 20
        assert record["details"]["balance"] >= 1.0
        assert record["matches_per_message"] == records[0]["matches_per_message"] > 0.0
    by_hash, _, keyword, prefix = (record["details"] for record in records)
    assert by_hash["communication_of_hash"] == by_hash["replicas"] == 1.0
    assert prefix["communication_of_hash"] < 0.4
    assert prefix["replicas"] <= keyword["replicas"]
    assert prefix["why"].startswith("prefix on 32 shards")
    assert plot_folder(tmp_path) == [tmp_path / "skype-fig-21.png"]


@pytest.mark.parametrize("name", skype.FIGURES)
def test_a_figure_has_points_for_machine_and_paper(name):
    figure = find(name)
    for scale in (figure.machine, figure.paper):
        points = list(figure.points(scale))
        assert points
        assert all(point.contender.index in (*ROOM, "DistributedLists") for point in points)
        panels = [panel.group for panel in figure.panels]
        assert all(point.group in panels or None in panels for point in points)


def test_a_wrong_list_is_noticed():
    workload = make(Settings(subscriptions=40, window=200, messages=10))
    index = WordLists(workload.window, max_dist=workload.max_dist, statistics=workload.statistics)
    for batch in workload.fill():
        index.publish_batch(batch)
    for subscriptions in workload.subscriptions():
        index.subscribe_many(subscriptions)
    expected = expected_lists(workload)  # of the window after messages that have not come yet
    with pytest.raises(WrongAnswerError, match="WordLists: the list of"):
        check_lists("WordLists", index, expected)


def test_a_window_of_time_holds_about_as_many_messages():
    workload = make(Settings(subscriptions=10, window=500, messages=10, is_timed=True))
    assert isinstance(workload.window, TimeWindow)
    assert 400 < workload.window.seconds < 600
