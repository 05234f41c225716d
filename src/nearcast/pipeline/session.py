"""A Spark session that is quick to answer, quiet, and finds its Java and its Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from nearcast.pipeline.java import java_home

_QUIET = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"

# What a session of ours has unless the caller says otherwise. Measured on small micro-batches:
# sockets of the file system save 39 ms a Python stage, the other checkpoint files 50 ms a batch,
# because the default forks `chmod` and `readlink` for every file.
SETTINGS: Mapping[str, str] = {
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Our shuffles say themselves how many partitions they want.
    "spark.sql.shuffle.partitions": "2",
}

# What only holds where everything is on this machine.
LOCAL_SETTINGS: Mapping[str, str] = {
    "spark.driver.extraJavaOptions": _QUIET,
    "spark.executor.extraJavaOptions": _QUIET,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def spark_session(
    master: str = "local[*,4]",
    *,
    name: str = "nearcast",
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark, or return the session there is.  Seconds, the first time.

    - `master`: `local[*,4]` is this machine, every core, a task tried four times before it fails;
      else the address of a cluster
    - `settings`: Spark's own, over ours

    On a cluster that has a session already use that: the pipeline takes any.
    """
    os.environ["JAVA_HOME"] = str(java_home(os.environ, Path(sys.prefix)))
    # The same Python for the workers, whatever `python3` is on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    ours = dict(SETTINGS)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        ours |= LOCAL_SETTINGS
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in {**ours, **(settings or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
