"""Arrow batches of a task become chunks worth working on."""

import pyarrow as pa
import pytest

from nearcast.pipeline.frames import chunks


def batches(*sizes):
    return iter([pa.record_batch({"id": pa.array(range(size), pa.int64())}) for size in sizes])


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((), []), ((0, 0), []), ((3,), [3]), ((2, 2, 2), [4, 2]), ((0, 9, 1), [9, 1]), ((5, 0), [5])],
)
def test_chunks_have_at_least_so_many_rows(sizes, expected):
    assert [len(table) for table in chunks(batches(*sizes), 4)] == expected
