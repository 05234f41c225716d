"""The job of `deploy/`, submitted to Spark, between two topics; started by `test_kafka.py`.

Every kind of subscription and messages are sent, the job tells what they do and is killed; more are
sent, and it is submitted again. Prints one JSON object: what was told, and what one broker tells.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from nearcast.pipeline.java import java_home
from nearcast.topk import CountWindow
from tests.pipeline.hosted_histories import OneBroker
from tests.pipeline.kafka.broker import connector_jars
from tests.pipeline.kafka.on_kafka import Run, all_kinds, as_feature, timed_messages

ROOT = Path(__file__).parents[3]
SUBSCRIPTIONS, MESSAGES, NOTIFICATIONS = "subscriptions", "messages", "notifications"
REJECTS = f"{NOTIFICATIONS}-rejects"
GONE = ("r8", "r9", "r10", "r11")


def main(servers, folder):
    run = Run(servers, folder)
    run.make_topic(SUBSCRIPTIONS, **{"cleanup.policy": "compact"})
    for topic in (MESSAGES, NOTIFICATIONS, REJECTS):
        run.make_topic(topic)
    broker, expected = OneBroker(CountWindow(10_000)), []
    for seed, count, gone in ((1, 15, ()), (2, 8, GONE)):
        wishes = all_kinds(seed, count)
        run.send(SUBSCRIPTIONS, [(each.id, as_feature(each)) for each in wishes])
        if gone:
            run.send(SUBSCRIPTIONS, [(id_, None) for id_ in gone])
        run.publish(timed_messages(seed), MESSAGES)
        left = [("unsubscribe_hosted", id_) for id_ in gone]
        for event in [*wishes, *left, *timed_messages(seed)]:
            expected += [asdict(each) for each in broker.apply(event)]
        with submitted(servers, folder) as job:
            while len(run.read(NOTIFICATIONS)) < len(expected):
                assert job.poll() is None, (folder / "job.txt").read_text()
    said = [json.loads(record.value) for record in run.read(NOTIFICATIONS)]
    found = {"said": _rows(said), "expected": _rows(expected), "rejects": len(run.read(REJECTS))}
    print(json.dumps(found))


@contextmanager
def submitted(servers, folder):
    """The job runs, and is killed in the end, with all that it has started."""
    arguments = [
        Path(sys.executable).with_name("spark-submit"), "--master", "local[2]",
        "--jars", connector_jars(), "--conf", "spark.driver.host=127.0.0.1",
        ROOT / "deploy" / "stream.py", servers, folder / "checkpoint", "2", "--results",
    ]  # fmt: skip
    settings = {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_HOME": str(java_home(os.environ, Path(sys.prefix))),
    }
    with (folder / "job.txt").open("wb") as output:
        job = subprocess.Popen(
            arguments, env=os.environ | settings, cwd=folder, start_new_session=True,
            stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        yield job
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()


def _rows(told):
    return sorted(
        [each["subscription_id"], each["kind"], each.get("message_id") or "", _entered(each)]
        for each in told
    )


def _entered(each):
    return list(each["entered"]) if each["kind"] in ("top", "trend") else []


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
