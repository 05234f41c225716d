"""A producer with transactions: the Java one of Spark's connector, in the driver's Java.

`batches_written` is kept by Kafka as the offset of a consumer group, which a transaction commits
together with its records: there is no moment at which one is there and the other is not.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from nearcast.pipeline.kafka.source import NoConnector

CHUNK_BYTES = 1 << 20
"""So much goes to Java at a time: a call for each record would take a hundred times as long."""

# Compiled by the compiler that Spark has for its own queries.
_JAVA = """
import java.io.*;
import org.apache.kafka.clients.producer.*;

public class NearcastRecords {
    public void send(Producer producer, String topic, byte[] records) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(records));
        while (in.available() > 0) {
            byte[] key = bytes(in);
            producer.send(new ProducerRecord(topic, key, bytes(in)));
        }
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        return length < 0 ? null : in.readNBytes(length);
    }
}
"""

KeyAndValue = tuple[bytes | None, bytes]


class KafkaError(RuntimeError):
    """Kafka did not do what it was asked for, and says why."""


class TransactionalProducer:
    """Writes the batches of one `writer`, each whole and once.

    Opening it ends what an earlier one of that name left undone, and stops that one if it still
    runs: its next write fails.
    """

    def __init__(
        self,
        spark: SparkSession,
        servers: str,
        writer: str,
        topics: Iterable[str],
        settings: Mapping[str, str],
    ) -> None:
        self._servers = servers
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._clients = self._jvm.org.apache.kafka.clients
        if not isinstance(self._clients.producer.KafkaProducer, JavaClass):
            raise NoConnector
        self._topics = tuple(topics)
        self._group = writer
        self._settings = {"bootstrap.servers": servers, **settings}
        bytes_ = "org.apache.kafka.common.serialization.ByteArray"
        self._producer = self._made(
            self._clients.producer.KafkaProducer,
            {
                "transactional.id": writer,
                "key.serializer": f"{bytes_}Serializer",
                "value.serializer": f"{bytes_}Serializer",
            },
        )
        try:
            for topic in self._topics:
                self._asked(self._producer.partitionsFor, topic)  # an error now and not in a batch
            self._asked(self._producer.initTransactions)
            self.batches_written = self._read_batches_written()
            self._records = self._compiled()
        except BaseException:
            self.close()
            raise

    def write(self, batch: int, records: Mapping[str, Iterable[KeyAndValue]]) -> None:
        """The records of a batch, by topic, and that all batches up to it are written."""
        self._asked(self._producer.beginTransaction)
        for topic, pairs in records.items():
            for chunk in _chunks(pairs):
                self._asked(self._records.send, self._producer, topic, chunk)
        mark = self._clients.consumer.OffsetAndMetadata(batch + 1)
        self._asked(
            self._producer.sendOffsetsToTransaction,
            self._jvm.java.util.Collections.singletonMap(self._place_of_mark(), mark),
            self._clients.consumer.ConsumerGroupMetadata(self._group),
        )
        self._asked(self._producer.commitTransaction)
        self.batches_written = batch + 1

    def close(self) -> None:
        """Let go of the connection; a transaction that is not committed never happened."""
        self._asked(self._producer.close)

    def _read_batches_written(self) -> int:
        bytes_ = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
        consumer = self._made(
            self._clients.consumer.KafkaConsumer,
            {
                "group.id": self._group,
                "isolation.level": "read_committed",
                "key.deserializer": bytes_,
                "value.deserializer": bytes_,
            },
        )
        try:
            place = self._place_of_mark()
            only = self._jvm.java.util.Collections.singleton(place)
            mark = self._asked(consumer.committed, only).get(place)
        finally:
            consumer.close()
        return 0 if mark is None else int(mark.offset())

    def _place_of_mark(self) -> Any:
        return self._jvm.org.apache.kafka.common.TopicPartition(self._topics[0], 0)

    def _compiled(self) -> Any:
        compiler = self._jvm.org.codehaus.janino.SimpleCompiler()
        loader = self._producer.getClass().getClassLoader()
        compiler.setParentClassLoader(loader)
        compiler.cook(_JAVA)
        return compiler.getClassLoader().loadClass("NearcastRecords").newInstance()

    def _made(self, client: Any, own: Mapping[str, str]) -> Any:
        properties = self._jvm.java.util.Properties()
        for name, value in {**self._settings, **own}.items():
            properties.put(name, value)
        return self._asked(client, properties)

    def _asked(self, call: Any, *arguments: Any) -> Any:
        try:
            return call(*arguments)
        except Py4JJavaError as error:
            raise KafkaError(f"Kafka at {self._servers}: {_why(error.java_exception)}") from None


def _why(exception: Any) -> str:
    cause = exception.getCause()
    said = str(exception.toString())
    return said if cause is None else f"{said}, because {cause.toString()}"


def _chunks(pairs: Iterable[KeyAndValue]) -> Iterable[bytes]:
    """Lengths, which are -1 for null, each before what it is the length of."""
    chunk = bytearray()
    for key, value in pairs:
        chunk += struct.pack(">i", -1 if key is None else len(key)) + (key or b"")
        chunk += struct.pack(">i", len(value)) + value
        if len(chunk) >= CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)
