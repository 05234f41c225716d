"""`GrowingArray` against a list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.growing_array import GrowingArray

CHANGES = st.lists(
    st.one_of(
        st.lists(st.integers(-100, 100), max_size=20),  # extend by these
        st.integers(0, 10),  # shrink by so many
    ),
    max_size=30,
)


@given(st.lists(st.integers(-100, 100), max_size=5), CHANGES)
def test_against_a_list(start, changes):
    rows, expected = GrowingArray(np.array(start, np.int32)), list(start)
    for change in changes:
        if isinstance(change, list):
            rows.extend(np.array(change, np.int32))
            expected += change
        else:
            count = min(change, len(expected))
            taken = rows.shrink(count)
            assert taken.tolist() == expected[len(expected) - count :]
            expected = expected[: len(expected) - count]
        assert rows.used.tolist() == expected
        assert rows.used.dtype == np.int32


def test_rows_of_several_columns():
    rows = GrowingArray(np.zeros((0, 4), np.float32))
    rows.extend(np.arange(8).reshape(2, 4))
    assert rows.used.shape == (2, 4)
    assert rows.used.dtype == np.float32
    assert rows.shrink(1).tolist() == [[4, 5, 6, 7]]


def test_growth_is_amortised():
    """A thousand single rows make a handful of new arrays."""
    rows = GrowingArray(np.empty(0, np.int64))
    arrays = set()
    for number in range(1000):
        rows.extend(np.array([number]))
        arrays.add(rows.used.__array_interface__["data"][0])
    assert rows.used.tolist() == list(range(1000))
    assert len(arrays) < 30


def test_used_is_a_view():
    rows = GrowingArray(np.array([1, 2, 3]))
    rows.used[1] = 9
    assert rows.used.tolist() == [1, 9, 3]


def test_what_shrink_returns_is_a_copy():
    rows = GrowingArray(np.array([1, 2, 3]))
    taken = rows.shrink(2)
    rows.extend(np.array([7, 8]))
    assert taken.tolist() == [2, 3]


def test_given_rows_are_not_grown_in_place():
    given_rows = np.array([1, 2, 3])
    rows = GrowingArray(given_rows)
    rows.extend(np.array([4]))
    assert given_rows.tolist() == [1, 2, 3]


def test_rows_of_another_shape_are_refused():
    rows = GrowingArray(np.zeros((1, 4)))
    with pytest.raises(ValueError, match="broadcast"):
        rows.extend(np.zeros((1, 3)))
    assert rows.used.shape == (1, 4)
