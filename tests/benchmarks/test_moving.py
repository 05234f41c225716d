"""The benchmark of moving subscriptions, tiny: the numbers mean nothing, their form does."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.catalogue import find
from benchmarks.moving.contenders import ROOM
from benchmarks.moving.workload import LIFE, Settings, Workload
from benchmarks.papers import ap_plus_tree


@pytest.mark.parametrize(
    "indexes",
    [["WordQuadtrees"], pytest.param(["WordQuadtrees", "APPlusTree"], marks=pytest.mark.thorough)],
)
def test_indexes_are_compared_and_their_results_are_checked(indexes, tmp_path):
    path = tmp_path / "moving.json"
    options = ("--subscriptions", "300", "--messages", "600", "--index", ",".join(indexes))
    assert main(["run", "moving", *options, "--json", str(path)]) == 0
    records = json.loads(path.read_text())
    assert [record["index"] for record in records] == indexes
    for record in records:
        assert record["answers_checked_against_oracle"] >= 40
        assert record["microseconds_per_move"] > 0.0
        assert record["details"]["live"] == 600
        assert record["matches_per_message"] == records[0]["matches_per_message"]
        assert record["details"]["changes_per_move"] == records[0]["details"]["changes_per_move"]


def test_memory_is_measured_while_people_walk(tmp_path):
    path = tmp_path / "memory.json"
    tiny = ("--subscriptions", "100", "--messages", "200")
    assert main(["run", "moving-memory", *tiny, "--json", str(path)]) == 0
    records = json.loads(path.read_text())
    assert [record["x"] for record in records] == [*range(10, 101, 10)]
    assert sum(record["messages"] for record in records) == 100 * 20
    assert all(0.5 < record["details"]["rss_ratio"] < 2.0 for record in records)


def test_without_a_choice_every_class_is_compared():
    points = list(find("moving").points(find("moving").machine))
    assert [point.contender.index for point in points] == list(ROOM)


@pytest.mark.parametrize("name", ap_plus_tree.MOVING)
def test_a_figure_has_points_for_machine_and_paper(name):
    figure = find(name)
    for scale in (figure.machine, figure.paper):
        points = list(figure.points(scale))
        assert points
        assert all(point.contender.index in ROOM for point in points)


def test_as_many_messages_live_at_any_time():
    workload = Workload(Settings(subscriptions=50, live=200, area=0.01))
    people = workload.travellers()
    batches = [workload.first_messages()]
    for step in workload.steps(people, 2 * LIFE):
        batches.append(step.messages)
        now = step.messages.time[0]
        assert sum(int((batch.expires > now).sum()) for batch in batches) == 200
        assert 0 < len(step.ids) == len(step.regions) < 50
