"""A worker's copies of shards: used when they are right, never when they might not be."""

import time
from dataclasses import replace

import pytest

from nearcast.model import Message, Point, Subscription
from nearcast.pipeline import hot_copies
from nearcast.pipeline.live_shard import LiveShard
from nearcast.pipeline.partitioning import Hash
from tests.pipeline.in_process import InProcessStream, log_table, lose_hot_copies, pairs_of

HOT, CAUGHT_UP, RESTORED = "hot", "caught up", "restored"
TEA = [Message("m", text="tea", at=Point(0, 0))]


@pytest.fixture
def stream(tmp_path):
    return InProcessStream(tmp_path, Hash(1))


def process(stream, number, events):
    """How the worker came by its copy, and who was told."""
    output = stream.process(number, log_table(events, 10 * number))
    [step] = stream.last_steps
    return step["freshness"], [name for name, _ in pairs_of(output.notifications())]


def test_the_next_batch_finds_the_copy(stream):
    assert process(stream, 0, [Subscription("a", "tea"), *TEA]) == (RESTORED, ["a"])
    assert process(stream, 1, TEA) == (HOT, ["a"])
    assert process(stream, 2, [Subscription("b", "tea"), *TEA]) == (HOT, ["a", "b"])
    assert process(stream, 5, TEA) == (HOT, ["a", "b"])


def test_a_copy_that_missed_a_batch_catches_up(stream):
    process(stream, 0, [Subscription("a", "tea")])
    kept = dict(hot_copies._copies)
    lose_hot_copies()  # another worker does batch 1
    assert process(stream, 1, [Subscription("b", "tea"), *TEA]) == (RESTORED, ["a", "b"])
    hot_copies._copies.update(kept)
    assert process(stream, 2, TEA) == (CAUGHT_UP, ["a", "b"])
    assert process(stream, 3, TEA) == (HOT, ["a", "b"])


def test_a_copy_over_an_old_snapshot_answers_once_more_and_moves_on(stream):
    process(stream, 0, [Subscription("a", "tea")])
    stream.snapshot(0)
    assert process(stream, 1, [Subscription("b", "tea"), *TEA]) == (HOT, ["a", "b"])
    [copy] = copies(stream)
    assert copy.live.snapshot.folder == stream.files[0].snapshot
    assert process(stream, 2, TEA) == (CAUGHT_UP, ["a", "b"])
    assert process(stream, 3, TEA) == (HOT, ["a", "b"])


@pytest.mark.parametrize(("snapshots", "freshness"), [(1, CAUGHT_UP), (2, RESTORED)])
def test_a_copy_may_be_one_snapshot_behind(stream, snapshots, freshness):
    process(stream, 0, [Subscription("a", "tea")])
    stream.snapshot(0)
    process(stream, 1, [Subscription("b", "tea")])
    kept = dict(hot_copies._copies)
    lose_hot_copies()
    everybody = ["a", "b"]
    for number in range(2, 2 + snapshots):  # in another worker
        everybody.append(f"new {number}")
        process(stream, number, [Subscription(everybody[-1], "tea")])
        stream.snapshot(0)
    hot_copies._copies.update(kept)
    assert process(stream, 5, [*TEA, Subscription("last", "tea")]) == (freshness, everybody)
    assert process(stream, 6, TEA) == (
        CAUGHT_UP if snapshots == 1 else HOT,
        sorted([*everybody, "last"]),
    )


def test_a_copy_from_the_future_is_not_used(stream):
    process(stream, 0, [Subscription("a", "tea")])
    process(stream, 1, [Subscription("b", "tea")])
    stream.files[0] = stream.files[0].before(1)  # the checkpoint of an earlier moment
    stream.state.changes(0, 1).unlink()
    assert process(stream, 0, TEA) == (RESTORED, [])  # its own changes are what it brings


def test_a_copy_that_failed_in_the_middle_is_not_used_again(stream, monkeypatch):
    process(stream, 0, [Subscription("a", "tea")])

    def half(self, batch, changes):
        self._versions.apply(changes)
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(LiveShard, "apply", half)
        with pytest.raises(MemoryError):
            process(stream, 1, [Subscription("b", "tea"), ("unsubscribe", "a")])
    assert (stream.state.key, stream.state.run, 0) not in hot_copies._copies
    assert process(stream, 1, [Subscription("b", "tea"), *TEA]) == (RESTORED, ["a", "b"])


def test_a_copy_is_of_its_stream(stream, tmp_path):
    process(stream, 0, [Subscription("a", "tea")])
    other = InProcessStream(tmp_path / "other", Hash(1))
    assert process(other, 0, TEA) == (RESTORED, [])
    assert process(stream, 1, TEA) == (HOT, ["a"])
    assert process(other, 1, TEA) == (HOT, [])


def test_a_copy_that_nobody_uses_is_forgotten(stream, tmp_path, monkeypatch):
    process(stream, 0, [Subscription("a", "tea")])
    other = InProcessStream(tmp_path / "other", Hash(1))
    process(stream, 1, TEA)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + hot_copies.UNUSED_SECONDS + 1)
    assert process(other, 0, TEA) == (RESTORED, [])
    assert {run for _, run, _ in hot_copies._copies} == {other.state.run}
    assert process(other, 1, TEA) == (HOT, [])


@pytest.mark.parametrize("lose", [False, True])
@pytest.mark.parametrize("snapshot", [False, True])
def test_changes_of_an_earlier_batch_lie_in_the_past_whatever_their_offsets(stream, lose, snapshot):
    stream.process(0, log_table([Subscription("a", "tea"), Subscription("b", "tea")], 100))
    stream.process(1, log_table([("unsubscribe", "a")], 200))
    if snapshot:
        stream.snapshot(0)
    if lose:
        lose_hot_copies()
    output = stream.process(2, log_table(TEA, 0))
    assert pairs_of(output.notifications()) == [("b", "m")]


def copies(stream):
    return [copy for key, copy in hot_copies._copies.items() if key[0] == stream.state.key]


def test_copies_of_earlier_starts_are_let_go(stream):
    process(stream, 0, [Subscription("a", "tea")])
    process(stream, 1, TEA)
    assert len(copies(stream)) == 1
    stream.state = replace(stream.state, run="a later one")
    process(stream, 2, TEA)
    assert [run for key, run, _ in hot_copies._copies if key == stream.state.key] == ["a later one"]


def test_a_worker_moves_on_with_all_its_shards(tmp_path):
    stream = InProcessStream(tmp_path / "two", Hash(2))
    stream.process(0, log_table([Subscription(f"s{n}", "tea") for n in range(20)], 0))
    for shard in 0, 1:
        stream.snapshot(shard)
    stream.step(1, 0, stream.packed(log_table(TEA, 10))[0])
    folders = {copy.live.snapshot.folder for copy in copies(stream)}
    assert folders == {stream.files[0].snapshot, stream.files[1].snapshot}


@pytest.mark.parametrize(("shards", "opened"), [(3, 3), (hot_copies.FEW + 1, 1)])
def test_a_worker_has_all_shards_open_where_they_are_few(tmp_path, shards, opened):
    stream = InProcessStream(tmp_path, Hash(shards))
    tea = [Subscription(f"s{n}", "tea") for n in range(20)]
    packed = stream.packed(log_table([*tea, *TEA], 0))
    stream.step(0, 1, packed[1])
    assert len(copies(stream)) == opened
    assert stream.step(0, 0, packed[0])["freshness"] == (HOT if opened == 3 else RESTORED)
