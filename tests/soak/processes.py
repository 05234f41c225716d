"""Which processes belong to a driver, and which of them is what?  As Linux tells in /proc."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

DRIVER, WORKER, EXECUTOR, READER = "driver", "worker", "executor", "reader"
KEEPER = "keeper"
"""What can be killed.

- driver: its Python and its Java at once; workers and executors are orphans for a moment
- worker: a Python process that runs tasks, or the one that forks them
- executor: the Java process that runs tasks, in a local cluster
- reader: the Python process that asks the log how far it goes, for the driver; the stream fails
  without it and has to be started again
- keeper: the Python process that keeps the results of a shard
"""


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    session: int
    command: str

    @property
    def kind(self):
        if self.pid == self.session or "org.apache.spark.deploy.SparkSubmit" in self.command:
            return DRIVER
        if "CoarseGrainedExecutorBackend" in self.command:
            return EXECUTOR
        if self.command.endswith("pyspark.daemon pyspark.worker"):
            return WORKER
        if self.command.endswith("python_streaming_source_runner"):
            return READER
        if "nearcast.pipeline.hosted.keeper_process" in self.command:
            return KEEPER
        return None


def of_session(session):
    """What was started in a session and lives, orphans included."""
    return [process for process in _all() if process.session == session]


def workers_under(java):
    """The Python processes that run tasks for a Java process, without the one that forks them."""
    workers = [process for process in _all() if process.kind == WORKER]
    forking = {process.pid for process in workers if process.parent == java}
    return [process for process in workers if process.parent in forking]


def kill(processes):
    """SIGKILL, one right after the other."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def _all():
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                # pid (name) state parent group session …; the name may have any characters
                facts = (folder / "stat").read_text().rpartition(")")[2].split()
                command = (folder / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
            if facts[0] != "Z":
                parent, session = int(facts[1]), int(facts[3])
                yield Process(int(folder.name), parent, session, os.fsdecode(command))
