"""`match_files`: from files of subscriptions and messages to a file of matches and a report."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from nearcast.model import Space
from nearcast.pipeline.batch import match
from nearcast.pipeline.files.formats import UnreadableFile
from nearcast.pipeline.files.frames import read_messages, read_subscriptions
from nearcast.pipeline.files.job import MatchJob, MatchReport, Watcher, beside
from nearcast.pipeline.files.result_files import join_parts
from nearcast.pipeline.frames import message_columns, subscription_columns
from nearcast.pipeline.rows import BOX, POINT, PROBLEM
from nearcast.pipeline.session import spark_session

BUSIEST = 5


class MatchingFailed(RuntimeError):
    """Spark stopped, for the reason given in one line."""


def match_files(job: MatchJob, watcher: Watcher) -> MatchReport:
    """Match, write `job.out` and, if wanted, the rejects, and tell what was done.

    Each file appears whole or not at all. Text is parsed once and kept by Spark, in memory as far
    as that reaches. An input of which every row is rejected is an error: it is likely another file
    than was meant. Uses the session there is, or one of its own that it stops.
    """
    job.check()
    began = time.monotonic()
    # Spark stops before the folder goes: a task that still runs would make it again.
    with _one_line_errors(), beside(job.out) as folder:
        watcher.phase("starting Spark")
        with _session(folder / "spark.log") as spark:
            watcher.follow(spark.sparkContext.statusTracker())
            work = _Work(spark, job, folder, watcher)
            report = work.report()
            work.publish()
    return replace(report, seconds=time.monotonic() - began)


class _Work:
    """The steps of one job; rows wait in the folder until all of them are done."""

    def __init__(self, spark: SparkSession, job: MatchJob, folder: Path, watcher: Watcher) -> None:
        self._spark = spark
        self._job = job
        self._pairs = folder / "pairs"
        self._rejects = folder / "rejects"
        self._watcher = watcher

    def report(self) -> MatchReport:
        """Read, match, write parts, and count what was written."""
        job = self._job
        self._watcher.phase("reading")
        subscriptions = read_subscriptions(self._spark, job.subscriptions, job.format)
        messages = read_messages(self._spark, job.messages, job.format)
        with _naming(job.subscriptions):
            subscription_columns(subscriptions, Space.EARTH)
        with _naming(job.messages):
            message_columns(messages, Space.EARTH)
        with _kept(subscriptions), _kept(messages):
            rows = subscriptions.count(), messages.count()
            self._watcher.phase("planning")
            matched = match(messages, subscriptions, partitioning=job.partitioning)
            self._watcher.phase("checking rows")
            rejected = self._write_rejects(matched.rejects)
            self._refuse_if_all_rejected(rows, rejected)
            self._watcher.phase("matching")
            with_places = job.out.suffix == ".geojson" and not job.in_parts
            pairs = _with_places(matched, messages) if with_places else matched
            pairs.write.parquet(os.fspath(self._pairs))
        self._watcher.phase("counting")
        written = self._spark.read.parquet(os.fspath(self._pairs))
        return MatchReport(
            subscriptions=rows[0],
            messages=rows[1],
            matches=written.count(),
            rejected_subscriptions=rejected[0],
            rejected_messages=rejected[1],
            busiest=_busiest(written),
            partitioning=matched.plan.partitioning.name,
            shards=matched.plan.partitioning.shards,
            why=matched.plan.why,
            seconds=0.0,
        )

    def publish(self) -> None:
        """Put each finished file into its place in one step."""
        self._watcher.phase("writing")
        if self._job.rejects is not None:
            _join_into(self._rejects, self._job.rejects)
        if self._job.in_parts:
            self._pairs.rename(self._job.out)
        else:
            _join_into(self._pairs, self._job.out)

    def _write_rejects(self, rejects: DataFrame) -> tuple[int, int]:
        """Write the rejects and count those of each side: subscriptions, messages."""
        rejects.write.parquet(os.fspath(self._rejects))
        written = self._spark.read.parquet(os.fspath(self._rejects))
        counts: dict[str, int] = dict(written.groupBy("side").count().collect())
        return counts.get("subscription", 0), counts.get("message", 0)

    def _refuse_if_all_rejected(self, rows: tuple[int, int], rejected: tuple[int, int]) -> None:
        sides = ("subscription", self._job.subscriptions), ("message", self._job.messages)
        for (side, path), count, bad in zip(sides, rows, rejected, strict=True):
            if count and bad == count:
                written = self._spark.read.parquet(os.fspath(self._rejects))
                first = written.where(written["side"] == side).first()
                assert first is not None, "a side with rejects has a first one"
                reason = first["reason"].splitlines()[0]
                raise UnreadableFile(
                    f"every row of {path} is rejected as a {side}, one because: {reason}"
                )


@contextmanager
def _session(log: Path) -> Iterator[SparkSession]:
    """The session there is, or one for as long as this lasts, whose Java talks to `log`."""
    if before := SparkSession.getActiveSession():
        yield before
        return
    spark: SparkSession | None = None
    try:
        with _stderr_to(log), _interrupt_later():
            spark = spark_session()
        yield spark
    finally:
        if spark is not None:
            spark.stop()


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """Let a process that starts meanwhile inherit `log` as its stderr.

    Java announces its modules there, and Spark each failed task with its trace; a command says in
    one line what went wrong, which it learns from the exception.
    """
    sys.stderr.flush()
    own = os.dup(2)
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


@contextmanager
def _interrupt_later() -> Iterator[None]:
    """Let Ctrl-C wait until Spark has started, and then do what it did before.

    Interrupted earlier, PySpark leaves a Java behind that never ends. And the handler that it
    installs talks to Java over the connection on which the main thread already waits; stopping the
    session does better.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # which no signal reaches
        return
    noticed: list[int] = []
    # What is blocked here may still reach a thread of some library, and is only noted then.
    handler = signal.signal(signal.SIGINT, lambda number, _: noticed.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if noticed:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say of which file the columns are wrong."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise UnreadableFile(f"{path}: {error}") from None


@contextmanager
def _kept(frame: DataFrame) -> Iterator[None]:
    """Keep what was parsed from text; Parquet is quick to read again."""
    if PROBLEM not in frame.columns:
        yield
        return
    frame.persist()
    try:
        yield
    finally:
        frame.unpersist()


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn what Spark throws, a page of traces, into the line that says what happened."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        if found := re.search(rf"{UnreadableFile.__name__}: (.+)", text):
            raise UnreadableFile(found[1]) from None
        raise MatchingFailed(f"Spark failed: {_innermost(text)}") from error


def _innermost(trace: str) -> str:
    """The line of a Java trace that tells most: the cause that no other caused, else the first.

    >>> _innermost("An error\\n: Job aborted\\n\\tat x\\nCaused by: IOException: No space left\\n")
    'IOException: No space left'
    """
    lines = trace.strip().splitlines()
    causes = [line for line in lines if line.startswith("Caused by: ")]
    java = [line for line in lines if line.startswith(": ")]
    return [*lines[:1], *java[:1], *causes][-1].removeprefix("Caused by: ").removeprefix(": ")


def _with_places(matched: DataFrame, messages: DataFrame) -> DataFrame:
    """Each pair with the place of its message; of messages that share an id, any one's place."""
    names = [name for name in (*POINT, *BOX) if name in messages.columns]
    places = messages.select(messages["id"].alias("message_id"), *names)
    return matched.join(places.dropDuplicates(["message_id"]), "message_id")


def _busiest(pairs: DataFrame) -> list[tuple[str | int, int]]:
    counts = pairs.groupBy("subscription_id").count()
    most = counts.orderBy(counts["count"].desc(), counts["subscription_id"]).limit(BUSIEST)
    return [(row[0], row[1]) for row in most.collect()]


def _join_into(parts: Path, out: Path) -> None:
    with beside(out) as folder:
        whole = folder / out.name
        join_parts(parts, whole)
        whole.replace(out)
