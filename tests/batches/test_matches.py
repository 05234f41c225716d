import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.batches import Matches


@given(st.lists(st.tuples(st.text(max_size=3), st.lists(st.integers(-(2**63), 2**63 - 1)))))
def test_rows_like_lists(answers):
    counts = [len(wanted) for _, wanted in answers]
    flat = [id for _, wanted in answers for id in wanted]
    matches = Matches(
        pa.array([message for message, _ in answers], pa.large_string()),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        pa.array(flat, pa.int64()),
        candidates=len(flat),
    )
    assert len(matches) == len(flat)
    for row, (_, wanted) in enumerate(answers):
        assert matches.for_message(row) == wanted
    pairs = [(message, id) for message, wanted in answers for id in wanted]
    table = matches.to_arrow()
    assert table.column_names == ["message_id", "subscription_id"]
    assert list(zip(*table.to_pydict().values(), strict=True)) == pairs


def test_rows_that_are_not_there():
    none = Matches(pa.array([7]), np.array([0, 0]), pa.array([], pa.int64()), 0)
    assert none.for_message(0) == []
    for row in (-1, 1):
        with pytest.raises(IndexError, match=f"message {row} of a batch of 1"):
            none.for_message(row)


def test_start_must_cut_the_matches():
    for start in ([0, 1], [0, 3], [1, 2], [0, 2, 2]):
        with pytest.raises(ValueError, match="start must"):
            Matches(pa.array([7]), np.array(start), pa.array([1, 2]), 2)
