from dataclasses import replace

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


@pytest.mark.parametrize("data", ["synthetic", "gnis"])
def test_subscriptions_taken_from_another_workload_are_the_same(data):
    plain = Settings(data, subscriptions=50, messages=10)
    other = replace(plain, messages=15, message_words=30, message_area=0.001)
    made, reused = make(other), make(other, make(plain))
    for one, again in ((made.subscriptions, reused.subscriptions), (made.fresh, reused.fresh)):
        assert [one.subscription(i) for i in range(len(one))] == [
            again.subscription(i) for i in range(len(again))
        ]
    assert [made.messages.message(i) for i in range(15)] == [
        reused.messages.message(i) for i in range(15)
    ]


def test_other_subscriptions_are_not_taken():
    with pytest.raises(ValueError, match="has other subscriptions than"):
        make(replace(SMALL, words=(2, 2)), make(SMALL))


def test_expressions_have_several_clauses():
    batch = make(replace(SMALL, words=(5, 5), expressions=True)).subscriptions
    assert max(len(batch.subscription(i).expression.clauses) for i in range(300)) > 1
