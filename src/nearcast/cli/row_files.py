"""Rows into files: CSV, JSON Lines or Parquet, by suffix, without holding all of them."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".csv", ".jsonl", ".parquet")
_ROWS_AT_A_TIME = 10_000

Row = dict[str, Any]


def row_file(text: str) -> Path:
    """A path with a known suffix; for argparse.

    >>> row_file("people.jsonl").suffix
    '.jsonl'
    """
    path = Path(text)
    if path.suffix not in SUFFIXES:
        raise argparse.ArgumentTypeError(
            f"{text!r} has none of the suffixes {', '.join(SUFFIXES)}; give one of them"
        )
    return path


def write_rows(rows: Iterable[Row], columns: Mapping[str, str], path: Path | None) -> None:
    """Write rows whose columns have these Arrow types; without a path, JSON Lines to stdout."""
    if path is None:
        sys.stdout.writelines(_lines(rows))
        sys.stdout.flush()
    elif path.suffix == ".jsonl":
        with path.open("w", encoding="utf-8") as file:
            file.writelines(_lines(rows))
    else:
        _write_batches(rows, columns, path)


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _write_batches(rows: Iterable[Row], columns: Mapping[str, str], path: Path) -> None:
    import pyarrow as pa

    schema = pa.schema([(name, kind) for name, kind in columns.items()])
    remaining = iter(rows)
    with _writer(path, schema) as writer:
        while chunk := list(islice(remaining, _ROWS_AT_A_TIME)):
            writer.write(pa.RecordBatch.from_pylist(chunk, schema))


def _writer(path: Path, schema: "pa.Schema") -> Any:
    if path.suffix == ".csv":
        from pyarrow.csv import CSVWriter

        return CSVWriter(path, schema)
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(path, schema)
