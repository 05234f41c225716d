"""The folder of a stream: what is found in it again, what is refused, what is cleaned up."""

import pytest

from nearcast.pipeline.partitioning import Hash
from nearcast.pipeline.state import BadCheckpoint, ShardFiles, StateFolder
from nearcast.storage import read_json, write_json

FACTS = {"index": "APTree", "shards": 2, "ordered": True}


@pytest.fixture
def state(tmp_path):
    return StateFolder.create_or_open(tmp_path / "state", FACTS, Hash(2))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_it_is_found_again(state):
    again = StateFolder.create_or_open(state.folder, FACTS, Hash(2))
    assert (again.folder, again.key) == (state.folder, state.key)
    assert again.run != state.run
    assert again.partitioning() == Hash(2)
    assert names(state.folder) == ["partitioning.near", "shard-0000", "shard-0001", "state.json"]


def test_a_shard_that_is_missing_is_not_taken_for_an_empty_one(state):
    state.shard_folder(1).rmdir()
    assert state.files(0) == ShardFiles()
    with pytest.raises(BadCheckpoint, match="shard-0001 is missing; restore"):
        state.files(1)


def test_no_two_states_have_the_same_key(tmp_path):
    keys = {StateFolder.create_or_open(tmp_path / str(n), FACTS, Hash(2)).key for n in range(3)}
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("name", "value"), [("index", "ScanIndex"), ("shards", 3), ("ordered", False), ("new", 1)]
)
def test_facts_are_fixed(state, name, value):
    with pytest.raises(BadCheckpoint, match=f"{name} .*, now it is {value!r}; these are fixed"):
        StateFolder.create_or_open(state.folder, {**FACTS, name: value}, Hash(2))


def test_another_format_is_refused(state):
    path = state.folder / "state.json"
    write_json(path, {**read_json(path), "format": 99})
    with pytest.raises(BadCheckpoint, match="has format 99, this Nearcast reads 1 and 2 and 3"):
        StateFolder.create_or_open(state.folder, FACTS, Hash(2))


@pytest.mark.parametrize("content", ["", '{"format": 1', '{"format": 1}'])
def test_a_damaged_description_is_told(state, content):
    (state.folder / "state.json").write_text(content)
    with pytest.raises(BadCheckpoint):
        StateFolder.create_or_open(state.folder, FACTS, Hash(2))


def test_a_state_that_was_not_finished_is_made_again(tmp_path):
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "partitioning.near").write_bytes(b"half")
    (folder / ".state.json").write_text("{")
    state = StateFolder.create_or_open(folder, FACTS, Hash(3))
    assert state.partitioning() == Hash(3)


def test_names_sort_as_their_numbers(state):
    assert state.changes(3, 12).name == "changes-000000000012.near"
    assert state.rejects(3, 12).name == "rejects-000000000012.parquet"
    assert state.notifications(3, 12).parent.name == "shard-0003"
    assert state.new_snapshot(0, 7) != state.new_snapshot(0, 7)


def test_what_is_there_after_a_restart(state):
    assert state.files(0) == ShardFiles()
    folder = state.shard_folder(0)
    for batch in (3, 4, 5, 11):
        state.changes(0, batch).touch()
    state.notifications(0, 11).touch()
    (old := state.new_snapshot(0, 3)).mkdir()
    (new := state.new_snapshot(0, 4)).mkdir()
    (folder / ".snapshot-000000000099-half.1f").mkdir()
    (folder / ".changes-000000000012.near.x7").touch()
    (folder / "notes.txt").touch()  # somebody else's
    assert state.files(0) == ShardFiles(new, 4, (5, 11))
    assert not [name for name in names(folder) if name.startswith(".")]
    assert {"notes.txt", old.name} < set(names(folder))


def test_what_a_snapshot_makes_unnecessary_goes(state):
    state.files(0)
    for batch in (3, 4, 5):
        state.changes(0, batch).touch()
        state.notifications(0, batch).touch()
    (old := state.new_snapshot(0, 3)).mkdir()
    (old / "index.near").touch()
    (new := state.new_snapshot(0, 4)).mkdir()
    state.remove_superseded(0, ShardFiles(new, 4, (5,)))
    assert not old.exists()
    assert new.exists()
    assert [state.changes(0, batch).exists() for batch in (3, 4, 5)] == [False, False, True]
    assert all(state.notifications(0, batch).exists() for batch in (3, 4, 5))


def test_changes_between_the_last_two_snapshots_stay(state):
    state.files(0)
    files = ShardFiles()
    for batch in (2, 4, 5, 7):
        state.changes(0, batch).touch()
        files = files.followed_by(batch)
    files = files.with_snapshot(snapshot_of(state, 2))
    assert (files.changes, files.earlier, files.chain) == ((4, 5, 7), (-1, 2), (-1, 2, 4, 5, 7))
    files = files.with_snapshot(snapshot_of(state, 5))
    assert (files.changes, files.earlier, files.chain) == ((7,), (2, 4, 5), (2, 4, 5, 7))
    assert files.before(7).chain == (2, 4, 5)
    state.remove_superseded(0, files)
    assert [state.changes(0, batch).exists() for batch in (2, 4, 5, 7)] == [False, True, True, True]
    assert state.files(0).chain == (5, 7)  # another start has no copies


def snapshot_of(state, batch):
    path = state.new_snapshot(0, batch)
    path.mkdir()
    return ShardFiles(path, batch)


def test_what_the_sink_has_goes(state):
    state.files(0)
    for batch in (3, 4):
        state.changes(0, batch).touch()
        state.rejects(0, batch).touch()
        state.notifications(0, batch).touch()
    state.remove_outputs(0, 3)
    assert names(state.shard_folder(0)) == [
        "changes-000000000003.near",
        "changes-000000000004.near",
        "notifications-000000000004.parquet",
        "rejects-000000000004.parquet",
    ]


def test_changes_of_an_attempt_do_not_count():
    files = ShardFiles(None, -1, (1, 2)).followed_by(3)
    assert (files.changes, files.last) == ((1, 2, 3), 3)
    assert files.before(3) == ShardFiles(None, -1, (1, 2))


@pytest.mark.parametrize("kind", ["changes", "notifications", "snapshot"])
def test_a_batch_before_one_that_was_done_is_refused(state, kind):
    state.files(1)
    later = state.new_snapshot(1, 8) if kind == "snapshot" else getattr(state, kind)(1, 8)
    later.touch()
    state.check_batch(9)
    with pytest.raises(BadCheckpoint, match=r"Spark's checkpoint is at batch 7, but .* later"):
        state.check_batch(7)
    if kind == "snapshot":  # it holds what Spark has committed, so batch 8 is over
        with pytest.raises(BadCheckpoint, match="at batch 8"):
            state.check_batch(8)
    else:
        state.check_batch(8)
