"""A tiny run of the pipeline's benchmark: the numbers mean nothing, their form does."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.pipeline import run
from benchmarks.pipeline.mapped import mapped_memory
from benchmarks.pipeline.stream import Phase
from benchmarks.plot import plot_folder
from benchmarks.records import write_records
from benchmarks.workloads import Settings, make


@pytest.fixture
def records(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "PASSES", 1)
    monkeypatch.setattr(run, "PARTITIONINGS", ("auto",))
    monkeypatch.setattr("benchmarks.pipeline.stream.FIRST", 1)
    workload = make(Settings("synthetic", 400, 300))

    def say(step):
        return None

    return [
        *run.batch_records(spark, tmp_path, workload, say),
        *run.join_records(spark, tmp_path, "synthetic", (200,), say),
        *run.stream_records(spark, tmp_path / "stream", workload, (Phase(50, 20, 2),), say),
    ]


def test_the_records_are_those_of_the_contract_and_can_be_drawn(records, tmp_path):
    assert [(record.index, record.group) for record in records] == [
        ("RarestWordTree", "batch"),
        ("RarestWordTree", "batch"),
        ("sql-join", "growth"),
        ("RarestWordTree", "growth"),
        ("RarestWordTree", "stream"),
    ]
    assert all(record.name == "pipeline" and record.messages_per_second > 0 for record in records)
    streamed = records[-1]
    assert (streamed.messages, streamed.batch_milliseconds > 0) == (100, True)
    assert 0 <= streamed.details["hot_copy_hit_rate"] <= 1
    write_records(records, tmp_path / "pipeline.json")
    assert len(json.loads((tmp_path / "pipeline.json").read_text())) == 5
    assert [picture.name for picture in plot_folder(tmp_path)] == ["pipeline.png"]


def test_sizes_are_never_larger_than_asked_for():
    sizes = run.Sizes.at_most(300, 20)
    assert (sizes.subscriptions, sizes.messages, sizes.join) == (300, 20, (20,))
    assert all(phase.messages <= 20 and phase.changes <= 20 for phase in sizes.phases)


def test_another_index_is_wrong_usage(capsys):
    assert main(["run", "pipeline", "--index", "ScanIndex"]) == 2
    assert "it has APTree" in capsys.readouterr().err


def test_nobody_maps_an_empty_folder(tmp_path):
    assert mapped_memory(tmp_path).processes == 0
