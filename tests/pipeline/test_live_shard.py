"""Shards that follow a stream answer as the definitions do, whatever happens around them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearcast.boolean import RarestWordTree, ScanIndex
from nearcast.pipeline.live_shard import LiveShard
from nearcast.pipeline.partitioning import Hash, Keyword, Location
from nearcast.pipeline.snapshot import Snapshot
from tests.pipeline.histories import Oracle, random_history
from tests.pipeline.in_process import (
    InProcessStream,
    log_table,
    pairs_of,
    planned,
)

# Where a subscription is in one shard only, what may go wrong is what goes wrong with copies too.
PARTITIONINGS = (Location, Keyword, pytest.param(Hash, marks=pytest.mark.thorough))


@st.composite
def lives(draw):
    """Batches of a history, and what happens before each of them."""
    events = list(random_history(draw(st.integers(0, 10_000)), draw(st.integers(1, 120)), ids=12))
    batches = []
    while events:
        size = draw(st.integers(1, 40))
        batches.append(events[:size])
        events = events[size:]
    before = st.sampled_from(["", "", "lose copies", "snapshot 0", "snapshot", "restart", "again"])
    return [(batch, draw(before)) for batch in batches]


@pytest.mark.parametrize("kind", PARTITIONINGS)
@given(life=lives(), shards=st.sampled_from([1, 2, 3, 7]))
@settings(max_examples=8)
def test_all_shards_together_equal_the_oracle(tmp_path_factory, kind, life, shards):
    folder = tmp_path_factory.mktemp("state")
    stream = InProcessStream(folder, planned(kind, shards), RarestWordTree)
    oracle, offset = Oracle(), 0
    for number, (events, happens) in enumerate(life):
        if happens.startswith("snapshot"):
            for shard in range(1 if happens == "snapshot 0" else shards):
                stream.snapshot(shard)
        elif happens == "restart":
            stream.restart()
        del oracle.notifications[:], oracle.unknown[:]
        for event in events:
            oracle.apply(event)
        table = log_table(events, offset)
        offset += len(table)
        output = stream.process(
            number, table, lose_between=happens == "lose copies", tasks=1 + number % 3
        )
        if happens == "again":  # the output is lost, the changes are not
            for path in output.notification_files:
                path.unlink()
            output = stream.process(number, table)
        assert pairs_of(output.notifications()) == sorted(oracle.notifications)
        assert sorted(output.rejects()["id"].to_pylist()) == sorted(oracle.unknown)


@pytest.mark.parametrize("kind", PARTITIONINGS)
def test_more_shards_than_bits_in_a_word(tmp_path, kind):
    stream = InProcessStream(tmp_path, planned(kind, 70), ScanIndex)
    oracle, found = Oracle(), []
    events = list(random_history(7, 120))
    for number in range(2):
        batch = events[60 * number : 60 * (number + 1)]
        for event in batch:
            oracle.apply(event)
        output = stream.process(number, log_table(batch, 60 * number))
        found += pairs_of(output.notifications())
        for shard in (0, 63, 64, 69):
            stream.snapshot(shard)
    assert sorted(found) == sorted(oracle.notifications)


def test_a_batch_is_applied_once():
    live = LiveShard(0, Snapshot.empty(RarestWordTree, Hash(1)), 4, Hash(1), RarestWordTree)
    with pytest.raises(ValueError, match="batch 4 is in already; the last one was 4"):
        live.apply(4, None)


@pytest.mark.parametrize(("kind", "has_masks"), [(Hash, False), (Location, True), (Keyword, True)])
def test_masks_are_kept_where_copies_are(kind, has_masks):
    snapshot = Snapshot.empty(RarestWordTree, planned(kind, 70))
    assert (snapshot.masks is not None) is has_masks
    if has_masks:
        assert snapshot.masks.shape == (0, 2)
