import gc

import pytest

from benchmarks import limit, measure, workloads
from benchmarks.boolean import churn, churning, extreme_cases


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch):
    """A limit kernel in 64 kB instead of 1 GB, few insertions, short messages for long ones.

    Memory is not tidied between measurements: it is that of thousands of tests.
    """
    monkeypatch.setattr(gc, "collect", lambda: 0)
    monkeypatch.setattr(limit, "BYTES", 1 << 16)
    monkeypatch.setattr(workloads, "FRESH", 30)
    monkeypatch.setattr(workloads, "_POOL", 500)
    monkeypatch.setattr(measure, "_WARM_UP_INSERTS", 10)
    monkeypatch.setattr(extreme_cases, "LONGEST_MESSAGE", 60)
    monkeypatch.setattr(extreme_cases, "LONGEST_SUBSCRIPTION", 20)
    monkeypatch.setattr(extreme_cases, "MESSAGES", 10)
    monkeypatch.setattr(churning, "CHUNK", 20)
    monkeypatch.setattr(churn, "SAMPLES", 2)
    monkeypatch.setattr(churn, "MESSAGES", 20)
    monkeypatch.setattr(churn, "_HISTORY", 200)
