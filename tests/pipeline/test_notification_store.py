"""The notification store: every batch once, numbered in order."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nearcast.pipeline.notification_store import NotificationStore
from nearcast.storage import BadFile


def found(*pairs, time=0.0):
    return pa.table(
        {
            "subscription_id": pa.array([pair[0] for pair in pairs], pa.string()),
            "message_id": pa.array([pair[1] for pair in pairs], pa.string()),
            "time": pa.array([time] * len(pairs), pa.float64()),
            "position": pa.array(range(len(pairs)), pa.int64()),
        }
    )


def rejected(*reasons):
    count = len(reasons)
    return pa.table(
        {
            "side": pa.array(["message"] * count, pa.string()),
            "id": pa.array([None] * count, pa.string()),
            "reason": pa.array(reasons, pa.string()),
            "row": pa.array(["{}"] * count, pa.string()),
        }
    )


def pairs_of(table):
    return list(
        zip(table["subscription_id"].to_pylist(), table["message_id"].to_pylist(), strict=True)
    )


def test_what_is_written_is_read_in_order(tmp_path):
    store = NotificationStore(tmp_path)
    assert store.last_batch is None
    assert store.count == 0
    assert store.write(0, found(("s2", "m1"), ("s1", "m1"), ("s2", "m1"), time=-0.5))
    assert store.write(1, found())
    assert store.write(2, found(("ß", "日本")))
    assert (store.last_batch, store.count) == (2, 4)
    table = store.read()
    assert table.column_names == [
        "sequence", "batch", "subscription_id", "message_id", "time", "position",
    ]  # fmt: skip
    assert table["sequence"].to_pylist() == [1, 2, 3, 4]
    assert table["batch"].to_pylist() == [0, 0, 0, 2]
    assert table["time"].to_pylist() == [-0.5, -0.5, -0.5, 0.0]
    assert table["position"].to_pylist() == [0, 1, 2, 0]
    assert pairs_of(table) == [("s2", "m1"), ("s1", "m1"), ("s2", "m1"), ("ß", "日本")]


def test_a_batch_is_written_once(tmp_path):
    store = NotificationStore(tmp_path)
    assert store.write(0, found(("a", "b")), rejected("bad"))
    assert not store.write(0, found(("c", "d"), ("e", "f")), rejected("worse"))
    with NotificationStore(tmp_path) as another:
        assert not another.write(0, found(("c", "d")), rejected("worse"))
    assert pairs_of(store.read()) == [("a", "b")]
    assert store.rejects()["reason"].to_pylist() == ["bad"]


def test_an_old_batch_that_is_unknown_is_refused(tmp_path):
    store = NotificationStore(tmp_path)
    for batch in (5, 6, 9):
        assert store.write(batch, found((str(batch), "m")))
    for batch in (5, 6, 9):
        assert not store.write(batch, found(("again", "m")))
    for batch in (0, 4, 7, 8):
        with pytest.raises(ValueError, match=f"batch {batch} was never written to .* batch 9 was"):
            store.write(batch, found(("late", "m")))
    assert pairs_of(store.read()) == [("5", "m"), ("6", "m"), ("9", "m")]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), st.booleans()), max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_order_of_batches_against_a_model(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("store")
    store, model = NotificationStore(folder), {}
    for batch, count, reopen in steps:
        new = found(*((f"s{batch}", f"m{n}") for n in range(count)))
        if batch in model:
            assert not store.write(batch, new)
        elif model and batch < max(model):
            with pytest.raises(ValueError, match="was never written"):
                store.write(batch, new)
        else:
            assert store.write(batch, new)
            model[batch] = count
        if reopen:
            store.close()
            store = NotificationStore(folder)
    expected = [(f"s{batch}", f"m{n}") for batch, count in model.items() for n in range(count)]
    assert pairs_of(store.read()) == expected
    assert store.last_batch == max(model, default=None)
    store.close()


def test_ids_keep_their_types(tmp_path):
    store = NotificationStore(tmp_path)
    store.write(0, pa.table({"subscription_id": pa.nulls(0), "message_id": pa.nulls(0)}))
    store.write(1, pa.table({"subscription_id": [7, -(2**63)], "message_id": ["7", "8"]}))
    assert pairs_of(store.read()) == [(7, "7"), (-(2**63), "8")]
    assert pairs_of(store.read(subscription_id=7)) == [(7, "7")]
    assert store.read(subscription_id="7").num_rows == 0
    with pytest.raises(TypeError, match=r"subscription_id is string, in .* it is int64"):
        store.write(2, found(("7", "7")))
    assert store.last_batch == 1
    assert store.write(2, found())  # nothing in it, so no type either


def test_reading_some(tmp_path):
    store = NotificationStore(tmp_path)
    pairs = [(f"s{n % 3}", f"m{n}") for n in range(100)]
    for batch in range(10):
        store.write(batch, found(*pairs[batch * 10 : batch * 10 + 10]))
    assert pairs_of(store.read(after=95)) == pairs[95:]
    assert pairs_of(store.read(after=7, limit=11)) == pairs[7:18]
    assert store.read(after=100).num_rows == store.read(after=1000).num_rows == 0
    assert store.read(limit=0).num_rows == 0
    assert pairs_of(store.read(subscription_id="s1")) == pairs[1::3]
    assert pairs_of(store.read(after=50, limit=4, subscription_id="s1")) == pairs[52:62:3]
    assert store.read(subscription_id="unknown").schema == store.read().schema


def test_one_subscription_is_found_behind_many_others(tmp_path):
    store = NotificationStore(tmp_path)
    store.write(0, found(*[("other", "m")] * 70_000, ("mine", "m1")))
    store.write(1, found(*[("other", "m")] * 70_000, ("mine", "m2"), ("mine", "m3")))
    mine = store.read(subscription_id="mine", limit=2)
    assert pairs_of(mine) == [("mine", "m1"), ("mine", "m2")]
    assert mine["sequence"].to_pylist() == [70_001, 140_002]


def test_rejects_have_numbers_of_their_own(tmp_path):
    store = NotificationStore(tmp_path)
    assert store.rejects().num_rows == 0
    store.write(0, found(("a", "b")), rejected("latitude 95", "no id"))
    integers = pa.table(
        {"side": ["subscription"], "id": [7], "reason": ["no"], "row": ['{"id":7}']}
    )
    store.write(1, found(), integers)
    table = store.rejects()
    assert table.column_names == ["sequence", "batch", "side", "id", "reason", "row"]
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (1, 0, "message", None, "latitude 95", "{}"),
        (2, 0, "message", None, "no id", "{}"),
        (3, 1, "subscription", "7", "no", '{"id":7}'),
    ]
    assert store.rejects(after=2)["reason"].to_pylist() == ["no"]
    assert store.rejects(after=99).num_rows == 0


def test_trimming_keeps_the_numbers(tmp_path):
    store = NotificationStore(tmp_path)
    for batch in range(4):
        store.write(batch, found(*((f"s{batch}", f"m{n}") for n in range(5))))
    store.trim(8)
    store.trim(3)
    assert store.count == 13
    assert store.read(limit=1)["sequence"].to_pylist() == [8]
    with pytest.raises(IndexError, match="it ends at 20; trim at most before 21"):
        store.trim(22)
    store.trim(21)
    assert (store.count, store.last_batch) == (0, 3)
    assert not store.write(3, found(("again", "m")))
    store.write(4, found(("s4", "m")))
    assert store.read()["sequence"].to_pylist() == [21]


@pytest.mark.parametrize(
    ("notifications", "error", "problem"),
    [
        ({"message_id": [1]}, ValueError, "column 'subscription_id' is missing"),
        ({"subscription_id": [1], "message_id": [None]}, ValueError, "has no message_id"),
        ({"subscription_id": [1.5], "message_id": [1]}, TypeError, "must be string"),
        ({"subscription_id": [1], "message_id": [1], "score": [1]}, ValueError, "'score'"),
        ({"subscription_id": [1], "message_id": [1], "time": ["x"]}, TypeError, "'time'"),
    ],
)
def test_tables_that_do_not_fit_are_refused_and_change_nothing(
    tmp_path, notifications, error, problem
):
    store = NotificationStore(tmp_path)
    with pytest.raises(error, match=problem):
        store.write(0, pa.table(notifications))
    with pytest.raises(ValueError, match="unknown column 'why'"):
        store.write(0, found(), pa.table({"why": ["?"]}))
    assert (store.last_batch, store.count) == (None, 0)


def test_another_stream_is_refused(tmp_path):
    NotificationStore(tmp_path, stream="one").write(0, found(("a", "b")))
    assert NotificationStore(tmp_path, stream="one").last_batch == 0
    assert NotificationStore(tmp_path).count == 1
    with pytest.raises(ValueError, match=r"stream 'two': the store in .* to the stream 'one'"):
        NotificationStore(tmp_path, stream="two")


def test_readers_see_whole_batches_while_one_writes(tmp_path):
    store = NotificationStore(tmp_path)
    size, batches, done = 50, 60, threading.Event()
    problems = []

    def follow():
        with NotificationStore(tmp_path) as reader:
            after = 0
            while after < size * batches:
                rows = reader.read(after=after)
                after += rows.num_rows
                if rows.num_rows % size or rows["sequence"].to_pylist()[-1:] not in ([], [after]):
                    problems.append(rows)
                    return
        done.set()

    readers = [threading.Thread(target=follow) for _ in range(2)]
    for reader in readers:
        reader.start()
    for batch in range(batches):
        store.write(batch, found(*[(f"s{batch}", "m")] * size))
    for reader in readers:
        reader.join()
    assert not problems
    assert done.is_set()


def test_a_full_disk_leaves_the_store_as_it_was(tmp_path):
    store = NotificationStore(tmp_path)
    store.write(0, found(("a", "b")))
    pages = store._database._writer.execute("PRAGMA page_count").fetchone()[0]
    store._database._writer.execute(f"PRAGMA max_page_count = {pages + 2}")
    many = found(*((f"s{n * 7919 % 99991}", f"m{n}") for n in range(20_000)))
    with pytest.raises(OSError, match="disk full, nothing was written"):
        store.write(1, many, rejected("x"))
    assert (store.last_batch, store.count, store.rejects().num_rows) == (0, 1, 0)
    store._database._writer.execute("PRAGMA max_page_count = 1000000")
    assert store.write(1, many)
    assert store.count == 20_001


def test_damage_is_told(tmp_path):
    with NotificationStore(tmp_path) as store:
        store.write(0, found(("a", "b")))
    with sqlite3.connect(tmp_path / "notifications.sqlite") as connection:
        connection.execute("UPDATE notifications SET data = zeroblob(length(data))")
    with pytest.raises(BadFile, match="rows 0 to 0 of its notifications are missing or do not fit"):
        NotificationStore(tmp_path).read()


WRITER = """
import sys
import pyarrow as pa
from nearcast.pipeline.notification_store import NotificationStore

