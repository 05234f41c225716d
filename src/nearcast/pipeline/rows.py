"""From Arrow batches as Spark hands them out to batches that an index takes, and rejected rows.

Like in a join each row stands for itself: a batch numbers its rows 0, 1, 2, … and the ids people
gave travel beside it as *labels*, which may repeat.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nearcast.batches import BadRows, MessageBatch, SubscriptionBatch
from nearcast.model import Space
from nearcast.pipeline.bad_text import readable

PROBLEM = "_problem"
"""A column with the reason why a row could not be read; null where it could."""

POSITION = "_position"
"""A column with the place of a row in the order of its stream; 0 where there is no order."""

POINT = ("lon", "lat")
BOX = ("west", "south", "east", "north")
SUBSCRIPTION_COLUMNS = ("id", "keywords", "region", *BOX)
MESSAGE_COLUMNS = ("id", "text", "keywords", *POINT, *BOX, "time", "expires")

REJECTS = pa.schema(
    [
        ("side", pa.string()),  # "subscription" or "message"
        ("id", pa.string()),
        ("reason", pa.string()),
        ("row", pa.string()),  # as it came, in JSON
    ]
)

_Batch = TypeVar("_Batch", SubscriptionBatch, MessageBatch)


@dataclass(frozen=True, slots=True)
class Rows(Generic[_Batch]):
    """Good rows: the ids people gave, the batch numbered from 0, each row's place in its stream."""

    labels: pa.Array
    batch: _Batch
    position: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, chosen: NDArray[np.int64]) -> Rows[_Batch]:
        """The rows with these numbers."""
        return Rows(
            self.labels.take(pa.array(chosen)), self.batch.take(chosen), self.position[chosen]
        )


def read_subscriptions(table: pa.Table, space: Space) -> tuple[Rows[SubscriptionBatch], pa.Table]:
    """The good rows of a table with the columns of `SubscriptionBatch.from_arrow`, and the others.

    A table may have both boxes and `region`; each row then uses one of them.

    >>> table = pa.table({"id": [7, 8], "keywords": ["tea", "tea OR"]})
    >>> rows, rejects = read_subscriptions(table, Space.EARTH)
    >>> rows.labels.to_pylist(), rejects["id"].to_pylist()
    ([7], ['8'])
    """
    return _read(
        table,
        "subscription",
        SUBSCRIPTION_COLUMNS,
        (("region",), BOX),
        lambda part: SubscriptionBatch.from_arrow(part, space=space),
        SubscriptionBatch.concat,
    )


def read_messages(table: pa.Table, space: Space) -> tuple[Rows[MessageBatch], pa.Table]:
    """The good rows of a table with the columns of `MessageBatch.from_arrow`, and the others.

    A table may have both points and boxes; each row then uses one of them.
    """
    return _read(
        table,
        "message",
        MESSAGE_COLUMNS,
        (POINT, BOX),
        lambda part: MessageBatch.from_arrow(part, space=space),
        MessageBatch.concat,
    )


def joined_subscriptions(parts: Sequence[Rows[SubscriptionBatch]]) -> Rows[SubscriptionBatch]:
    """The rows of all parts, numbered anew; at least one part is needed."""
    return _joined(parts, SubscriptionBatch.concat)


def joined_messages(parts: Sequence[Rows[MessageBatch]]) -> Rows[MessageBatch]:
    """The rows of all parts, numbered anew; at least one part is needed."""
    return _joined(parts, MessageBatch.concat)


def _joined(
    parts: Sequence[Rows[_Batch]], join: Callable[[Sequence[_Batch]], _Batch]
) -> Rows[_Batch]:
    if len(parts) == 1:
        return parts[0]
    first = np.cumsum([0] + [len(rows) for rows in parts])
    batches = [
        replace(rows.batch, ids=pa.array(np.arange(begin, begin + len(rows))))
        for rows, begin in zip(parts, first[:-1], strict=True)
    ]
    labels = pa.concat_arrays([rows.labels for rows in parts])
    return Rows(labels, join(batches), np.concatenate([rows.position for rows in parts]))


