import pytest

from benchmarks import limit, measure, workloads


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch):
    """A limit kernel in 64 kB instead of 1 GB, and few insertions."""
    monkeypatch.setattr(limit, "BYTES", 1 << 16)
    monkeypatch.setattr(workloads, "FRESH", 30)
    monkeypatch.setattr(measure, "_WARM_UP_INSERTS", 10)
