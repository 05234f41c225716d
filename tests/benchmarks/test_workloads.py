import pytest

from benchmarks.workloads import Settings, make

SMALL = Settings(subscriptions=300, messages=20)


def test_a_workload_is_the_same_for_the_same_settings():
    workload, again = make(SMALL), make(SMALL)
    for i in range(300):
        assert workload.subscriptions.subscription(i) == again.subscriptions.subscription(i)
    for i in range(20):
        assert workload.messages.message(i) == again.messages.message(i)


def test_history_comes_before_the_stream():
    workload = make(SMALL)
    assert workload.history.time.max() < workload.messages.time.min()


@pytest.mark.parametrize("data", ["gnis", "chicago"])
def test_absent_data_is_replaced_and_the_record_says_so(data, monkeypatch, tmp_path):
    monkeypatch.setenv("NEARCAST_DATA", str(tmp_path))
    workload = make(Settings(data, subscriptions=50, messages=10))
    assert workload.data == f"synthetic instead of {data}"
    assert (len(workload.subscriptions), len(workload.messages)) == (50, 10)
