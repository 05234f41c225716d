"""Hundreds of faults under a stream, one after the other; `python -m tests.soak` has thousands."""

import random

import pytest

from nearcast.pipeline.partitioning import Hash
from tests.faulty_files.disk import FAILED_SYNC, FaultyDisk
from tests.faulty_files.storm import play_storm
from tests.pipeline.histories import Oracle, random_history
from tests.pipeline.in_process import InProcessStream, log_table, lose_hot_copies, pairs_of

FAULTS, FAULTS_OF_RESULTS = 200, 80


@pytest.mark.parametrize(
    "seed",
    [7, pytest.param(8, marks=pytest.mark.thorough), pytest.param(9, marks=pytest.mark.thorough)],
)
def test_a_storm_changes_nothing(tmp_path, seed):
    result = play_storm(tmp_path, seed, FAULTS)
    assert not result.problems, result
    assert len(result.faults) == 10  # kinds
    assert result.notifications > 50


@pytest.mark.parametrize(
    "results",
    [
        "cells",
        "prefix",
        *(pytest.param(n, marks=pytest.mark.thorough) for n in ("hash", "keyword")),
    ],
)
def test_a_storm_changes_no_results(tmp_path, results):
    result = play_storm(tmp_path, 7, FAULTS_OF_RESULTS, results=results)
    assert not result.problems, result
    assert len(result.faults) == 10  # kinds
    assert result.notifications > 50


def test_a_snapshot_is_durable_before_what_it_replaces_goes(tmp_path):
    """Also when the task that made it failed at its very end and was tried again."""
    events = list(random_history(3, 60))
    oracle = Oracle()
    for event in events:
        oracle.apply(event)
    failures = 0
    for calls in range(12):
        root = tmp_path / str(calls)
        root.mkdir()
        disk = FaultyDisk(root, random.Random(calls))
        with disk.installed():
            stream = InProcessStream(root / "state", Hash(1))
            stream.process(0, log_table(events[:40]))
            disk.order(FAILED_SYNC, calls)
            stream.snapshot(0, tries=2)
            disk.be_good()
            disk.lose_power()
            lose_hot_copies()
            again = InProcessStream(root / "state", Hash(1))
            found = pairs_of(again.process(1, log_table(events[40:], 40)).notifications())
        failures += disk.faults[FAILED_SYNC]
        later = {event.id for event in events[40:] if not isinstance(event, tuple)}
        assert found == sorted(pair for pair in oracle.notifications if pair[1] in later)
    assert failures > 2
