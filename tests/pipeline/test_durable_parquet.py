"""Parquet that others can read, and of which no bit changes unseen."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearcast.pipeline.durable_parquet import read_facts, read_parquet, write_parquet
from nearcast.storage import BadFile

TABLE = pa.table({"subscription_id": ["cafe", "park"], "time": [0.5, 1.5]})


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "found.parquet"
    write_parquet(path, [TABLE, TABLE], {"answer": 42})
    return path


def test_it_is_read_again_by_others_too(path):
    assert read_parquet(path).to_pylist() == 2 * TABLE.to_pylist()
    assert pq.read_table(path).to_pylist() == 2 * TABLE.to_pylist()
    assert read_facts(path) == {"answer": 42}


def test_nothing_but_facts(tmp_path):
    write_parquet(tmp_path / "none.parquet", [], {"answer": 42})
    assert len(read_parquet(tmp_path / "none.parquet")) == 0
    assert read_facts(tmp_path / "none.parquet") == {"answer": 42}


def test_any_flipped_bit_is_told(path):
    whole = path.read_bytes()
    for at in range(len(whole)):
        bad = bytearray(whole)
        bad[at] ^= 1 << at % 8
        path.write_bytes(bad)
        with pytest.raises(BadFile, match=r"found\.parquet (is damaged|has format version)"):
            read_parquet(path)
        assert read_facts(path) is None


def test_any_length_is_told(path):
    whole = path.read_bytes()
    for size in range(0, len(whole), 3):
        path.write_bytes(whole[:size])
        with pytest.raises(BadFile, match=r"found\.parquet is damaged"):
            read_parquet(path)


def test_a_file_that_is_missing(tmp_path):
    assert read_facts(tmp_path / "missing.parquet") is None
    with pytest.raises(FileNotFoundError):
        read_parquet(tmp_path / "missing.parquet")
