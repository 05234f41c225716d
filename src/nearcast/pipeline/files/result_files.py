"""One file from the Parquet parts that Spark has written: never half there, never all in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from nearcast.model import Box
from nearcast.space import region_to_geojson

_ROWS_TOGETHER = 65_536


def join_parts(parts: Path, file: Path) -> None:
    """Write the rows of the Parquet files in the folder `parts` to `file`, by its suffix.

    `file` is complete and on the disk when this returns. For GeoJSON the rows have a place: lon and
    lat, or west, south, east and north.
    """
    paths = sorted(parts.glob("*.parquet"))
    schema = pq.read_schema(paths[0]).remove_metadata()
    with file.open("wb") as out:
        _WRITERS[file.suffix](out, schema, _batches(paths))
        out.flush()
        os.fsync(out.fileno())


def _batches(paths: list[Path]) -> Iterator[pa.RecordBatch]:
    for path in paths:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(_ROWS_TOGETHER)


def _write_csv(out: Any, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    options = pa.csv.WriteOptions(quoting_style="needed", quoting_header="needed")
    with pa.csv.CSVWriter(out, schema, write_options=options) as writer:
        for batch in batches:
            writer.write(batch)


def _write_parquet(out: Any, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    with pq.ParquetWriter(out, schema) as writer:
        for batch in batches:
            writer.write(batch)


def _write_json_lines(out: Any, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    for batch in batches:
        lines = _json_objects(batch)
        out.write(b"".join(line + b"\n" for line in lines.cast(pa.large_binary()).to_pylist()))


def _write_geojson(out: Any, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    ids = ["subscription_id", "message_id"]
    out.write(b'{"type": "FeatureCollection", "features": [')
    separator = b"\n"
    for batch in batches:
        properties = _json_objects(batch.select(ids)).to_pylist()
        places = batch.drop_columns(ids).to_pylist()
        for text, place in zip(properties, places, strict=True):
            geometry = json.dumps(_geometry(place))
            feature = f'{{"type": "Feature", "geometry": {geometry}, "properties": {text}}}'
            out.write(separator + feature.encode())
            separator = b",\n"
    out.write(b"\n]}\n")


def _geometry(place: dict[str, float | None]) -> dict[str, Any]:
    if place.get("lon") is not None:
        return {"type": "Point", "coordinates": [place["lon"], place["lat"]]}
    return region_to_geojson(
        Box(*(place[name] for name in ("west", "south", "east", "north")))  # type: ignore[arg-type]
    )


def _json_objects(batch: pa.RecordBatch) -> pa.LargeStringArray:
    """Each row as a JSON object. Ids repeat, so a distinct value is written once a batch."""
    pieces: list[Any] = []
    for name in batch.schema.names:
        pieces += [f"{', ' if pieces else '{'}{json.dumps(name)}: ", _json_values(batch[name])]
    pieces.append("}")
    text = [
        piece.cast(pa.large_string())
        if isinstance(piece, pa.Array)
        else pa.scalar(piece, pa.large_string())
        for piece in pieces
    ]
    return pc.binary_join_element_wise(*text, pa.scalar("", pa.large_string()))


def _json_values(column: pa.Array) -> pa.Array:
    distinct = column.dictionary_encode()
    texts = [json.dumps(value, ensure_ascii=False) for value in distinct.dictionary.to_pylist()]
    return pa.array(texts, pa.large_string()).take(distinct.indices).fill_null("null")


_WRITERS: dict[str, Callable[[Any, pa.Schema, Iterator[pa.RecordBatch]], None]] = {
    ".csv": _write_csv,
    ".jsonl": _write_json_lines,
    ".geojson": _write_geojson,
    ".parquet": _write_parquet,
}
