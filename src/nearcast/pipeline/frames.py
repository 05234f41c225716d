"""DataFrames of subscriptions and messages: which columns count, and as which types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    DataType,
    DateType,
    IntegralType,
    NumericType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from nearcast.model import Space
from nearcast.pipeline.rows import (
    BOX,
    MESSAGE_COLUMNS,
    POINT,
    PROBLEM,
    SUBSCRIPTION_COLUMNS,
    read_messages,
    read_subscriptions,
)

ROWS_TOGETHER = 65_536
"""Rows are read in chunks of about so many: enough that no chunk's fixed cost counts."""


def subscription_columns(frame: DataFrame, space: Space) -> DataFrame:
    """The columns that `SubscriptionBatch.from_arrow` reads; an error when they do not fit."""
    chosen = frame.select(*fields(frame, "subscriptions", SUBSCRIPTION_COLUMNS))
    read_subscriptions(to_arrow_schema(chosen.schema).empty_table(), space)
    return chosen


def message_columns(frame: DataFrame, space: Space) -> DataFrame:
    """The columns that `MessageBatch.from_arrow` reads; an error when they do not fit."""
    chosen = frame.select(*fields(frame, "messages", MESSAGE_COLUMNS))
    read_messages(to_arrow_schema(chosen.schema).empty_table(), space)
    return chosen


def fields(frame: DataFrame, what: str, names: Sequence[str]) -> list[Column]:
    """Those of the named columns that the frame has, in the types that are read."""
    if "id" not in frame.columns:
        raise ValueError(
            f"the {what} have no column 'id', only {', '.join(frame.columns)}; rename the one that "
            "names a row to 'id'"
        )
    kind = frame.schema["id"].dataType
    if not isinstance(kind, IntegralType | StringType):
        raise TypeError(
            f"column 'id' of the {what} has type {kind.simpleString()}; it must be integer or "
            "string, cast it"
        )
    found = [name for name in (*names, PROBLEM) if name in frame.columns]
    return [_as_read(frame, name) for name in found]


def id_type(frame: DataFrame) -> DataType:
    """The type of the ids of selected columns, bigint or string."""
    return frame.schema["id"].dataType


def chunks(batches: Iterator[pa.RecordBatch], rows: int = ROWS_TOGETHER) -> Iterator[pa.Table]:
    """The batches of a task joined to tables of at least `rows` rows, the last one excepted."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield pa.Table.from_batches(waiting)
            waiting, count = [], 0
    if count:
        yield pa.Table.from_batches(waiting)


def _as_read(frame: DataFrame, name: str) -> Column:
    kind, column = frame.schema[name].dataType, sf.col(name)
    if name == "id" and isinstance(kind, IntegralType):
        return column.cast("bigint").alias(name)
    if name in (*POINT, *BOX, "time", "expires"):
        # A timestamp becomes seconds since 1970, one without zone is in that of the session.
        if isinstance(kind, TimestampNTZType | DateType):
            return column.cast("timestamp").cast("double").alias(name)
        if isinstance(kind, TimestampType | NumericType):
            return column.cast("double").alias(name)
    return column
