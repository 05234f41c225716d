"""From a user's table to the columns of a `MessageBatch`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearcast.batches._columns import (
    BOX,
    Columns,
    columns_of,
    id_column,
    list_column,
    need,
    nulls,
    number_column,
    one_of,
    text_column,
)
from nearcast.batches._ids import check_ids
from nearcast.batches._places import checked_places
from nearcast.batches._ragged import start_of
from nearcast.batches._times import check_times
from nearcast.batches._tokens import TokenColumn, split, tokens_of
from nearcast.batches.rejects import Rejects
from nearcast.model.shapes import Space

POINT = ("lon", "lat")
COLUMNS = ("id", "text", "keywords", *POINT, *BOX, "time", "expires")


def read_messages(table: pa.Table | pa.RecordBatch, space: Space) -> dict[str, Any]:
    """The arguments of `MessageBatch`, or `BadRows` with every bad row of the table."""
    columns = columns_of(table, "message", COLUMNS)
    need(columns, "message", "id")
    rejects = Rejects("message")
    ids = id_column(columns["id"], rejects)
    words = _words(columns, rejects)
    place = one_of(columns, "message", POINT, BOX)
    if not place:
        raise ValueError(
            "a message needs the columns lon, lat or west, south, east, north; add them"
        )
    at = _numbers(columns, place, rejects)
    is_box = np.full(len(ids), place == BOX)
    if place == POINT:
        at = np.hstack([at, at])
    time = np.zeros(len(ids))
    if "time" in columns:
        time = _numbers(columns, ("time",), rejects)[:, 0]
    expires = _expires(columns, len(ids), rejects)
    if rejects:
        # What the batch itself would check, so that the error tells of every bad row at once.
        check_ids(ids, rejects)
        checked_places(at, is_box, space, rejects)
        check_times(time, expires, rejects)
        rejects.raise_if_any(ids)
    return {
        "ids": ids,
        "lexicon": words.lexicon,
        "word_start": words.start,
        "words": words.codes,
        "at": at,
        "is_box": is_box,
        "time": time,
        "expires": expires,
        "space": space,
    }


def _words(columns: Columns, rejects: Rejects) -> TokenColumn:
    group = one_of(columns, "message", ("text",), ("keywords",))
    if not group:
        raise ValueError("a message needs the column text or the column keywords; add one")
    [name] = group
    for row in np.flatnonzero(nulls(columns[name])).tolist():
        rejects.add(row, f"{name} is null; a message without words has an empty one")
    if name == "text":
        start, chunks = split(text_column("text", columns["text"]).fill_null(""))
    else:
        length, chunks = list_column("keywords", columns["keywords"])
        start = start_of(length)
        for row in rows_with_null(start, chunks):
            rejects.add(row, "a keyword is null; leave it out")
    tokens = tokens_of(chunks.fill_null(""))
    return TokenColumn(tokens.lexicon, tokens.start[start], tokens.codes)


def rows_with_null(start: npt.NDArray[np.int64], items: pa.Array) -> list[int]:
    """The rows of a ragged column that have a null among their items."""
    at = np.flatnonzero(np.array(items.is_null(), bool))
    return np.unique(np.searchsorted(start, at, side="right") - 1).tolist()


def _numbers(columns: Columns, names: tuple[str, ...], rejects: Rejects) -> npt.NDArray[np.float64]:
    for name in names:
        for row in np.flatnonzero(nulls(columns[name])).tolist():
            rejects.add(row, f"{name} is null; give a number")
    return np.column_stack([number_column(name, columns[name]) for name in names])


def _expires(columns: Columns, rows: int, rejects: Rejects) -> npt.NDArray[np.float64]:
    if "expires" not in columns:
        return np.full(rows, np.nan)
    expires = number_column("expires", columns["expires"])
    for row in np.flatnonzero(np.isnan(expires) & ~nulls(columns["expires"])).tolist():
        rejects.add(row, "expires is NaN; give a finite number, or null for a message that stays")
    return expires
