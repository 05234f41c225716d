"""Snapshots in the background: one at a time, told when they fail, taken over when ready."""

import threading

import pyarrow as pa
import pytest

from nearcast.boolean import RarestWordTree
from nearcast.model import Message, Point, Subscription
from nearcast.pipeline.compaction import Compactor
from nearcast.pipeline.partitioning import Hash
from nearcast.pipeline.snapshot import Snapshot
from tests.pipeline.in_process import InProcessStream, log_table, pairs_of


class OneTask:
    """A Spark that runs the one task of a snapshot here, as often as it is told to."""

    def __init__(self, attempts=1):
        self.attempts = attempts
        self.may_run = threading.Event()
        self.may_run.set()

    def range(self, *_):
        return self

    def mapInArrow(self, task, _schema):  # noqa: N802
        self.task = task
        return self

    def collect(self):
        self.may_run.wait()
        for _ in range(self.attempts):
            list(self.task(iter([pa.record_batch({"id": [0]})])))


@pytest.fixture
def stream(tmp_path):
    stream = InProcessStream(tmp_path, Hash(1))
    stream.process(0, log_table([Subscription("a", "tea"), Subscription("b", "tea")]))
    stream.process(1, log_table([("unsubscribe", "a")], 10))
    return stream


def compactor_of(stream, spark):
    return Compactor(spark, stream.state, stream.partitioning, RarestWordTree)


def finished(compactor):
    """Waits for the snapshot that is running."""
    compactor._running[1].exception()
    return compactor.finished()


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_snapshot_is_made_while_others_work(stream, attempts):
    spark = OneTask(attempts)
    compactor = compactor_of(stream, spark)
    assert compactor.finished() is None
    spark.may_run.clear()
    compactor.start(0, stream.files[0])
    assert compactor.is_busy
    assert compactor.finished() is None
    spark.may_run.set()
    shard, files = finished(compactor)
    assert (shard, files.snapshot_batch, files.changes) == (0, 1, ())
    assert (compactor.is_busy, compactor.made, compactor.problem) == (False, 1, None)
    assert compactor.finished() is None
    assert len(Snapshot.load(files.snapshot, RarestWordTree).index) == 1
    stream.files[0] = files
    output = stream.process(2, log_table([Message("m", text="tea", at=Point(0, 0))], 20))
    assert pairs_of(output.notifications()) == [("b", "m")]
    compactor.stop()


def test_one_that_fails_is_told_and_the_old_one_serves(stream, monkeypatch):
    compactor = compactor_of(stream, OneTask())

    def full(self, path):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(RarestWordTree, "save", full)
        compactor.start(0, stream.files[0])
        assert finished(compactor) is None
    assert compactor.problem.startswith("no new snapshot of shard 0")
    assert compactor.problem.endswith("No space left on device")
    assert (compactor.is_busy, compactor.made) == (False, 0)
    names = [path.name for path in stream.state.shard_folder(0).iterdir()]
    assert not [name for name in names if "snapshot" in name]
    output = stream.process(2, log_table([Message("m", text="tea", at=Point(0, 0))], 20))
    assert pairs_of(output.notifications()) == [("b", "m")]
    compactor.start(0, stream.files[0])
    assert finished(compactor) is not None
    assert compactor.problem is None
    compactor.stop()


def test_the_shard_that_failed_is_known_until_one_succeeds(stream, monkeypatch):
    compactor = compactor_of(stream, OneTask())

    def silent(self, path):
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(RarestWordTree, "save", silent)
        compactor.start(0, stream.files[0])
        assert finished(compactor) is None
    assert (compactor.failed, compactor.problem[-7:]) == (0, "OSError")
    compactor.start(0, stream.files[0])
    assert finished(compactor) is not None
    assert compactor.failed is None
    compactor.stop()
