import tempfile
from pathlib import Path

from nearcast.pipeline import warm_up


def test_it_leaves_nothing_behind(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    warm_up(spark)
    assert not list(Path(tmp_path).iterdir())
    assert not spark.streams.active
