"""Snapshots: the same subscriptions, whether kept, changed, saved or loaded."""

import shutil
from functools import partial

import pytest

from nearcast.boolean import APTree, RarestWordTree, ScanIndex, TrieQuadtree
from nearcast.model import Message, Point, Space, Subscription
from nearcast.pipeline.changes import Changes
from nearcast.pipeline.partitioning import Hash
from nearcast.pipeline.snapshot import Snapshot
from nearcast.storage import BadFile
from tests.pipeline.histories import Oracle, random_history
from tests.pipeline.in_process import (
    PARTITIONINGS,
    InProcessStream,
    log_table,
    lose_hot_copies,
    pairs_of,
    planned,
)

TEA = [Message("m", text="tea", at=Point(0, 0))]


@pytest.fixture
def stream(tmp_path):
    stream = InProcessStream(tmp_path, Hash(1))
    stream.process(0, log_table([Subscription("a", "tea"), Subscription("b", "tea")]))
    stream.process(1, log_table([("unsubscribe", "a"), Subscription("c", "tea")], 10))
    return stream


def test_an_id_may_come_back_to_a_slot_that_was_freed(stream):
    for number in range(2, 8):
        stream.snapshot(0)
        events = [("unsubscribe", "c"), Subscription("a", "tea"), Subscription("c", "jam OR tea")]
        stream.process(2 * number, log_table(events, 100 * number))
        stream.snapshot(0)
        more = [("unsubscribe", "a"), ("unsubscribe", "b"), Subscription("b", "tea"), *TEA]
        output = stream.process(2 * number + 1, log_table(more, 100 * number + 50))
        assert pairs_of(output.notifications()) == [("b", "m"), ("c", "m")]


@pytest.mark.parametrize("lost", [0, 1])
def test_a_file_that_is_missing_is_noticed(stream, lost):
    stream.process(2, log_table([Subscription("d", "tea")], 20))
    stream.state.changes(0, lost).unlink()
    lose_hot_copies()
    stream.restart()
    with pytest.raises(BadFile, match=f"follows batch {lost}.*a file of the checkpoint is missing"):
        stream.process(3, log_table(TEA, 30))


def test_a_snapshot_that_is_missing_is_noticed(stream):
    stream.snapshot(0)
    stream.process(2, log_table([Subscription("d", "tea")], 20))
    stream.snapshot(0)
    stream.process(3, log_table([Subscription("e", "tea")], 30))
    shutil.rmtree(stream.files[0].snapshot)
    lose_hot_copies()
    stream.restart()
    with pytest.raises(BadFile, match="follows batch 1, but the last one here is -1"):
        stream.process(4, log_table(TEA, 40))


def test_without_its_first_snapshot_a_shard_still_has_all_changes(stream):
    stream.snapshot(0)
    stream.process(2, log_table([Subscription("d", "tea")], 20))
    shutil.rmtree(stream.files[0].snapshot)
    lose_hot_copies()
    stream.restart()
    output = stream.process(3, log_table(TEA, 30))
    assert pairs_of(output.notifications()) == [("b", "m"), ("c", "m"), ("d", "m")]


def test_it_replaces_the_one_before_it(stream):
    stream.snapshot(0)
    first = stream.files[0].snapshot
    stream.process(2, log_table([Subscription("d", "tea")], 20))
    stream.snapshot(0)
    assert not first.exists()
    assert stream.files[0].snapshot_batch == 2
    names = [path.name for path in stream.state.shard_folder(0).iterdir()]
    left = [name for name in names if name.startswith(("changes", "."))]
    assert left == [stream.state.changes(0, 2).name], "between the two, for copies that missed it"