store = NotificationStore(sys.argv[1], stream="test")
batch = store.last_batch or 0  # the last one again, as after a crash
while True:
    size = batch * 37 % 500
    ids = pa.array([f"{batch}/{row}" for row in range(size)], pa.string())
    bad = pa.table({"reason": pa.array([str(batch)] * (batch % 3), pa.string())})
    store.write(batch, pa.table({"subscription_id": ids, "message_id": ids}), bad)
    print(batch, flush=True)
    batch += 1
"""


def test_kill_minus_9_writes_every_batch_once(tmp_path):
    moments, acknowledged = random.Random(5), -1
    for _ in range(6):
        command = [sys.executable, "-c", WRITER, str(tmp_path)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(moments.randrange(1, 100)):
            acknowledged = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        rest, _ = writer.communicate()
        lines = [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
        acknowledged = int(lines[-1]) if lines else acknowledged

        store = NotificationStore(tmp_path)
        last = store.last_batch
        assert last in (acknowledged, acknowledged + 1)
        table = store.read()
        sizes = [batch * 37 % 500 for batch in range(last + 1)]
        expected = [f"{batch}/{row}" for batch, size in enumerate(sizes) for row in range(size)]
        assert table["message_id"].to_pylist() == expected
        assert table["sequence"].to_pylist() == [*range(1, len(expected) + 1)]
        reasons = [str(batch) for batch in range(last + 1) for _ in range(batch % 3)]
        assert store.rejects()["reason"].to_pylist() == reasons
        store.close()
