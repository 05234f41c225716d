"""Kafka in and out, with a real broker, and kills at the worst moments."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nearcast.pipeline.java import java_home
from tests.pipeline.kafka.broker import IS_THERE, connector_jars, running_broker
from tests.test_examples import check_printed

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(
    not IS_THERE, reason="there is no Kafka to test with; `make kafka` fetches it"
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with running_broker(tmp_path_factory.mktemp("broker")) as servers:
        yield servers


@pytest.fixture(scope="module")
def found(broker, tmp_path_factory):
    return found_after_kills(broker, tmp_path_factory.mktemp("kafka"), "inside", "after", "rest")


@pytest.fixture(scope="module")
def results(broker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    return found_after_kills(broker, folder, "results_inside", "results_rest")


def found_after_kills(broker, folder, *parts):
    """What the last part found; all before it end with a kill."""
    for part in parts:
        done = run("-m", "tests.pipeline.kafka.on_kafka", part, broker, folder)
        code = 0 if part == parts[-1] else -signal.SIGKILL
        assert done.returncode == code, f"{part}: {done.stderr}"
    return json.loads(done.stdout.splitlines()[-1])


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


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
    sent = 30 + 1 + 10 + 10
    assert found["kept"] < sent - 10, "compaction has taken old versions away"
    assert found["late"] == found["expected late"]
    assert found["late"], "a history without a match tests nothing"
    assert found["late rejects"] == ["bad", "m-bad"], "nobody is told of an old tombstone"


def test_every_kind_of_subscription_is_told_once_what_one_broker_tells(results):
    assert results["said"] == results["expected"]
    assert results["kinds"] == ["enter", "leave", "match", "top", "trend"]
    assert results["rejects"] == 0


def test_a_list_says_what_is_in_it_and_why(results):
    told = results["a list"]
    assert [*told] == [
        "kind", "subscription_id", "message_id", "time", "position", "score", "items", "entered",
        "left", "cause", "batch",
    ]  # fmt: skip
    assert told["items"][0].keys() == {"item", "score"}


def test_the_deployed_job_tells_every_kind_once_though_it_is_killed(tmp_path):
    with running_broker(tmp_path) as servers:
        done = run("-m", "tests.pipeline.kafka.on_deployed", servers, tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["said"] == found["expected"]
    assert {kind for _, kind, *_ in found["said"]} == {"enter", "leave", "match", "top", "trend"}
    assert found["rejects"] == 0


def test_the_example_prints_what_it_says(broker):
    # As `spark-submit --jars`; the driver is on this machine's loopback, whatever its name.
    options = f"--jars {connector_jars()} --conf spark.driver.host=127.0.0.1 pyspark-shell"
    example = ROOT / "examples" / "kafka_stream.py"
    done = run(
        example,
        broker,
        PYSPARK_SUBMIT_ARGS=options,
        PYSPARK_PYTHON=sys.executable,
        SPARK_LOCAL_IP="127.0.0.1",
        JAVA_HOME=str(java_home(os.environ, Path(sys.prefix))),
    )
    assert done.returncode == 0, done.stderr
    check_printed(example, done.stdout)
