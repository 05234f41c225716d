import pytest

from nearcast.boolean import ScanIndex
from nearcast.pipeline.partitioning import Hash, Location, load_partitioning
from nearcast.storage import BadFile


def test_another_class_is_refused(tmp_path):
    Hash(3).save(tmp_path / "p.near")
    with pytest.raises(BadFile, match=r"holds a Hash, not a Location; load it with Hash\.load"):
        Location.load(tmp_path / "p.near")


def test_something_else_is_refused(tmp_path):
    ScanIndex().save(tmp_path / "index.near")
    with pytest.raises(BadFile, match="holds a ScanIndex, which is no partitioning"):
        load_partitioning(tmp_path / "index.near")


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_partitioning(tmp_path / "p.near")


@pytest.mark.parametrize("shards", [0, -1])
def test_no_shards(shards):
    with pytest.raises(ValueError, match=f"{shards} shards hold nothing"):
        Hash(shards)
