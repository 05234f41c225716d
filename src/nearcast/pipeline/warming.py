"""`warm_up`: what only the first batch of a stream would have to wait for."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from nearcast.model import Box, Message, Point, Subscription
from nearcast.pipeline.log import Log
from nearcast.pipeline.log.source import read_log
from nearcast.pipeline.sinks import CallbackSink
from nearcast.pipeline.streaming import stream


def warm_up(spark: SparkSession) -> None:
    """Run a stream of two rows and forget it.  Seconds, once for a session.

    Afterwards Python workers run and have their kernels, and Spark has generated its code.
    """
    with (
        tempfile.TemporaryDirectory(prefix="nearcast-warm-up-") as folder,
        Log(Path(folder) / "log") as log,
    ):
        log.subscribe([Subscription("s", "a", Box(0, 0, 1, 1))])
        log.publish([Message("m", text="a", at=Point(0, 0))])
        running = stream(
            read_log(spark, log.path),
            sink=CallbackSink(lambda batch, notifications, rejects: None),
            checkpoint=Path(folder) / "checkpoint",
        )
        try:
            running.process_all_available()
        finally:
            running.stop()
