import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.pipeline.partitioning import hash_ids

MASK = 2**64 - 1


def splitmix64(number):
    z = (number + 0x9E3779B97F4A7C15) & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def mixed_fnv(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    value = (value ^ (value >> 33)) * 0xFF51AFD7ED558CCD & MASK
    value = (value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53 & MASK
    return value ^ (value >> 33)


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers(ids):
    assert hash_ids(pa.array(ids, pa.int64())).tolist() == [splitmix64(i & MASK) for i in ids]


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_strings(ids, kind):
    assert hash_ids(pa.array(ids, kind)).tolist() == [mixed_fnv(text) for text in ids]


def test_they_never_change():
    # Checkpoints hold subscriptions in shards that these numbers chose.
    assert hash_ids(pa.array([0, -1])).tolist() == [16294208416658607535, 16490336266968443936]
    assert hash_ids(pa.array(["", "été"])).tolist() == [17280346270528514342, 5658412037517007419]


@pytest.mark.parametrize("ids", [[1, 2, 3, 4], ["a", "été", "", "茶"]])
def test_slices(ids):
    whole = pa.array(ids)
    np.testing.assert_array_equal(hash_ids(whole.slice(1, 2)), hash_ids(whole)[1:3])
    assert len(hash_ids(whole.slice(4))) == 0


def test_narrow_integers_are_the_same_ids():
    narrow = hash_ids(pa.array([-1, 7], pa.int16()))
    np.testing.assert_array_equal(narrow, hash_ids(pa.array([-1, 7])))


def test_nulls_are_refused():
    with pytest.raises(ValueError, match="1 of 2 ids are null"):
        hash_ids(pa.array([1, None]))


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="not double"):
        hash_ids(pa.array([1.5]))