@pytest.mark.parametrize("kind", PARTITIONINGS)
def test_a_loaded_snapshot_is_the_saved_one(tmp_path, kind):
    stream = InProcessStream(tmp_path / "state", planned(kind, 3))
    stream.process(0, log_table(random_history(3, 80)))
    for shard in range(3):
        stream.snapshot(shard)
        folder = stream.files[shard].snapshot
        snapshot = Snapshot.load(folder, RarestWordTree)
        snapshot.index.check()
        snapshot.save(tmp_path / f"again-{shard}")
        again = Snapshot.load(tmp_path / f"again-{shard}", RarestWordTree)
        live = again.ids.live_slots()
        assert again.ids.list_of(live) == snapshot.ids.list_of(live)
        assert sorted(again.index.ids()) == live.tolist()
        assert (again.masks is None) == (kind.name == "hash")
        if again.masks is not None:
            assert (again.masks == snapshot.masks).all()
            # Every subscription that is kept here knows that it is.
            assert ((again.masks[live, 0] >> shard) & 1).all()


@pytest.mark.parametrize(
    "make_index", [ScanIndex, TrieQuadtree, pytest.param(partial(APTree, fanout=4), id="APTree")]
)
def test_any_index_serves(tmp_path, make_index):
    stream = InProcessStream(tmp_path, Hash(2), make_index)
    oracle, found = Oracle(), []
    events = list(random_history(5, 150))
    for number in range(3):
        batch = events[50 * number : 50 * (number + 1)]
        for event in batch:
            oracle.apply(event)
        output = stream.process(number, log_table(batch, 50 * number))
        found += pairs_of(output.notifications())
        stream.snapshot(0)
        stream.snapshot(1)
    assert sorted(found) == sorted(oracle.notifications)


def test_a_plane_stays_a_plane(tmp_path):
    make_index = partial(RarestWordTree, space=Space.PLANE)
    Snapshot.empty(make_index, Hash(1)).save(tmp_path / "s")
    assert Snapshot.load(tmp_path / "s", make_index).index.space is Space.PLANE


@pytest.mark.parametrize("part", ["index.near", "ids.near"])
def test_a_damaged_snapshot_is_told_and_never_used(stream, part):
    stream.snapshot(0)
    lose_hot_copies()
    path = stream.files[0].snapshot / part
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], flipped(whole)):
        path.write_bytes(damaged)
        with pytest.raises(BadFile, match=part):
            stream.process(2, log_table(TEA, 100))
    path.unlink()
    with pytest.raises(FileNotFoundError, match=part):
        stream.process(2, log_table(TEA, 100))
    path.write_bytes(whole)
    output = stream.process(2, log_table(TEA, 100))
    assert pairs_of(output.notifications()) == [("b", "m"), ("c", "m")]


def flipped(data):
    """With one bit changed in the middle of what counts."""
    changed = bytearray(data)
    changed[300] ^= 1
    return bytes(changed)


def test_a_damaged_changelog_is_told_and_never_skipped(stream):
    lose_hot_copies()
    path = stream.state.changes(0, 1)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(BadFile, match=path.name):
        stream.process(2, log_table(TEA, 100))
    path.unlink()
    with pytest.raises(FileNotFoundError, match=path.name):
        stream.process(2, log_table(TEA, 100))


def test_a_save_that_fails_leaves_nothing(stream, tmp_path, monkeypatch):
    def full(self, path):
        raise OSError(28, "No space left on device")

    folder = tmp_path / "snapshots"
    folder.mkdir()
    monkeypatch.setattr(RarestWordTree, "save", full)
    with pytest.raises(OSError, match="No space"):
        Snapshot.empty(RarestWordTree, Hash(1)).save(folder / "s")
    assert list(folder.iterdir()) == []
    monkeypatch.undo()
    Snapshot.empty(RarestWordTree, Hash(1)).with_changes([], Hash(1)).save(folder / "s")
    with pytest.raises(OSError, match="not empty"):
        Snapshot.empty(RarestWordTree, Hash(1)).save(folder / "s")
    assert [path.name for path in folder.iterdir()] == ["s"]


def test_changes_of_several_batches_are_taken_in_at_once(stream):
    changes = [Changes.read(stream.state.changes(0, n), follows=n - 1) for n in (0, 1)]
    snapshot = Snapshot.empty(RarestWordTree, Hash(1)).with_changes(changes, Hash(1))
    assert sorted(snapshot.ids.list_of(snapshot.ids.live_slots())) == ["b", "c"]
    assert len(snapshot.index) == 2
