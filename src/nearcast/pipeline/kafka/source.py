"""Topics as streaming DataFrames, through Spark's own connector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pyarrow as pa
from pyspark import __version__ as spark_version
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from nearcast.pipeline.kafka.values import event_rows, event_schema, message_rows, message_schema
from nearcast.pipeline.log.schema import Ids, log_schema

_Read = Callable[[pa.RecordBatch, pa.DataType], pa.RecordBatch]


class NoConnector(RuntimeError):
    """Spark was started without its Kafka connector."""

    def __init__(self) -> None:
        package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark_version}"
        super().__init__(
            "this Spark has no Kafka connector, which is not part of PySpark; start it with "
            f"spark-submit --packages {package}, or with "
            f'spark_session(settings={{"spark.jars.packages": "{package}"}}); '
            "a session that runs already has to be stopped first"
        )


def kafka_events(
    spark: SparkSession,
    servers: str,
    topic: str,
    *,
    ids: Ids = "string",
    rows_per_batch: int | None = None,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Subscription events of a topic, for `stream`.

    - The key of a record is the id of the subscription (UTF-8; with `ids="int64"` in digits), its
      value a JSON object or GeoJSON Feature, see `values`; it registers the subscription or
      replaces the one of that id. A null value ends it, if there is one. Kinds that have a result,
      see `result_values`, need `stream(results=ResultSettings())`.
    - Compact the topic (`cleanup.policy=compact`): it then holds all subscriptions however old,
      and a new checkpoint starts from them. `min.compaction.lag.ms` longer than the stream may
      stand still keeps each version until it was read.
    - One id has one order, that of its partition. A producer that chooses partitions itself has to
      send an id always to the same one.
    - A record that cannot be read is rejected; the reason tells its partition and offset.
    - `servers` are `host:port`, with commas between; `rows_per_batch` is the most that a batch
      reads; `options` are the connector's own, over ours: a new checkpoint starts at the oldest
      record, and transactions that were not committed are not read.
    """
    kafka = _records(spark, servers, topic, rows_per_batch, options)
    return _read(kafka, event_rows, event_schema(_id_type(ids)), ids)


def kafka_messages(
    spark: SparkSession,
    servers: str,
    topic: str,
    *,
    ids: Ids = "string",
    rows_per_batch: int | None = None,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Messages of a topic, for `stream`: values as JSON objects or GeoJSON Features, see `values`.

    The id is in the value, or else the key. All else is as for `kafka_events`.
    """
    kafka = _records(spark, servers, topic, rows_per_batch, options)
    return _read(kafka, message_rows, message_schema(_id_type(ids)), ids)


def _records(
    spark: SparkSession,
    servers: str,
    topic: str,
    rows_per_batch: int | None,
    options: Mapping[str, str] | None,
) -> DataFrame:
    ours = {
        "kafka.bootstrap.servers": servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "kafka.isolation.level": "read_committed",
    }
    if rows_per_batch is not None:
        ours["maxOffsetsPerTrigger"] = str(rows_per_batch)
    try:
        return spark.readStream.format("kafka").options(**{**ours, **(options or {})}).load()
    except AnalysisException as error:
        if error.getCondition() == "KAFKA_DATA_SOURCE_NOT_ENABLED":
            raise NoConnector from None
        raise


def _read(kafka: DataFrame, read: _Read, schema: pa.Schema, ids: Ids) -> DataFrame:
    records = kafka.select("key", "value", "topic", "partition", "offset")
    return records.mapInArrow(
        partial(_each, read=read, id_type=_id_type(ids)), from_arrow_schema(schema)
    )


def _each(
    batches: Iterator[pa.RecordBatch], read: _Read, id_type: pa.DataType
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield read(batch, id_type)


def _id_type(ids: Ids) -> pa.DataType:
    return log_schema(ids).field("id").type
