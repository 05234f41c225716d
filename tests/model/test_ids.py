from fractions import Fraction

import numpy as np
import pytest

from nearcast.model import check_id


@pytest.mark.parametrize("value", ["", "cafe", "日本", 0, -(2**63), 2**63 - 1])
def test_strings_and_64_bit_integers_are_ids(value):
    assert check_id(value, "message") == value


@pytest.mark.parametrize("value", [np.int64(7), np.uint8(7), np.str_("7")])
def test_numpy_values_become_plain_ones(value):
    assert type(check_id(value, "message")) in (int, str)
    assert check_id(value, "message") == value


@pytest.mark.parametrize("value", [True, np.True_, 1.0, None, b"7", Fraction(7), ("a",)])
def test_other_types_are_refused(value):
    with pytest.raises(TypeError, match=r"message id .* is neither a string nor an integer; give"):
        check_id(value, "message")


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, np.uint64(2**63)])
def test_integers_beyond_64_bits_are_refused(value):
    with pytest.raises(
        ValueError, match=f"subscription id {value} does not fit into 64 bits; give"
    ):
        check_id(value, "subscription")


def test_a_lone_surrogate_is_refused():
    with pytest.raises(ValueError, match="is not valid Unicode; remove the lone surrogate"):
        check_id("caf\ud800", "message")
