"""The process that gets killed: one stream from a log to a store, until it is told to stop.

`python -m tests.soak.driver FOLDER MASTER SEED`; the seed is that of the faults. In FOLDER are the
log, the partitioning and, for a stream with results, their settings; everything that the stream
makes goes there too. It stops when there is a file `stop`.
"""

import json
import os
import sys
from pathlib import Path

import pyspark

from nearcast.pipeline import ResultSettings, StoreSink, read_log, spark_session, stream
from nearcast.pipeline.partitioning import load_partitioning
from tests.soak.failing_workers import FailingWorkers

ROWS_PER_BATCH = 40
SNAPSHOT_AFTER = 60
SECONDS_BETWEEN_LOOKS = 1
FAULTS, RESULTS = "faults", "results.json"
"""Files of the folder: the faults of disks, each a line, and the settings of results."""


def run(folder, master, seed):
    if master.startswith("local-cluster"):
        _work_inside(folder)
    spark = spark_session(
        master,
        settings={
            "spark.driver.memory": "1g",
            "spark.local.dir": str(folder / "spark"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        },
    )
    running = stream(
        read_log(spark, folder / "log", rows_per_batch=ROWS_PER_BATCH),
        sink=StoreSink(folder / "store"),
        checkpoint=folder / "checkpoint",
        index=FailingWorkers(folder / FAULTS, seed),
        partitioning=load_partitioning(folder / "partitioning.near"),
        snapshot_after=SNAPSHOT_AFTER,
        results=_results(folder / RESULTS),
    )
    while not running.await_termination(SECONDS_BETWEEN_LOOKS):
        if (folder / "stop").exists():
            running.stop()
            break
    print(running.summary)
    spark.stop()


def _results(path):
    return ResultSettings.of(json.loads(path.read_text())) if path.exists() else None


def _work_inside(folder):
    """Executors of a local cluster have their folders in SPARK_HOME: give them another one."""
    home = folder / "spark-home"
    home.mkdir(exist_ok=True)
    for path in Path(pyspark.__file__).parent.iterdir():
        link = home / path.name
        if path.name != "work" and not link.is_symlink():
            link.symlink_to(path)
    os.environ["SPARK_HOME"] = str(home)


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
