"""`TermFields`: a field for each term over each neighbourhood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nearcast.trending._columns import DocumentColumns
from nearcast.trending._nearby.index import FlatNearby
from nearcast.trending.term_fields._cells import (
    CELL,
    COLUMN,
    FIRST,
    FIRST_COLUMN,
    LAT,
    LON,
    NEARS,
    NEXT,
    OF,
    ROWS_END,
    ROWS_TOGETHER,
    Cells,
    K,
    no_cells,
)
from nearcast.trending.term_fields._check import check_arrays
from nearcast.trending.term_fields._process import (
    mark_rows,
    publish_all,
    read_list,
    read_lists,
    renumber_terms,
    subscribe_all,
    unsubscribe_one,
)
from nearcast.trending.term_fields._tree import Tree, no_tree
from nearcast.trending.terms_changes import NumberedLists


class TermFields(FlatNearby):
    """The quickest index for nearness: a document costs one addition for a hundred neighbours.

    What a term has is a smooth function of the place. People of one neighbourhood, a *cell*, share
    the function of each term that may be in their lists; a document that is far off, against the
    size of the cell, is added to six coefficients, one that is near to each person. A cell looks at
    its lists when a term may have grown past another one somewhere in it. A tree over the cells
    knows how much a term may grow before it comes near to any list below a node. Who wants as
    many terms at exactly the same place shares a list.

    What is promised, of scores that the definition gives: those of `top` are off by `max_error` at
    the most, and a term that is missing, or stands too low, would not be in its place by more than
    that. Two terms about equal change places when the lower has won by half of it, so that lists
    are quiet; which of them is first may depend on which was first before. What is told are exactly
    the changes of these lists. With a `max_error` below 0.001 there are no fields, and lists are
    the exact ones; each document then costs every person.

    >>> from nearcast.model import Message, NearbyTrendingSubscription, Point
    >>> index = TermFields(half_life=3600.0)
    >>> here = Point(2.35, 48.86)
    >>> index.subscribe(NearbyTrendingSubscription("me", here, k=2))
    []
    >>> _ = index.publish(Message(1, text="Rain and more rain", at=here, time=0.0))
    >>> index.publish(Message(2, text="Bus bus bus", at=here, time=60.0))[0].entered
    ('bus',)
    """

    _parts: ClassVar[dict[str, Any]] = {"cells": Cells, "tree": Tree}

    def _begin_parts(self) -> None:
        self._cells = no_cells()
        self._tree = no_tree()

    def _enter(
        self, slots: NDArray[np.int32], k: NDArray[np.int32], at: NDArray[np.float64]
    ) -> None:
        member, size = self._cells.member, int(slots.max()) + 1
        if size > len(member):
            more = np.full((size + size // 8 - len(member), 3), -1, np.int32)
            self._cells = self._cells._replace(member=np.concatenate([member, more]))
        self._state = subscribe_all(
            self._state, slots, k, at, self._vocabulary.spelling(), self._rules
        )

    def _leave(self, slot: int) -> None:
        unsubscribe_one(self._cells, slot)

    def _pass(
        self, columns: DocumentColumns, now: NDArray[np.float64], until: float
    ) -> NDArray[np.int32]:
        self._state, changed = publish_all(
            self._state,
            columns.moment,
            now,
            columns.middle,
            columns.term_start,
            columns.term,
            columns.times,
            until,
            self._is_one_step,
            self._vocabulary.spelling(),
            self._rules,
        )
        return changed

    def _read(self, slot: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        k = self._wanted(slot)[2]
        term, score = np.empty(k, np.int32), np.empty(k)
        listed = read_list(self._cells, slot, term, score)
        return term[:listed], score[:listed]

    def _read_all(self, touched: NDArray[np.int32]) -> tuple[NumberedLists, NDArray[np.float64]]:
        start, term, score = read_lists(self._cells, touched)
        return NumberedLists(term, start[:-1], np.diff(start)), score

    def _owners(self, touched: int) -> list[int]:
        owners, slot = [], int(self._cells.group[touched, FIRST])
        while slot >= 0:
            owners.append(slot)
            slot = int(self._cells.member[slot, NEXT])
        return owners

    def _wanted(self, slot: int) -> tuple[float, float, int]:
        group = self._cells.member[slot, OF]
        cell, column = self._cells.group[group, [CELL, COLUMN]].tolist()
        at = int(self._cells.head[cell, FIRST_COLUMN]) + column
        lon, lat = self._cells.at[at, [LON, LAT]].tolist()
        return lon, lat, int(self._cells.column[at, K])

    def _mark_listed(self, is_listed: NDArray[np.bool_]) -> None:
        mark_rows(self._cells, is_listed)

    def _renumber(self, new: NDArray[np.int32]) -> None:
        renumber_terms(self._cells, self._tree, new)

    def _check_parts(self) -> None:
        check_arrays(self._cells, self._tree, self._documents, self._rules)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Of rows and `near`, which have room for as much again, what is in use."""
        arrays, ends = super()._arrays(), self._cells.ends
        rows, nears = int(ends[ROWS_END]), int(ends[NEARS])
        used = {"term": rows, "field": rows, "piece": rows // ROWS_TOGETHER}
        for name, end in (used | {"near": nears, "limit": nears}).items():
            arrays[f"cells/{name}"] = arrays[f"cells/{name}"][:end]
        return arrays

    def _take_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._take_arrays(arrays)
        order = self._cells.order.astype(np.int32, copy=False)  # int16 in files of earlier ones
        self._cells = self._cells._replace(order=order)

    @property
    def _state(self) -> Any:
        return self._documents, self._cells, self._tree, self._touched

    @_state.setter
    def _state(self, state: Any) -> None:
        self._documents, self._cells, self._tree, self._touched = state
