"""Notifications into a topic, each exactly once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from nearcast.pipeline.kafka.client import KeyAndValue, TransactionalProducer
from nearcast.pipeline.sinks import BatchOutput, Sink

LONGEST_OF_REJECT = 20_000
"""Letters of each text: Kafka refuses records of more than a million bytes, which would stop the
stream for a row that should not."""


class KafkaSink(Sink):
    """Into a topic of Kafka, and what was rejected into another, `<topic>-rejects` by default.

    A notification has the subscription's id as its key, in digits if it is a number, and as its
    value a JSON object with `kind` ("match"), `subscription_id`, `message_id`, `time`, `batch` and
    `position`; those of one subscription are in one partition, in the order of the messages. In a
    stream with results `kind` may be "top", "trend", "enter" or "leave", with the columns of
    `with_result_columns` that have a value.

    A reject has the id of the row as its key and `side`, `id`, `reason`, `row` and `batch`; texts
    of more than 20,000 letters are cut.

    A consumer that reads with `isolation.level=read_committed` sees every notification exactly
    once, whatever dies: a batch is one transaction, which also notes its number as the offset of
    the consumer group `nearcast-<stream>`; a batch that comes again after a crash is found there
    and not written. This ends where Kafka forgets that offset: a stream that was killed in the
    moment between Kafka's commit and Spark's, and is started again only after
    `offsets.retention.minutes` (a week by default), repeats that one batch. Consumers that read
    uncommitted records may see batches that never happened.

    `settings` are those of Kafka's clients, over ours, such as `security.protocol`. The user needs
    the rights to write both topics, and to use the transactional id and the group
    `nearcast-<stream>`. A batch has to be written within `transaction.timeout.ms`.
    """

    def __init__(
        self,
        spark: SparkSession,
        servers: str,
        topic: str,
        *,
        rejects_topic: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._spark = spark
        self._servers = servers
        self._topic = topic
        self._rejects_topic = rejects_topic or f"{topic}-rejects"
        self._settings = settings or {}
        self._producer: TransactionalProducer | None = None

    def open(self, stream: str) -> None:
        self._producer = TransactionalProducer(
            self._spark,
            self._servers,
            f"nearcast-{stream}",
            [self._topic, self._rejects_topic],
            self._settings,
        )

    def commit(self, output: BatchOutput) -> None:
        assert self._producer is not None, "open comes first"
        if output.number < self._producer.batches_written:
            return
        notifications, rejects = output.notifications(), output.rejects()
        if not len(notifications) and not len(rejects):
            return
        self._producer.write(
            output.number,
            {
                self._topic: notification_records(notifications, output.number),
                self._rejects_topic: reject_records(rejects, output.number),
            },
        )

    def close(self) -> None:
        if self._producer is not None:
            self._producer.close()


def notification_records(table: pa.Table, batch: int) -> Iterator[KeyAndValue]:
    """A record for each notification, with what there is to say of its kind."""
    for row in _rows(table):
        said = {name: value for name, value in row.items() if value is not None}
        value = {"kind": "match", **said, "batch": batch}
        yield str(row["subscription_id"]).encode(), _json(value)


def reject_records(table: pa.Table, batch: int) -> Iterator[KeyAndValue]:
    """A record for each reject, of which long texts are cut."""
    for row in _rows(table):
        short = {name: text and text[:LONGEST_OF_REJECT] for name, text in row.items()}
        key = None if short["id"] is None else short["id"].encode()
        yield key, _json({**short, "batch": batch})


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for part in table.to_batches(max_chunksize=10_000):
        yield from part.to_pylist()


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
