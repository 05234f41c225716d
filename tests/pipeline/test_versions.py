"""Who lives when, against a dictionary that is changed event by event."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.batches import SubscriptionBatch
from nearcast.boolean.id_table import IdTable
from nearcast.model import Space, Subscription
from nearcast.pipeline.changes import Changes, Withdrawals, no_subscriptions
from nearcast.pipeline.rows import Rows
from nearcast.pipeline.versions import ALIVE, Versions

SUBSCRIBE, UNSUBSCRIBE, MOVED = "subscribe", "unsubscribe", "moved"
TYPES = {str: pa.large_string(), int: pa.int64()}


def changes_of(events, type_=str):
    """Changes from (what, id, position), those that begin and those that end in any order."""
    kind = TYPES[type_]
    new = [(id_, position) for what, id_, position in events if what == SUBSCRIBE]
    old = [(id_, position, what) for what, id_, position in events if what != SUBSCRIBE]
    batch = SubscriptionBatch.from_subscriptions(
        Subscription(row, "tea") for row in range(len(new))
    )
    if not new:
        batch = no_subscriptions(pa.array([], kind), Space.EARTH).batch
    return Changes(
        Rows(
            pa.array([id_ for id_, _ in new], kind),
            batch,
            np.array([position for _, position in new], np.int64),
        ),
        Withdrawals(
            pa.array([id_ for id_, _, _ in old], kind),
            np.array([position for _, position, _ in old], np.int64),
            np.array([what == UNSUBSCRIBE for _, _, what in old], bool),
        ),
    )


def snapshot_ids(ids, type_=str):
    table = IdTable()
    table.add(pa.array(ids, TYPES[type_]))
    return table


def alive_at(versions, table, position):
    """The live versions: ("slot", id) of the snapshot or ("entry", number), by the two rules."""
    slots = {
        ("slot", table.id_of(slot))
        for slot in range(table.slots)
        if versions.gone_at[slot] > position
    }
    entries = {
        ("entry", entry)
        for entry in range(versions.entries)
        if versions.born[entry] < position < versions.died[entry]
    }
    return slots | entries


@st.composite
def histories(draw):
    """What the snapshot has, and batches of events; messages stand at the odd positions."""
    ids = st.integers(0, 5)
    whats = st.sampled_from([SUBSCRIBE, SUBSCRIBE, UNSUBSCRIBE, MOVED])
    sizes = draw(st.lists(st.integers(0, 8), max_size=5))
    batches, position = [], 0
    for size in sizes:
        batch = []
        for _ in range(size):
            position += 2
            batch.append((draw(whats), draw(ids), position))
        # Rows come in any order: only their positions tell.
        batches.append(draw(st.permutations(batch)))
    return draw(st.sets(ids)), batches


@given(histories(), st.sampled_from([int, str]))
def test_versions_live_as_in_a_dictionary(history, type_):
    before, batches = history
    table = snapshot_ids([type_(id_) for id_ in before], type_)
    versions = Versions(table)
    live = {type_(id_): ("slot", type_(id_)) for id_ in before}
    for number, batch in enumerate(batches):
        events = [(what, type_(id_), position) for what, id_, position in batch]
        begin = versions.entries
        new = [position for what, _, position in events if what == SUBSCRIBE]
        entry_at = {position: ("entry", begin + row) for row, position in enumerate(new)}
        versions.begin_batch()
        found = versions.apply(changes_of(events, type_))

        unknown, expected = [], {}
        first = min((position for _, _, position in events), default=2 * number)
        expected[first - 1] = set(live.values())
        for what, id_, position in sorted(events, key=lambda event: event[2]):
            if what == SUBSCRIBE:
                live[id_] = entry_at[position]
            elif live.pop(id_, None) is None and what == UNSUBSCRIBE:
                unknown.append((id_, position))
            expected[position + 1] = set(live.values())

        for position, versions_there in expected.items():
            assert alive_at(versions, table, position) == versions_there
        told = zip(found.labels.to_pylist(), found.position.tolist(), strict=True)
        assert sorted(told) == sorted(unknown)
        slots = {table.slot_of(name) for what, name in live.values() if what == "slot"}
        assert set(range(table.slots)) - set(versions.gone_slots().tolist()) == slots
        assert versions.gone == table.slots - len(slots)
        entries = {name for what, name in live.values() if what == "entry"}
        assert set(versions.live_entries().tolist()) == entries
        if versions.entries:
            labels = versions.labels().to_pylist()
            assert {labels[entry] for entry in entries} == {
                id_ for id_, (what, _) in live.items() if what == "entry"
            }


def test_a_batch_that_was_applied_lies_in_the_past():
    table = snapshot_ids(["a"])
    versions = Versions(table)
    versions.apply(changes_of([(UNSUBSCRIBE, "a", 7), (SUBSCRIBE, "b", 8)]))
    assert alive_at(versions, table, 6) == {("slot", "a")}
    versions.begin_batch()
    assert alive_at(versions, table, 0) == alive_at(versions, table, 6) == {("entry", 0)}


def test_an_id_may_change_many_times_in_one_batch():
    table = snapshot_ids(["a"])
    versions = Versions(table)
    what = [SUBSCRIBE, UNSUBSCRIBE, UNSUBSCRIBE, SUBSCRIBE, SUBSCRIBE]
    unknown = versions.apply(changes_of([(each, "a", 2 * i) for i, each in enumerate(what)]))
    assert versions.born.tolist() == [0, 6, 8]
    assert versions.died.tolist() == [2, 8, ALIVE]
    assert versions.gone_at.tolist() == [0]
    assert unknown.position.tolist() == [4]


@pytest.mark.parametrize("type_", [int, str])
def test_no_changes_change_nothing(type_):
    table = snapshot_ids([type_(1)], type_)
    versions = Versions(table)
    none = pa.array([], TYPES[type_])
    nothing = Changes(
        no_subscriptions(none, Space.EARTH),
        Withdrawals(none[:0], np.empty(0, np.int64), np.empty(0, bool)),
    )
    assert len(nothing) == 0
    assert len(versions.apply(nothing)) == 0
    assert alive_at(versions, table, 0) == {("slot", type_(1))}


def test_two_changes_of_an_id_at_one_position_have_no_order():
    versions = Versions(IdTable())
    with pytest.raises(ValueError, match="two changes of id 'a' have the offset 3"):
        versions.apply(changes_of([(SUBSCRIBE, "a", 3), (SUBSCRIBE, "b", 3), (SUBSCRIBE, "a", 3)]))
    assert versions.entries == 0
