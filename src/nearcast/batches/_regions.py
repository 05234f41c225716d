"""The regions of a user's table as a `RegionColumn`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa

from nearcast.batches._columns import (
    BOX,
    Columns,
    is_bytes,
    is_empty,
    is_text,
    nulls,
    number_column,
    one_of,
    wrong_type,
)
from nearcast.batches._places import are_places
from nearcast.batches.rejects import Rejects, why_refused
from nearcast.model.shapes import Box, Region, Space
from nearcast.space import RegionColumn, region_from_geojson, region_from_wkb

SLICE = 10_000
"""How many regions may be Python objects at a time."""


def read_regions(columns: Columns, rows: int, space: Space, rejects: Rejects) -> RegionColumn:
    """The regions of all rows; a rejected row is everywhere."""
    match one_of(columns, "subscription", BOX, ("region",)):
        case ():
            return _everywhere(space).take(np.zeros(rows, np.int64))
        case ("region",):
            return _decoded(columns["region"], space, rejects)
        case _:
            return _boxes(columns, space, rejects)


def _everywhere(space: Space) -> RegionColumn:
    return RegionColumn.of_regions([None], space)


def _boxes(columns: Columns, space: Space, rejects: Rejects) -> RegionColumn:
    is_null = np.column_stack([nulls(columns[name]) for name in BOX])
    boxes = np.column_stack([number_column(name, columns[name]) for name in BOX])
    given, everywhere = ~is_null.any(axis=1), is_null.all(axis=1)
    for row in np.flatnonzero(~given & ~everywhere).tolist():
        missing = ", ".join(name for name, null in zip(BOX, is_null[row], strict=True) if null)
        rejects.add(row, f"{missing} is null; give all of {', '.join(BOX)}, or none for everywhere")
    good = are_places(boxes, space)
    for row in np.flatnonzero(given & ~good).tolist():
        rejects.add(row, why_refused(partial(Box, *boxes[row].tolist(), space=space)))
    if good.all():
        return RegionColumn.of_boxes(boxes, space)
    column = RegionColumn.of_boxes(boxes[good], space)
    column.append(_everywhere(space))
    return column.take(np.where(good, np.cumsum(good) - 1, len(column) - 1))


def _decoded(column: pa.ChunkedArray, space: Space, rejects: Rejects) -> RegionColumn:
    read: Callable[..., Region]
    if is_text(column) or is_empty(column):
        read, kind = region_from_geojson, pa.large_string()
    elif is_bytes(column):
        read, kind = region_from_wkb, pa.large_binary()
    else:
        raise wrong_type("region", column, "a string of GeoJSON or binary WKB")
    # Many subscriptions may share a region, a city say: each distinct one is read once.
    encoded = column.cast(kind).combine_chunks().dictionary_encode()
    problems: dict[int, str] = {}

    def region(number: int) -> Region | None:
        try:
            return read(encoded.dictionary[number].as_py(), space=space)
        except ValueError as error:
            problems[number] = str(error)
            return None

    distinct = _everywhere(space)
    for first in range(0, len(encoded.dictionary), SLICE):
        numbers = range(first, min(first + SLICE, len(encoded.dictionary)))
        distinct.append(RegionColumn.of_regions(map(region, numbers), space))
    number_of_row = np.array(encoded.indices.fill_null(-1), np.int64)
    for row in np.flatnonzero(np.isin(number_of_row, list(problems))).tolist():
        rejects.add(row, problems[number_of_row[row]])
    return distinct.take(number_of_row + 1)
