"""Tiny runs: the numbers mean nothing, their form does."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

import nearcast.boolean as room
from benchmarks.__main__ import main
from benchmarks.catalogue import find
from benchmarks.contenders import ROOM, Contender
from benchmarks.figure import Cell, Point, compare
from benchmarks.plot import plot_folder
from benchmarks.run import run_points
from benchmarks.workloads import Settings

CONTRACT = {
    "name": str,
    "index": str,
    "data": str,
    "subscriptions": int,
    "messages": int,
    "matches_per_message": float,
    "candidates_per_message": float,
    "microseconds_per_message": float,
    "build_seconds": float,
    "insert_microseconds": float,
    "bytes_per_subscription": float,
    "peak_rss_bytes": int,
    "answers_checked_against_oracle": int,
    "versions": dict,
    "cpu": str,
    "commit": str,
}
TINY = ("--subscriptions", "300", "--messages", "20")


def test_a_run_writes_the_records_of_the_contract(tmp_path, capsys):
    path = tmp_path / "out.json"
    assert main(["run", "boolean", "--index", "RarestWordTree", *TINY, "--json", str(path)]) == 0
    tree, lowest = json.loads(path.read_text())
    assert (tree["index"], lowest["index"]) == ("RarestWordTree", "limit")
    for field, kind in CONTRACT.items():
        assert isinstance(tree[field], kind), field
        assert field in lowest
    assert (tree["name"], tree["data"]) == ("boolean", "synthetic")
    assert (tree["subscriptions"], tree["messages"]) == (300, 20)
    assert tree["answers_checked_against_oracle"] > 0
    for record in (tree, lowest):
        passes = record["microseconds_per_message_passes"]
        assert len(passes) >= 3
        assert record["microseconds_per_message"] == np.median(passes)
    assert tree["matches_per_message"] == lowest["matches_per_message"]
    assert "2 records" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_run_without_index_compares_every_class_of_the_room(tmp_path):
    path = tmp_path / "out.json"
    assert main(["run", "boolean", *TINY, "--json", str(path)]) == 0
    measured = {record["index"] for record in json.loads(path.read_text())}
    assert measured == {*ROOM, "limit"}


def test_every_class_of_the_room_is_a_contender():
    classes = {
        name
        for name, value in vars(room).items()
        if isinstance(value, type)
        and issubclass(value, room.BooleanIndex)
        and value is not room.BooleanIndex
    }
    assert set(ROOM) == classes


@pytest.mark.parametrize(
    "name",
    ["ap-tree/fig-10", "ap-tree/fig-16", pytest.param("vldbj/fig-18", marks=pytest.mark.thorough)],
)
def test_a_figure_is_measured_and_drawn(name, tmp_path):
    path = tmp_path / "figure.json"
    arguments = ["run", name, "--data", "synthetic", *TINY, "--json", str(path)]
    assert main(arguments) == 0
    [picture] = plot_folder(tmp_path)
    assert picture.name == f"{find(name).name.replace('/', '-')}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_index_that_does_not_learn_is_built_once_for_the_same_subscriptions(monkeypatch):
    made = []

    def contender(name, *, learns):
        def make(history):
            made.append((name, len(history)))
            return room.ScanIndex()

        return Contender(name, name, make, learns)

    usual = Settings("synthetic", 50, 10)
    cells = [Cell("length", n, replace(usual, message_words=n)) for n in (5, 10, 15)]
    contenders = (contender("plain", learns=False), contender("learner", learns=True))
    monkeypatch.setattr("benchmarks.run.rehearse", lambda contender, workload: None)
    records = run_points("x", list(compare(cells, contenders)), lambda so_far: None, pass_seconds=1)
    assert [name for name, _ in made] == ["plain", "learner", "learner", "learner"]
    assert [(one.index, one.x) for one in records if one.index != "limit"] == [
        (name, n) for name in ("plain", "learner") for n in (5, 10, 15)
    ]
    assert [one.x for one in records if one.index == "limit"] == [5, 10, 15]


def test_a_slow_index_gets_fewer_messages(monkeypatch):
    class Slow(room.ScanIndex):
        def match_batch(self, messages, *, threads=1):
            time.sleep(0.02 * len(messages))
            return super().match_batch(messages, threads=threads)

    contender = Contender("Slow", "Slow", lambda history: Slow())
    point = Point("one", 1, contender, Settings("synthetic", 50, 100))
    monkeypatch.setattr("benchmarks.oracle._MOST", 3)
    monkeypatch.setattr("benchmarks.run.rehearse", lambda contender, workload: None)
    slow, lowest = run_points("x", [point], lambda so_far: None, pass_seconds=0.2)
    assert 1 <= slow.messages <= 10
    assert lowest.messages == slow.messages


def test_fig_9_is_fig_09():
    assert find("ap-tree/fig-9") is find("ap-tree/fig-09")


def test_wrong_answers_stop_the_run(tmp_path, monkeypatch, capsys):
    class Forgetful(room.ScanIndex):
        """Never finds anything."""

        def match(self, message):
            return []

    forgetful = Contender("APTree", "AP-Tree", lambda history: Forgetful())
    monkeypatch.setitem(ROOM, "APTree", forgetful)
    path = tmp_path / "out.json"
    sizes = ("--subscriptions", "3000", "--messages", "50")
    assert main(["run", "boolean", "--index", "APTree", *sizes, "--json", str(path)]) == 1
    assert "Forgetful and the oracle disagree on message" in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["run", "nothing"],
            "there is no benchmark 'nothing'; there are boolean, boolean-grid, boolean-extremes",
        ),
        (["run", "boolean", "--index", "Btree"], "boolean has no index 'Btree'; it has APTree"),
        (["run", "ap-tree/fig-17", "--data", "gnis"], "nothing to measure on gnis"),
        (["run", "boolean", "--messages", "0"], "0 is not positive"),
        (["run", "boolean", "--data", "mars"], "invalid choice: 'mars'"),
    ],
)
def test_wrong_usage(arguments, complaint, capsys):
    assert main(arguments) == 2
    assert complaint in capsys.readouterr().err
