"""What is told of results, as columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.model import Id, Notification
from nearcast.pipeline.safe_distance import SafeDistance
from nearcast.topk.list_change import ListChanges
from nearcast.trending.terms_changes import TermsChanges

SAFE = "safe"
"""The kind of what says how far a subscription may go unseen; `score` has the metres."""

_TEXTS = pa.list_(pa.string())
_ITEMS = pa.list_(pa.struct([("item", pa.string()), ("score", pa.float64())]))


def with_result_columns(matches: pa.Schema) -> pa.Schema:
    """The columns of notifications, of which those of matches are the first.

    | column | meaning |
    |---|---|
    | `kind` | `match`, `top`, `trend`, `enter`, `leave` or `safe` |
    | `score` | of `top`: what the message is worth, if in the list; of `safe`: metres |
    | `items` | of `top` and `trend`: the list, best first, ids of messages or terms |
    | `entered`, `left`, `moved` | the items that are new in it, gone, or at another place |
    | `cause` | the message whose arrival did it; null: something else |
    """
    message_ids = matches.field("message_id").type
    more = {
        "kind": pa.string(), "score": pa.float64(), "items": _ITEMS,
        "entered": _TEXTS, "left": _TEXTS, "moved": _TEXTS, "cause": message_ids,
    }  # fmt: skip
    return pa.schema([*matches, *(pa.field(name, kind) for name, kind in more.items())])


class ToldColumns:
    """Gathers what is told, in its order; `schema` is that of `with_result_columns`."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._tables: list[pa.Table] = []
        self._rows: list[dict[str, Any]] = []

    def tables(self) -> list[pa.Table]:
        """All of it."""
        self._gather_rows()
        return self._tables

    def add(self, position: int, cause: Id | None, told: Notification | SafeDistance) -> None:
        """One more, of the row at a position of the stream, which was the message `cause`."""
        row: dict[str, Any] = {
            "subscription_id": told.subscription_id, "position": position, "cause": cause
        }  # fmt: skip
        if isinstance(told, SafeDistance):
            row |= {"kind": SAFE, "score": told.metres}
        else:
            items = told.results if told.kind == "top" else told.terms
            row |= {
                "message_id": told.message_id, "time": told.time, "kind": told.kind,
                "score": told.score, "items": _items(items), "entered": _texts(told.entered),
                "left": _texts(told.left), "moved": _texts(told.moved),
            }  # fmt: skip
        self._rows.append(row)

    def add_lists(
        self,
        positions: int | NDArray[np.int64],
        causes: Id | pa.Array,
        times: float | NDArray[np.float64],
        lists: ListChanges,
    ) -> None:
        """Lists that have changed or begun; where and when and why, for all of them or for each."""
        if not len(lists):
            return
        count, names = len(lists), lists.message_ids.cast(pa.string())
        if not isinstance(causes, pa.Array):
            causes = pa.repeat(pa.scalar(causes, self._schema.field("cause").type), count)
        columns = {
            "subscription_id": lists.subscription_ids,
            "message_id": causes,
            "time": pa.array(np.broadcast_to(times, count)),
            "position": pa.array(np.broadcast_to(positions, count)),
            "kind": pa.repeat("top", count),
            "items": _scored(lists.start, names, lists.scores),
            "entered": _chosen(lists.start, names, lists.is_new),
            "left": _lists(lists.left_start, lists.left.cast(pa.string())),
            "cause": causes,
        }
        self._add_columns(columns, count)

    def add_terms(self, position: int, cause: Id, time: float, changes: TermsChanges) -> None:
        """Lists of terms that have changed: where, why and when, for all of them."""
        count = len(changes)
        if not count:
            return
        names = changes.terms.cast(pa.string())
        self._add_columns(
            {
                "subscription_id": changes.subscription_ids,
                "time": pa.repeat(time, count),
                "position": pa.repeat(position, count),
                "kind": pa.repeat("trend", count),
                "items": _scored(changes.start, names, changes.scores),
                "entered": _chosen(changes.start, names, changes.is_new),
                "left": _lists(changes.left_start, changes.left.cast(pa.string())),
                "moved": _chosen(changes.start, names, changes.is_moved),
                "cause": pa.repeat(pa.scalar(cause, self._schema.field("cause").type), count),
            },
            count,
        )

    def _add_columns(self, columns: dict[str, pa.Array], count: int) -> None:
        """So many rows more; what is not among the columns is null."""
        self._gather_rows()
        arrays = [
            columns[field.name].cast(field.type)
            if field.name in columns
            else pa.nulls(count, field.type)
            for field in self._schema
        ]
        self._tables.append(pa.Table.from_arrays(arrays, schema=self._schema))

    def _gather_rows(self) -> None:
        if self._rows:
            self._tables.append(pa.Table.from_pylist(self._rows, self._schema))
            self._rows = []


class NothingTold(ToldColumns):
    """For rows that are played again: what they did was told then."""

    def add(self, *told: Any, **more: Any) -> None:
        """Not again."""

    def add_lists(self, *told: Any, **more: Any) -> None:
        """Not again."""

    def add_terms(self, *told: Any, **more: Any) -> None:
        """Not again."""


def _items(items: tuple[tuple[Id, float], ...] | None) -> list[dict[str, Any]] | None:
    if items is None:
        return None
    return [{"item": str(item), "score": score} for item, score in items]


def _texts(items: tuple[Id, ...] | None) -> list[str] | None:
    return None if items is None else [str(item) for item in items]


def _scored(start: Any, names: pa.Array, scores: NDArray[np.float64]) -> pa.Array:
    """Lists of names with scores."""
    fields = list(_ITEMS.value_type)
    return _lists(start, pa.StructArray.from_arrays([names, pa.array(scores)], fields=fields))


def _chosen(start: Any, names: pa.Array, chosen: NDArray[np.bool_]) -> pa.Array:
    """Of each list the names that are chosen."""
    before = np.concatenate([[0], np.cumsum(chosen)])
    return _lists(before[start], names.filter(pa.array(chosen)))


def _lists(start: Any, values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(start.astype(np.int32)), values)
