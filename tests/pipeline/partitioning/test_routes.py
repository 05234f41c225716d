import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.pipeline.partitioning import Routes, first_common

SHARDS = 130
row_sets = st.lists(st.sets(st.integers(0, SHARDS - 1), max_size=6), max_size=12)


def routes_of(rows):
    start = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return Routes(start, np.array([s for row in rows for s in sorted(row)], np.int32))


@given(row_sets)
def test_rows_and_masks_say_the_same(rows):
    routes = routes_of(rows)
    assert len(routes) == len(rows)
    masks = routes.masks(SHARDS)
    assert masks.shape == (len(rows), 3)
    assert masks.dtype == np.uint64
    for mask, row in zip(masks.tolist(), rows, strict=True):
        assert {s for s in range(SHARDS) if mask[s // 64] >> (s % 64) & 1} == row
    again = Routes.of_masks(masks)
    np.testing.assert_array_equal(again.start, routes.start)
    np.testing.assert_array_equal(again.shards, routes.shards)


@given(row_sets)
def test_rows_by_shard(rows):
    routes = routes_of(rows)
    by_shard = {shard: found.tolist() for shard, found in routes.by_shard()}
    assert list(by_shard) == sorted(set().union(*rows))
    for shard in range(SHARDS):
        expected = [i for i, row in enumerate(rows) if shard in row]
        assert routes.rows_of(shard).tolist() == expected
        assert by_shard.get(shard, []) == expected


@given(st.lists(st.tuples(*[st.sets(st.integers(0, SHARDS - 1), max_size=8)] * 2), max_size=12))
def test_first_common(pairs):
    a, b = (routes_of([pair[i] for pair in pairs]).masks(SHARDS) for i in (0, 1))
    expected = [min(one & other, default=-1) for one, other in pairs]
    assert first_common(a, b).tolist() == expected


@pytest.mark.parametrize("shard", [0, 1, 62, 63, 64, 65, 127, 128, 129])
def test_first_common_of_a_single_bit(shard):
    one = routes_of([{shard}]).masks(SHARDS)
    every = Routes.to_all(1, SHARDS).masks(SHARDS)
    assert first_common(one, every).tolist() == [shard]
    assert first_common(every, one).tolist() == [shard]


def test_to_one_and_to_all():
    assert Routes.to_one(np.array([2, 0], np.int32)).start.tolist() == [0, 1, 2]
    routes = Routes.to_all(2, 3)
    assert (routes.start.tolist(), routes.shards.tolist()) == ([0, 3, 6], [0, 1, 2, 0, 1, 2])
    assert routes.shards.dtype == np.int32
    assert len(Routes.to_all(0, 3)) == 0
