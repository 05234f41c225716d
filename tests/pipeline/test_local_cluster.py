"""The pipeline on a cluster of two executors, each in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.thorough  # half a dozen Javas at once


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.on_local_cluster", tmp_path_factory.mktemp("c")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_executors_are_other_processes(found):
    assert found["executors"] == 2


def test_answers_equal_the_oracle(found):
    assert found["batch equals oracle"]
    assert found["stream equals oracle"]
    assert found["rejects equal oracle"]
    assert found["batches"] == 30


def test_copies_of_shards_are_found_hot(found):
    assert found["hit rate"] >= 0.95


def test_results_equal_those_of_one_broker_and_keepers_are_found_hot(found):
    assert found["results equal one broker"]
    assert found["keeper hit rate"] >= 0.95


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_share_the_memory_of_a_snapshot(found):
    assert found["workers with a snapshot"] >= 2
    assert found["own bytes"] < found["mapped bytes"] / 10
