"""One shard, one batch: durable in the right order, and the same however often it is done."""

import errno
import json
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearcast.model import Box, Message, Point, Subscription
from nearcast.pipeline import step as step_module
from nearcast.pipeline.partitioning import Hash, Location
from tests.pipeline.histories import Oracle, random_history
from tests.pipeline.in_process import (
    InProcessStream,
    log_table,
    lose_hot_copies,
    pairs_of,
    planned,
)

TEA = Message("m", text="tea", at=Point(0, 0))
EVENTS = [Subscription("a", "tea"), TEA, ("unsubscribe", "a"), ("unsubscribe", "b"), TEA]


@pytest.fixture
def stream(tmp_path):
    return InProcessStream(tmp_path, Hash(1))


def names(stream, shard=0):
    return sorted(path.name.split("-")[0] for path in stream.state.shard_folder(shard).iterdir())


def test_a_step_writes_three_files(stream):
    output = stream.process(0, log_table(EVENTS))
    assert names(stream) == ["changes", "notifications", "rejects"]
    assert output.notifications().to_pylist() == [
        {"subscription_id": "a", "message_id": "m", "time": 0.0, "position": 1}
    ]
    [reject] = output.rejects().to_pylist()
    assert reject == {
        "side": "subscription",
        "id": "b",
        "reason": "id 'b' is not subscribed; there is nothing to remove",
        "row": '{"kind": "unsubscribe", "id": "b"}',
    }
    [facts] = stream.last_steps
    counted = {"changes": 3, "visits": 2, "notifications": 1, "rejects": 1, "waiting": 1}
    assert facts.items() >= counted.items()
    assert set(facts["milliseconds"]) == {"open", "apply", "match", "write"}


def test_a_step_without_rows_is_none(stream):
    assert stream.step(0, 0, []) is None
    assert stream.process(0, log_table([])).notifications().num_rows == 0
    assert names(stream) == []


def test_a_step_without_matches_says_that_it_is_done(stream):
    output = stream.process(0, log_table([TEA]))
    assert names(stream) == ["notifications"]
    assert output.notifications().schema == output.schema
    assert stream.process(0, log_table([TEA])).notifications().num_rows == 0


def test_a_step_done_twice_gives_the_same(stream, monkeypatch):
    once = stream.process(0, log_table(EVENTS)).notifications()
    facts = stream.last_steps

    def never(*_):
        raise AssertionError("it was done")

    monkeypatch.setattr(step_module.Step, "run", never)
    lose_hot_copies()
    assert stream.process(0, log_table(EVENTS)).notifications() == once
    assert [each["freshness"] for each in stream.last_steps] == [
        each["freshness"] for each in facts
    ]


@pytest.mark.parametrize("copies_are_lost", [False, True])
@pytest.mark.parametrize("torn", [b"", b"PAR1", None])
def test_a_torn_output_is_done_again(stream, torn, copies_are_lost):
    stream.process(0, log_table([Subscription("a", "cake"), Subscription("c", "tea")]))
    output = stream.process(1, log_table(EVENTS, 10))
    expected = output.notifications(), output.rejects()
    path = stream.state.notifications(0, 1)
    path.write_bytes(path.read_bytes()[:-9] if torn is None else torn)
    if copies_are_lost:
        lose_hot_copies()
    again = stream.process(1, log_table(EVENTS, 10))
    assert (again.notifications(), again.rejects()) == expected
    assert len(expected[0]) == 3


@pytest.mark.parametrize("fails", ["_write_rejects", "_match"])
def test_a_crash_in_the_middle_is_done_again(stream, fails, monkeypatch):
    stream.process(0, log_table([Subscription("c", "tea")]))

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(step_module.Step, fails, crash)
        with pytest.raises(KeyboardInterrupt):
            stream.process(1, log_table(EVENTS, 10))
    stream.restart()
    output = stream.process(1, log_table(EVENTS, 10))
    assert pairs_of(output.notifications()) == [("a", "m"), ("c", "m"), ("c", "m")]
    assert output.rejects()["id"].to_pylist() == ["b"]


