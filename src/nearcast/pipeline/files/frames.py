"""Files and folders of files as DataFrames that `nearcast.pipeline.match` takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from os import fspath
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from nearcast.pipeline.files.columns import schema_of
from nearcast.pipeline.files.formats import UnreadableFile, data_files
from nearcast.pipeline.files.records import Part
from nearcast.pipeline.files.tables import id_type_of, parts_of, read_part

_PARQUET = b"PAR1"


def read_subscriptions(
    spark: SparkSession, path: str | Path, format: str | None = None
) -> DataFrame:
    """Subscriptions in a file or a folder; see `SubscriptionBatch.from_arrow` for the columns.

    - Parquet is taken as it is.
    - CSV has a header; ids are strings; an empty cell is null.
    - JSON Lines: `keywords` is an expression or a list of words, `region` is GeoJSON, as an object
      or in a string.
    - GeoJSON: the geometry is the region (a Point with a property `radius` is a circle; null is
      the `bbox`, or everywhere), `keywords` is a property, `id` is that of the feature or a
      property.

    Other columns, keys and properties are ignored. A row that cannot be read has the reason in the
    column `_problem`, and `match` rejects it. The files are read by the tasks, not here; they have
    to be where all of Spark can read them. CSV and GeoJSON files are one task each.
    """
    return _read(spark, Path(path), format, "subscription")


def read_messages(spark: SparkSession, path: str | Path, format: str | None = None) -> DataFrame:
    """Messages in a file or a folder; see `MessageBatch.from_arrow` for the columns.

    As `read_subscriptions`, and:

    - CSV: an empty `text` is a message without words; `keywords` are words in one cell.
    - JSON Lines: `text`, or `keywords` as a list; without a `time` it is 0.
    - GeoJSON: a Point, a Polygon that is a box, or no geometry and a `bbox` is the place; the rest
      are properties.
    """
    return _read(spark, Path(path), format, "message")


def _read(spark: SparkSession, path: Path, format: str | None, side: str) -> DataFrame:
    files = data_files(path, format)
    if files[0].format == "parquet":
        for file in files:
            _check_parquet(file.path)
        # As a whole, because names of folders may hold columns: state=IL/part-0.parquet
        return spark.read.parquet(fspath(path))
    parts = parts_of(files, side)
    id_type = id_type_of(parts, side)
    numbers = spark.range(0, len(parts), 1, len(parts))
    return numbers.mapInArrow(
        partial(_read_parts, parts=parts, side=side, id_type=id_type),
        from_arrow_schema(schema_of(side, id_type)),
    )


def _check_parquet(path: Path) -> None:
    """Refuse what has not Parquet's mark at its end: another format, or a copy that broke off."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - len(_PARQUET)))
        if file.read() != _PARQUET:
            raise UnreadableFile(f"{path} is not Parquet, or not all of it; write it again")


def _read_parts(
    batches: Iterator[pa.RecordBatch], parts: Sequence[Part], side: str, id_type: pa.DataType
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch["id"].to_pylist():
            yield from read_part(parts[number], side, id_type)
