"""Parquet files that appear whole or not at all, and are on the disk when they do."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nearcast.storage import sync_folder

_FACTS = b"nearcast.facts"


def write_parquet(path: Path, tables: Sequence[pa.Table], facts: dict[str, Any]) -> None:
    """Write the rows of all tables, and facts beside them."""
    schema = (tables[0].schema if tables else pa.schema([])).with_metadata(
        {_FACTS: json.dumps(facts)}
    )
    # Subscriptions differ from row to row; all else repeats from one message to the next.
    encoded = [name for name in schema.names if name != "subscription_id"]
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with open(temporary, "xb") as file:
            with pq.ParquetWriter(
                file, schema, compression="none", use_dictionary=encoded, write_statistics=False
            ) as writer:
                for table in tables:
                    writer.write_table(table.replace_schema_metadata(schema.metadata))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def read_facts(path: Path) -> dict[str, Any] | None:
    """The facts of a file; None when it is not there, or damaged."""
    try:
        metadata = pq.read_schema(path).metadata
        facts: dict[str, Any] = json.loads(metadata[_FACTS])
    except (OSError, KeyError, TypeError, ValueError):  # Arrow's error is a ValueError
        return None
    return facts
