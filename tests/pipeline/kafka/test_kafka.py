"""Kafka in and out, with a real broker, and kills at the worst moments."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.kafka.broker import IS_THERE, running_broker

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(
    not IS_THERE, reason="there is no Kafka to test with; `make kafka` fetches it"
)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kafka")
    with running_broker(folder) as servers:
        for part, code in (("inside", -signal.SIGKILL), ("after", -signal.SIGKILL), ("rest", 0)):
            done = subprocess.run(
                [sys.executable, "-m", "tests.pipeline.kafka.on_kafka", part, servers, folder],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == code, f"{part}: {done.stderr}"
    return json.loads(done.stdout.splitlines()[-1])


def test_every_notification_is_there_once_after_two_kills(found):
    assert found["after kills"] > 0, "a batch was left to be done again"
    assert found["pairs"] == found["expected"]
    assert found["pairs"], "a history without a match tests nothing"


def test_a_notification_says_whose_it_is_and_what(found):
    assert found["keys are ids"]
    assert found["kinds"] == ["match"]
    assert {0, 1, 2} <= set(found["batches"])


def test_what_cannot_be_read_is_rejected_once_and_says_where_it_is(found):
    (bad, why_bad), (message, why_message) = found["rejects"]
    assert (bad, message) == ("bad", "m-bad")
    assert why_bad.startswith("wishes, partition 0, offset 30: not JSON: ")
    assert why_message.startswith("latitude 99.0 is outside [-90, 90]")


def test_of_two_sinks_for_one_stream_the_older_is_stopped(found):
    assert "ProducerFencedException" in found["second owner"]


def test_a_compacted_topic_still_has_every_subscription(found):
    assert found["uncompacted"] == 30 + 1 + 10 + 10
    assert found["late"] == found["expected late"]
    assert found["late"], "a history without a match tests nothing"
    assert found["late rejects"] == ["bad", "m-bad"], "nobody is told of an old tombstone"
