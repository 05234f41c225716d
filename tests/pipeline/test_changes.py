"""Changes travel and are kept as they are."""

import numpy as np
import pyarrow as pa
import pytest

from nearcast.batches import SubscriptionBatch
from nearcast.model import Box, Space, Subscription
from nearcast.pipeline.changes import Changes, Withdrawals, no_subscriptions
from nearcast.pipeline.rows import Rows
from nearcast.storage import BadFile

STRING_IDS = pa.array(["a", "ß", ""], pa.large_string())
INTEGER_IDS = pa.array([7, -(2**63), 2**63 - 1], pa.int64())


def some_changes(ids):
    batch = SubscriptionBatch.from_subscriptions(
        [Subscription(0, "tea OR cake"), Subscription(1, "jam", Box(170, 0, -170, 9))]
    )
    return Changes(
        Rows(ids[:2], batch, np.array([5, 9])),
        Withdrawals(ids, np.array([1, 7, 8]), np.array([True, False, True])),
    )


def assert_same(found, expected):
    assert found.new.labels.equals(expected.new.labels)
    assert found.old.labels.equals(expected.old.labels)
    assert found.new.position.tolist() == expected.new.position.tolist()
    assert found.old.position.tolist() == expected.old.position.tolist()
    assert found.old.asked.tolist() == expected.old.asked.tolist()
    assert found.new.batch.space is expected.new.batch.space
    for row in range(len(expected.new)):
        one, other = (each.new.batch.subscription(row) for each in (found, expected))
        assert (one.expression, one.region) == (other.expression, other.region)


@pytest.mark.parametrize("ids", [STRING_IDS, INTEGER_IDS])
def test_they_travel_and_are_kept(ids, tmp_path):
    changes = some_changes(ids)
    assert len(changes) == 5
    assert_same(Changes.unpack(changes.pack()), changes)
    changes.write(tmp_path / "c.near", follows=3)
    assert_same(Changes.read(tmp_path / "c.near", follows=3), changes)
    assert [path.name for path in tmp_path.iterdir()] == ["c.near"]


@pytest.mark.parametrize("ids", [STRING_IDS, INTEGER_IDS])
@pytest.mark.parametrize("space", list(Space))
def test_nothing_keeps_its_types(ids, space):
    nothing = Changes(
        no_subscriptions(ids, space), Withdrawals(ids[:0], np.empty(0, np.int64), np.empty(0, bool))
    )
    found = Changes.unpack(nothing.pack())
    assert len(found) == 0
    assert found.new.batch.space is space
    assert found.new.labels.type == found.old.labels.type == ids.type


@pytest.mark.parametrize("ids", [STRING_IDS, INTEGER_IDS])
def test_joined(ids):
    changes = some_changes(ids)
    nothing = Changes(
        no_subscriptions(ids, Space.EARTH),
        Withdrawals(ids[:0], np.empty(0, np.int64), np.empty(0, bool)),
    )
    joined = Changes.joined([nothing, changes, changes])
    assert joined.new.labels.to_pylist() == ids.to_pylist()[:2] * 2
    assert joined.old.position.tolist() == [1, 7, 8] * 2
    assert_same(Changes.joined([changes]), changes)


def test_withdrawals_are_taken_with_all_that_belongs_to_them():
    taken = some_changes(STRING_IDS).old.take(np.array([2, 1]))
    assert taken.labels.to_pylist() == ["", "ß"]
    assert taken.position.tolist() == [8, 7]
    assert taken.asked.tolist() == [True, False]


def test_a_damaged_file_is_told(tmp_path):
    path = tmp_path / "c.near"
    some_changes(STRING_IDS).write(path, follows=-1)
    whole = path.read_bytes()
    path.write_bytes(whole[:-80])
    with pytest.raises(BadFile, match=r"c\.near is (truncated|damaged)"):
        Changes.read(path, follows=-1)
    path.write_bytes(whole[:-64] + bytes([whole[-64] ^ 1]) + whole[-63:])
    with pytest.raises(BadFile, match="checksum"):
        Changes.read(path, follows=-1)