def test_changes_are_durable_before_notifications(stream, monkeypatch):
    seen = []
    write = step_module.write_parquet

    def noting(path, table, facts):
        seen.append((path.name.split("-")[0], names(stream)))
        write(path, table, facts)

    monkeypatch.setattr(step_module, "write_parquet", noting)
    stream.process(0, log_table(EVENTS))
    assert seen == [("rejects", ["changes"]), ("notifications", ["changes", "rejects"])]


@pytest.mark.parametrize("synced_before", range(6))
def test_a_full_disk_leaves_no_half_file_and_the_next_run_succeeds(
    stream, synced_before, monkeypatch
):
    calls = []

    def full(handle):
        calls.append(handle)
        if len(calls) > synced_before:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            stream.process(0, log_table(EVENTS))
    assert set(names(stream)) <= {"changes", "rejects", "notifications"}  # whole, under their names
    assert ("notifications" in names(stream)) == (synced_before == 5)
    output = stream.process(0, log_table(EVENTS))  # in the same worker, with what it kept
    assert pairs_of(output.notifications()) == [("a", "m")]
    assert output.rejects()["id"].to_pylist() == ["b"]
    stream.restart()
    output = stream.process(1, log_table([TEA, Subscription("a", "tea"), TEA], 10))
    assert pairs_of(output.notifications()) == [("a", "m")]


def test_files_can_be_read_by_whoever_the_umask_lets(stream):
    stream.process(0, log_table(EVENTS))
    plain = stream.state.folder / "plain"
    plain.touch()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in stream.state.shard_folder(0).iterdir()}
    assert modes == {stat.S_IMODE(plain.stat().st_mode)}


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_an_id_is_unknown_when_no_shard_has_it(tmp_path, shards):
    stream = InProcessStream(tmp_path, planned(Location, shards))
    west, east = Box(-170, -80, -160, 80), Box(160, -80, 170, 80)
    events = [
        Subscription("a", "tea", west),
        ("unsubscribe", "a"),  # known where it was
        ("unsubscribe", "a"),  # unknown
        Subscription("b", "tea", west),
        Subscription("b", "tea", east),
        ("unsubscribe", "b"),  # known where it went
        ("unsubscribe", "b"),  # unknown
        ("unsubscribe", "b"),  # unknown, once more
    ]
    output = stream.process(0, log_table(events))
    assert sorted(output.rejects()["id"].to_pylist()) == ["a", "b", "b"]


def test_bad_rows_are_refused_and_the_rest_is_answered(tmp_path):
    stream = InProcessStream(tmp_path, Hash(3))
    table = log_table([*EVENTS, *[TEA] * 4, Subscription("c", "tea")])
    broken = {
        "kind": {4: "publish", 5: None},
        "offset": {6: None, 7: -1},
        "lat": {8: 95.0},
        "id": {9: None},
    }
    for name, values in broken.items():
        column = table[name].to_pylist()
        for row, value in values.items():
            column[row] = value
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(column, table[name].type))
    output = stream.process(0, table)
    assert pairs_of(output.notifications()) == [("a", "m")]
    told = sorted(output.rejects()["reason"].to_pylist())
    assert len(told) == 7
    for part, reason in zip(
        ["id 'b' is not", "id is null", "kind is", "kind is", "latitude 95", "offset", "offset"],
        told,
        strict=True,
    ):
        assert part in reason
    assert all(json.loads(row) for row in output.rejects()["row"].to_pylist())


def test_notifications_come_in_the_order_of_the_messages(tmp_path):
    stream = InProcessStream(tmp_path, Hash(3))
    oracle = Oracle()
    events = list(random_history(11, 150))
    for event in events:
        oracle.apply(event)
    found = stream.process(0, log_table(events)).notifications()
    assert found["position"].to_pylist() == sorted(found["position"].to_pylist())
    assert found["message_id"].to_pylist() == [message for _, message in oracle.notifications]
    times = {event.id: event.time for event in events if isinstance(event, Message)}
    assert all(row["time"] == times[row["message_id"]] for row in found.to_pylist())


def test_other_programs_can_read_the_output(stream):
    stream.process(0, log_table(EVENTS))
    table = pq.read_table(stream.state.notifications(0, 0))
    assert table.column_names == ["subscription_id", "message_id", "time", "position"]
