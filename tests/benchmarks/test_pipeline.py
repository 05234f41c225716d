"""A tiny run of the pipeline's benchmark: the numbers mean nothing, their form does."""

import json

import pyarrow as pa
import pytest

from benchmarks.__main__ import main
from benchmarks.oracle import WrongAnswerError
from benchmarks.pipeline import run
from benchmarks.pipeline.kinds import measure
from benchmarks.pipeline.mapped import mapped_memory
from benchmarks.pipeline.stream import Phase
from benchmarks.plot import plot_folder
from benchmarks.records import write_records
from benchmarks.workloads import Settings, make


@pytest.fixture
def workload(monkeypatch):
    monkeypatch.setattr(run, "PASSES", 1)
    monkeypatch.setattr(run, "PARTITIONINGS", ("auto",))
    monkeypatch.setattr("benchmarks.pipeline.stream.FIRST", 1)
    return make(Settings("synthetic", 400, 300))


def say(step):
    """Nobody looks."""


def check_and_draw(records, folder):
    assert all(record.name == "pipeline" and record.messages_per_second > 0 for record in records)
    write_records(records, folder / "pipeline.json")
    assert len(json.loads((folder / "pipeline.json").read_text())) == len(records)
    assert [picture.name for picture in plot_folder(folder)] == ["pipeline.png"]


@pytest.mark.thorough
def test_a_stream_is_measured(spark, tmp_path, workload):
    phases = (Phase(50, 20, 2),)
    (streamed,) = run.stream_records(spark, tmp_path / "stream", workload, phases, say)
    assert (streamed.index, streamed.group) == ("RarestWordTree", "stream")
    assert (streamed.messages, streamed.batch_milliseconds > 0) == (100, True)
    assert 0 <= streamed.details["hot_copy_hit_rate"] <= 1
    check_and_draw([streamed], tmp_path)


@pytest.mark.thorough
def test_batches_and_a_join_are_measured(spark, tmp_path, workload):
    records = [
        *run.batch_records(spark, tmp_path, workload, say),
        *run.join_records(spark, tmp_path, "synthetic", (200,), say),
    ]
    assert [(record.index, record.group) for record in records] == [
        ("RarestWordTree", "batch"),
        ("RarestWordTree", "batch"),
        ("sql-join", "growth"),
        ("RarestWordTree", "growth"),
    ]
    check_and_draw(records, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", measure.ALL)
def test_every_kind_is_measured(spark, tmp_path, monkeypatch, kind):
    for name in ("WARM", "BATCHES", "KILLS"):
        monkeypatch.setattr(measure, name, 1)
    streams = measure.KindInStreams(kind, 300, 70, say)
    records = [streams.in_one_process()]
    for distribution in measure.ALL[kind].distributions:
        records += streams.records(spark, distribution)
    assert {record.x for record in records} == {f"{kind}, 300"}
    alone, *streamed = [record for record in records if record.group == "kinds"]
    assert alone.series == "in one process"
    assert {1, 2} <= {record.details["shards"] for record in streamed} <= {1, 2, 4}
    assert all(0 < record.details["copies_a_message"] <= 4 for record in streamed)
    killed = [record for record in records if record.group == "recovery"]
    assert len(killed) == (kind != "boolean")
    assert all(record.details["recovery_seconds"] > 0 for record in killed)
    check_and_draw(records, tmp_path)


def told(*subscriptions, first=0):
    position = [first + n for n in range(len(subscriptions))]
    return pa.table({"subscription_id": subscriptions, "position": position})


def test_a_stream_that_tells_something_else_is_an_error():
    measure.check_told("right", told(7, 8), told(7, 8).take([1, 0]), 0)
    measure.check_told("later", told(7), told(7, first=5), 5)
    with pytest.raises(WrongAnswerError, match="less told 1 times, one process 2"):
        measure.check_told("less", told(7, 8), told(7), 0)
    with pytest.raises(WrongAnswerError, match="wrong told another 'subscription_id'"):
        measure.check_told("wrong", told(7), told(8), 0)


def listed(*scores, position=0):
    items = [[{"item": "tea", "score": score}] for score in scores]
    table = told(*range(len(scores)))
    return table.set_column(1, "position", pa.array([position] * len(scores))).append_column(
        "items", pa.array(items)
    )


def test_approximate_lists_may_differ_by_their_error():
    right = listed(1.0, 2.0, 3.0)
    assert measure.check_close("off", right, listed(1.01, 2.0, 2.97, position=5), 5, 0.01) == 1
    with pytest.raises(
        WrongAnswerError, match=r"far told \[1.1\] of \(0, 0\), one process \[1.0\]"
    ):
        measure.check_close("far", right, listed(1.1, 2.0, 3.0), 0, 0.01)
    with pytest.raises(WrongAnswerError, match="silent told the same as one process in 80%"):
        measure.check_close("silent", right, listed(1.0, 2.0), 0, 0.01)


def test_a_part_that_is_not_there_is_wrong_usage(capsys):
    assert main(["run", "pipeline", "--only", "nothing"]) == 2
    assert "it has batch, growth, stream, kinds: boolean" in capsys.readouterr().err


def test_sizes_are_never_larger_than_asked_for():
    sizes = run.Sizes.at_most(300, 20)
    assert (sizes.subscriptions, sizes.messages, sizes.join) == (300, 20, (20,))
    assert all(phase.messages <= 20 and phase.changes <= 20 for phase in sizes.phases)


def test_another_index_is_wrong_usage(capsys):
    assert main(["run", "pipeline", "--index", "ScanIndex"]) == 2
    assert "it has APTree" in capsys.readouterr().err


def test_nobody_maps_an_empty_folder(tmp_path):
    assert mapped_memory(tmp_path).processes == 0