def _read(
    table: pa.Table,
    side: str,
    allowed: Sequence[str],
    places: tuple[Sequence[str], Sequence[str]],
    make: Callable[[pa.Table], _Batch],
    join: Callable[[Sequence[_Batch]], _Batch],
) -> tuple[Rows[_Batch], pa.Table]:
    table, reasons = readable(table)
    columns = table.select([name for name in table.column_names if name in allowed])
    columns = columns.set_column(
        columns.schema.get_field_index("id"), "id", pa.array(np.arange(len(table)))
    )
    for name, text in (("id", "id is null; every row needs an id"), (PROBLEM, None)):
        for row in _rows_to_refuse(table, name):
            reasons[row] = text or table[PROBLEM][row].as_py()

    parts: list[_Batch] = []
    numbers: list[NDArray[np.int64]] = []
    for rows, part in _by_place(columns, places, reasons):
        batch, good = _good_rows(part, rows, make, reasons)
        parts.append(batch)
        numbers.append(good)
    number = np.concatenate(numbers)
    batch = parts[0] if len(parts) == 1 else join(parts)
    if len(parts) > 1:
        order = np.argsort(number)
        batch, number = batch.take(order), number[order]

    chosen = pa.array(number)
    position = np.zeros(len(number), np.int64)
    if POSITION in table.column_names:
        position = np.array(table[POSITION].take(chosen), np.int64)
    rows_read = Rows(_labels(table["id"].take(chosen)), batch, position)
    return rows_read, _rejected(table, side, reasons)


def _rows_to_refuse(table: pa.Table, name: str) -> list[int]:
    if name not in table.column_names:
        return []
    nulls = np.array(table[name].is_null(), bool)
    refused: list[int] = np.flatnonzero(nulls if name == "id" else ~nulls).tolist()
    return refused


def _by_place(
    columns: pa.Table, places: tuple[Sequence[str], Sequence[str]], reasons: dict[int, str]
) -> list[tuple[NDArray[np.int64], pa.Table]]:
    """The rows not refused so far, apart where the table has two ways to tell a place."""
    usable = np.ones(len(columns), bool)
    first, second = ([name for name in place if name in columns.column_names] for place in places)
    use_second = np.zeros(len(columns), bool)
    if first and second:
        has_first, has_second = _any_given(columns, first), _any_given(columns, second)
        for row in np.flatnonzero(has_first & has_second).tolist():
            reasons.setdefault(
                row, f"{', '.join(first)} and {', '.join(second)} are both given; give one"
            )
        use_second = has_second
    usable[list(reasons)] = False
    if not (first and second):
        return [_chosen(columns, usable)]
    # Nearly always all rows tell their place in the same way. A table without rows asks whether
    # its columns fit, all of them.
    parts = []
    if not use_second.all() or not len(columns):
        parts.append(_chosen(columns.drop_columns(second), usable & ~use_second))
    if use_second.any() or not len(columns):
        parts.append(_chosen(columns.drop_columns(first), usable & use_second))
    return parts


def _any_given(columns: pa.Table, names: Sequence[str]) -> NDArray[np.bool_]:
    given = np.zeros(len(columns), bool)
    for name in names:
        given |= np.array(columns[name].is_valid(), bool)
    return given


def _chosen(columns: pa.Table, rows: NDArray[np.bool_]) -> tuple[NDArray[np.int64], pa.Table]:
    if rows.all():
        return np.arange(len(rows)), columns
    return np.flatnonzero(rows), columns.filter(pa.array(rows))


def _good_rows(
    part: pa.Table,
    numbers: NDArray[np.int64],
    make: Callable[[pa.Table], _Batch],
    reasons: dict[int, str],
) -> tuple[_Batch, NDArray[np.int64]]:
    """The batch of the rows that it does not refuse, their numbers; the reasons go to `reasons`."""
    try:
        return make(part), numbers
    except BadRows as bad:
        is_good = np.ones(len(part), bool)
        for row, reason in bad.rejects:
            is_good[row] = False
            reasons[int(numbers[row])] = reason
        return make(part.filter(pa.array(is_good))), numbers[is_good]


def _labels(ids: pa.ChunkedArray) -> pa.Array:
    kind = pa.int64() if pa.types.is_integer(ids.type) else pa.large_string()
    return ids.cast(kind).combine_chunks()


def _rejected(table: pa.Table, side: str, reasons: dict[int, str]) -> pa.Table:
    if not reasons:
        return REJECTS.empty_table()
    numbers = sorted(reasons)
    rows = table.take(pa.array(numbers))
    received = [name for name in rows.column_names if not name.startswith("_")]
    return pa.table(
        {
            "side": [side] * len(numbers),
            "id": pc.cast(rows["id"], pa.string()),
            "reason": [reasons[number] for number in numbers],
            "row": [as_json(row) for row in rows.select(received).to_pylist()],
        },
        schema=REJECTS,
    )


def as_json(row: dict[str, Any]) -> str:
    """A row as it came; JSON has neither bytes nor NaN nor infinity."""
    finite = {
        name: str(value) if isinstance(value, float) and not isfinite(value) else value
        for name, value in row.items()
    }
    return json.dumps(finite, ensure_ascii=False, default=lambda value: bytes(value).hex())
