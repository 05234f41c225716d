"""A real Kafka for a test: one process, broker and controller, in a folder of its own."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from nearcast.pipeline.java import java_home

JARS = Path(sys.prefix) / "kafka"
IS_THERE = (JARS / ".complete").exists()
CONNECTOR = ("spark-", "kafka-clients-", "commons-pool2-")

PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
num.partitions=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.cleaner.backoff.ms=50
"""


def connector_jars():
    """What Spark needs to reach Kafka, for its setting `spark.jars`."""
    return ",".join(
        str(jar) for jar in sorted(JARS.glob("*.jar")) if jar.name.startswith(CONNECTOR)
    )


@contextmanager
def running_broker(folder):
    """Gives its address, `host:port`."""
    broker, controller = _free_ports()
    properties = folder / "server.properties"
    properties.write_text(
        PROPERTIES.format(broker=broker, controller=controller, folder=folder), encoding="utf-8"
    )
    java = [
        java_home(os.environ, Path(sys.prefix)) / "bin" / "java",
        "-Xmx256m",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
        "-cp",
        f"{JARS}/*",
    ]
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", uuid4().hex[:22], "-c", properties],
        check=True,
        capture_output=True,
    )
    said = folder / "broker.txt"
    with said.open("wb") as output:
        process = subprocess.Popen(
            [*java, "kafka.Kafka", properties], stdout=output, stderr=subprocess.STDOUT
        )
    try:
        while not _listens(broker):
            assert process.poll() is None, said.read_text()
            time.sleep(0.05)
        yield f"127.0.0.1:{broker}"
    finally:
        process.kill()
        process.wait()


def _free_ports():
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
